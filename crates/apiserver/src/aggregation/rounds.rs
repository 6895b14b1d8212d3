//! Rounds over all other servers: each has its own turn, and none waits for another.

use crate::aggregation::Aggregation;
use crate::aggregation::remote::Remote;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The most servers that have their turn at the same time.
const AT_ONCE_MAX: usize = 32;
/// The longest pause of the loop.
const PAUSE: Duration = Duration::from_secs(60);

/// When a server has its next turn; `None` while it has it.
struct Turn {
    of: Arc<Remote>,
    due: Option<Instant>,
}

impl Aggregation {
    /// Runs `work` for each server: at once when it is new or `is_same` says that it has changed,
    /// and again after the pause that `work` returned. Never returns.
    pub(super) async fn rounds<W: Future<Output = Duration>>(
        &self,
        changed: &Notify,
        is_same: fn(&Remote, &Remote) -> bool,
        work: impl Fn(Arc<Remote>) -> W,
    ) {
        let mut turns: BTreeMap<String, Turn> = BTreeMap::new();
        let mut running = FuturesUnordered::new();
        loop {
            let table = self.table().unwrap_or_default();
            turns.retain(|name, _| table.has(name));
            let now = Instant::now();
            let mut soonest = now + PAUSE;
            for remote in table.all() {
                let turn = turns.entry(remote.name.clone()).or_insert_with(|| Turn {
                    of: Arc::clone(remote),
                    due: Some(now),
                });
                if !is_same(&turn.of, remote) {
                    turn.due = turn.due.map(|_| now);
                }
                turn.of = Arc::clone(remote);
                match turn.due {
                    Some(due) if due > now => soonest = soonest.min(due),
                    Some(_) if running.len() < AT_ONCE_MAX => {
                        turn.due = None;
                        let (begun, work) = (Arc::clone(remote), work(Arc::clone(remote)));
                        running.push(async move { (begun, work.await) });
                    }
                    _ => {}
                }
            }
            tokio::select! {
                biased;
                Some((begun, pause)) = running.next(), if !running.is_empty() => {
                    if let Some(turn) = turns.get_mut(&begun.name) {
                        // It may have changed meanwhile.
                        let is_over = is_same(&begun, &turn.of);
                        let pause = if is_over { pause } else { Duration::ZERO };
                        turn.due = Some(Instant::now() + pause);
                    }
                }
                () = changed.notified() => {}
                () = sleep_until(soonest), if !table.is_empty() => {}
            }
        }
    }
}
