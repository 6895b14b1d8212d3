//! `Players`: pairs that run sequences concurrently.

use crate::generator::Generator;
use crate::pair::{Finding, Pair};
use crate::server::ServerError;
use crate::step::Sequence;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A finished sequence and its differences.
pub(crate) struct Played {
    pub(crate) sequence: Sequence,
    pub(crate) findings: Vec<Finding>,
}

/// Running pairs. They stop on drop.
pub(crate) struct Players {
    played: mpsc::Receiver<Result<Played, ServerError>>,
    _tasks: JoinSet<()>,
}

impl Players {
    /// Starts the pairs; each takes the next seed.
    pub(crate) fn start(pairs: Vec<Pair>, generator: &Arc<Generator>, seeds: Range<u64>) -> Self {
        let (sender, played) = mpsc::channel(pairs.len().max(1));
        let next = Arc::new(AtomicU64::new(seeds.start));
        let mut tasks = JoinSet::new();
        for mut pair in pairs {
            let (sender, next) = (sender.clone(), Arc::clone(&next));
            let generator = Arc::clone(generator);
            let end = seeds.end;
            tasks.spawn(async move {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let sequence = generator.sequence(seed);
                    let findings = pair.play(&sequence).await;
                    let played = findings.map(|findings| Played { sequence, findings });
                    if sender.send(played).await.is_err() {
                        return;
                    }
                }
            });
        }
        Self {
            played,
            _tasks: tasks,
        }
    }

    /// Returns the next finished sequence, or none after the last. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<Result<Played, ServerError>> {
        self.played.recv().await
    }
}
