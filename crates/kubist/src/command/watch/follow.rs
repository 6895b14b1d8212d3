//! Writes the events of an informer line by line, until the watch ends.

use super::super::signal;
use super::following::Following;
use super::problems::Problems;
use super::{Target, View};
use futures_util::FutureExt as _;
use kubist_apimachinery::Object;
use kubist_cache::ListerWatcher;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// Events between checks for signals.
pub(super) const TURN_MAX: usize = 1024;

/// How often the end of the first list is checked for, if nothing happens.
const CHECK: Duration = Duration::from_millis(200);

/// What ends a watch, besides signals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// All existing objects were displayed.
    pub(super) synced: bool,
    /// The time limit.
    pub(super) passed: Option<Duration>,
}

/// Displays the events of `source`, and a summary on standard error.
pub(super) async fn follow<K: Object>(
    target: &Target,
    source: Arc<dyn ListerWatcher<K>>,
    mut view: impl View<K>,
    until: Until,
) -> io::Result<ExitCode> {
    let mut signals = signal::listen()?;
    let mut following = Following::start(target, source, Arc::new(Problems::on_stderr()));
    let shown = tokio::select! {
        biased;
        signal = signals.next() => Ok(signal.exit_code()),
        () = passed(until.passed) => Ok(ExitCode::SUCCESS),
        shown = show(&mut following, &mut view, until) => shown.map(|()| ExitCode::SUCCESS),
    };
    let shown = shown.and_then(|code| view.idle().map(|()| code));
    following.finish().await;
    shown
}

async fn show<K: Object>(
    following: &mut Following<K>,
    view: &mut impl View<K>,
    until: Until,
) -> io::Result<()> {
    // Nothing may come after the last object of the first list.
    let mut checks = interval(CHECK);
    checks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        if following.has_synced() && until.synced {
            return Ok(());
        }
        let mut next = tokio::select! {
            biased;
            _ = checks.tick() => continue,
            change = following.next() => change,
        };
        if next.is_none() {
            return Ok(());
        }
        let mut shown = 0;
        while let Some(change) = next.take() {
            view.show(&change)?;
            following.shown(&change);
            shown += 1;
            if shown < TURN_MAX {
                next = following.next().now_or_never().flatten();
            }
        }
        view.idle()?;
        // Signals are handled even during a flood of events.
        tokio::task::yield_now().await;
    }
}

/// Waits for the time limit.
pub(super) async fn passed(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
