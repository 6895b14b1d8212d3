//! Runs an informer, and displays its events until the watch ends.

use super::super::{memory, signal};
use super::arrivals::Arrivals;
use super::problems::Problems;
use super::summary::Summary;
use super::{REDRAW, Target, View};
use futures_util::FutureExt as _;
use kubist_cache::{IngestAny, Source as _};
use kubist_informers::{
    Delivery, HandlerConfig, HandlerState, InformerConfig, Overflow, Problem, SharedInformer,
    Subscription,
};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Limit of events that wait for output in order; beyond it, events of the same object are merged.
const WAITING_MAX: usize = 65_536;
/// Events between checks for signals.
const TURN_MAX: usize = 1024;

/// What ends a watch, besides signals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// All existing objects were displayed.
    pub(super) synced: bool,
    /// The time limit.
    pub(super) passed: Option<Duration>,
}

/// Displays events in `target`, and a summary on standard error.
pub(super) async fn follow<K: IngestAny>(
    target: &Target,
    mut view: impl View<K>,
    problems: Arc<Problems>,
    until: Until,
) -> io::Result<ExitCode> {
    let mut signals = signal::listen()?;
    let mut summary = Summary::start(&target.resource, &target.client, memory::resident());
    let arrivals = Arrivals::default();
    let informer = informer::<K>(target, &arrivals, problems);
    let changes = informer.subscribe(HandlerConfig {
        delivery: Delivery::Bounded {
            pending_max: WAITING_MAX,
            on_overflow: Overflow::Snapshot,
        },
        ..HandlerConfig::default()
    });
    // In a separate task, because slow output must not block the watch.
    let mut running = JoinSet::new();
    let (runs, token) = (informer.clone(), CancellationToken::new());
    let stop = token.clone().drop_guard();
    running.spawn(async move { runs.run(token).await });
    let shown = tokio::select! {
        biased;
        signal = signals.next() => Ok(signal.exit_code()),
        () = passed(until.passed) => Ok(ExitCode::SUCCESS),
        shown = show(changes, &mut view, &mut summary, &arrivals, until) => {
            shown.map(|()| ExitCode::SUCCESS)
        }
    };
    let shown = shown.and_then(|code| view.end().map(|()| code));
    summary.finish(&informer);
    drop(stop);
    while running.join_next().await.is_some() {}
    shown
}

fn informer<K: IngestAny>(
    target: &Target,
    arrivals: &Arrivals,
    problems: Arc<Problems>,
) -> SharedInformer<K> {
    let Target {
        client,
        resource,
        selection,
    } = target;
    let source = client.dynamic_lister_watcher::<K>(resource, selection);
    let config = InformerConfig {
        name: resource.plural.clone(),
        on_problem: Some(Arc::new(move |problem: &Problem| problems.report(problem))),
        ..InformerConfig::default()
    };
    SharedInformer::new(arrivals.stamp(source), config)
}

async fn show<K: IngestAny>(
    mut changes: Subscription<K>,
    view: &mut impl View<K>,
    summary: &mut Summary,
    arrivals: &Arrivals,
    until: Until,
) -> io::Result<()> {
    let registration = changes.registration();
    let mut ticks = interval(REDRAW);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        if registration.state() == HandlerState::Synced {
            summary.synced();
            if until.synced {
                return Ok(());
            }
        }
        let mut next = tokio::select! {
            biased;
            _ = ticks.tick() => {
                view.tick()?;
                continue;
            }
            change = changes.next() => change,
        };
        if next.is_none() {
            return Ok(());
        }
        let mut shown = 0;
        while let Some(change) = next.take() {
            view.show(&change)?;
            summary.count(&change, arrivals.age(&change));
            shown += 1;
            if shown < TURN_MAX {
                next = changes.next().now_or_never().flatten();
            }
        }
        view.idle()?;
        // Signals are handled even during a flood of events.
        tokio::task::yield_now().await;
    }
}

async fn passed(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
