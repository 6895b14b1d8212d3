//! Log messages about a store that refuses writes, or those that need more space.
//!
//! The store is polled, so that thousands of refused requests are one message, and another one once
//! writes are accepted again.

use kubist_storage::{Fault, KvMaintenance, WriteError};
use std::time::Duration;
use tokio::time::Instant;

/// The polling interval.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum interval between messages about a full store, because a store at its limit alternates.
const FULL_LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Logs, for ever, why writes are refused, and when they are accepted again.
pub(crate) async fn log_refusals(kv: &dyn KvMaintenance) {
    let mut looks = tokio::time::interval(POLL_INTERVAL);
    let mut state = LogState::default();
    loop {
        looks.tick().await;
        state.look(Instant::now(), kv.writable(), kv.no_space_error(), &mut log);
    }
}

/// A log message.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Warn(String),
    Info(&'static str),
}

fn log(line: Line) {
    match line {
        Line::Warn(line) => tracing::warn!("{line}"),
        Line::Info(line) => tracing::info!("{line}"),
    }
}

/// What was logged.
#[derive(Debug, Default)]
struct LogState {
    refused: bool,
    full: bool,
    /// When a full store was last reported.
    full_at: Option<Instant>,
}

impl LogState {
    fn look(
        &mut self,
        now: Instant,
        writable: Result<(), Fault>,
        missed: Option<WriteError>,
        log: &mut impl FnMut(Line),
    ) {
        match writable {
            Err(fault) if !self.refused => {
                let cause = cause(&fault);
                log(Line::Warn(format!(
                    "writes are refused, reads continue: {fault}{cause}"
                )));
                self.refused = true;
            }
            Ok(()) if self.refused => {
                log(Line::Warn("writes are accepted again".to_owned()));
                self.refused = false;
            }
            _ => {}
        }
        match missed {
            Some(error) if !self.full && self.may_tell(now) => {
                let cause = cause(&error);
                log(Line::Warn(format!(
                    "writes that need more space are refused: {error}{cause}; deletions make room"
                )));
                (self.full, self.full_at) = (true, Some(now));
            }
            None if self.full => {
                log(Line::Info("the store has space again, writes are accepted"));
                self.full = false;
            }
            _ => {}
        }
    }

    fn may_tell(&self, now: Instant) -> bool {
        let state = self.full_at;
        state.is_none_or(|at| now.saturating_duration_since(at) >= FULL_LOG_INTERVAL)
    }
}

fn cause(error: &dyn std::error::Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}"));
    cause.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_storage::KvWrite;
    use kubist_storage::memory::{Config, MemoryKv, TokioClock};
    use kubist_storage::{DeleteRequest, Expected, PutRequest};
    use std::sync::Arc;

    async fn put(kv: &MemoryKv, key: &str, bytes: usize) -> bool {
        let request = PutRequest::new(key.to_owned(), vec![0; bytes], Expected::Any);
        kv.put(request).await.is_ok()
    }

    async fn delete(kv: &MemoryKv, key: &str) {
        let request = DeleteRequest::new(key.to_owned(), Expected::Any);
        kv.delete(request).await.expect("it is there");
    }

    /// The current condition of the store.
    fn look(state: &mut LogState, kv: &MemoryKv) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut log = |line| lines.push(line);
        state.look(Instant::now(), kv.writable(), kv.no_space_error(), &mut log);
        lines
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_store_is_logged_once_and_again_when_it_has_space() {
        let config = Config {
            data_bytes_max: Some(10_000),
            ..Config::default()
        };
        let kv = MemoryKv::new(config, Arc::new(TokioClock::start()));
        let mut state = LogState::default();
        assert!(put(&kv, "a", 5_000).await && put(&kv, "b", 4_000).await);
        assert_eq!(look(&mut state, &kv), [], "nothing was refused");
        for key in ["c", "d", "e"] {
            assert!(!put(&kv, key, 3_000).await);
        }
        let lines = look(&mut state, &kv);
        let [Line::Warn(line)] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert!(
            line.starts_with(
                "writes that need more space are refused: the store is full: it holds 9"
            ) && line.ends_with("bytes, at most 10000; deletions make room"),
            "{line}"
        );
        // A write that fits anyway changes nothing.
        assert!(put(&kv, "b", 3_999).await);
        assert_eq!(look(&mut state, &kv), [], "it was logged");
        delete(&kv, "b").await;
        let room = [Line::Info("the store has space again, writes are accepted")];
        assert_eq!(look(&mut state, &kv), room);
        assert_eq!(look(&mut state, &kv), []);

        // A store at its limit alternates; that is reported now and then.
        assert!(put(&kv, "b", 4_000).await && !put(&kv, "c", 3_000).await);
        assert_eq!(look(&mut state, &kv), [], "too soon");
        tokio::time::advance(FULL_LOG_INTERVAL).await;
        assert!(matches!(look(&mut state, &kv)[..], [Line::Warn(_)]));
        delete(&kv, "a").await;
        assert_eq!(look(&mut state, &kv), room);
    }
}
