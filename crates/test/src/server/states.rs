//! Time and states: how a server goes on, and where others begin.

use super::TestServer;
use crate::clock::{FOREVER, after};
use crate::error::TestError;
use crate::past::Past;
use crate::snapshot::Snapshot;
use kubist::storage::{ReadError, Revision};
use std::sync::Arc;
use std::time::Duration;

impl TestServer {
    /// Lets virtual time pass: all timers in between fire in their order, and everything that they
    /// cause is done before the next one.
    ///
    /// # Errors
    /// Time is not virtual, or more than thirty years; or a loop keeps it from passing.
    pub async fn advance(&self, time: Duration) -> Result<(), TestError> {
        if !self.clock.is_virtual() {
            return Err(TestError::RealTime);
        }
        if time > FOREVER {
            return Err(TestError::TooLong { time });
        }
        tokio::select! {
            biased;
            reason = self.observer.pulse.stuck() => Err(TestError::Stuck(reason)),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// Waits until nothing has been written for `quiet`, for at most `within`, and returns the
    /// revision then.
    ///
    /// # Errors
    /// Something was still written, or a loop keeps time from passing; or `quiet` is zero.
    pub async fn settled(&self, quiet: Duration, within: Duration) -> Result<u64, TestError> {
        if quiet.is_zero() {
            return Err(TestError::NoTime);
        }
        let until = after(within);
        loop {
            let before = self.store.current_revision();
            tokio::select! {
                biased;
                reason = self.observer.pulse.stuck() => return Err(TestError::Stuck(reason)),
                () = tokio::time::sleep(quiet) => {}
            }
            if self.store.current_revision() == before {
                return Ok(before.0);
            }
            if tokio::time::Instant::now() >= until {
                let last = self.journal.writes().pop();
                let last = last.map_or_else(|| "the server itself".to_owned(), |it| it.to_string());
                return Err(TestError::Restless { within, last });
            }
        }
    }

    /// Returns the state now, from which any number of servers can begin, in this test and in
    /// others. Everything that is stored is shared.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.store, self.clock.date(), self.options.inherited())
    }

    /// Starts an independent server with the same objects and resource versions, which go on from
    /// here, at the same date. Its options are those of this server, but it does not listen. What
    /// [runs](Self::run) beside this server does not run beside the fork, except its controllers.
    ///
    /// # Errors
    /// The server cannot start.
    pub async fn fork(&self) -> Result<Self, TestError> {
        self.snapshot().start().await
    }

    /// Returns the state at an earlier revision, to read or to fork it.
    ///
    /// # Errors
    /// The revision is compacted, in the future, or 0, which no state has; the error says which
    /// there are.
    pub fn at(&self, revision: u64) -> Result<Past, TestError> {
        let (oldest, newest) = (self.observer.oldest_revision(), self.revision());
        if revision == 0 {
            return Err(TestError::NoRevision {
                revision,
                oldest,
                newest,
            });
        }
        let date = self.clock.date();
        let of = Snapshot::at(
            &self.store,
            Revision(revision),
            date,
            self.options.inherited(),
        );
        let snapshot = of.map_err(|error| match error {
            ReadError::FutureRevision { current, .. } => TestError::Future {
                revision,
                newest: current.0,
            },
            _ => TestError::Compacted { revision, oldest },
        })?;
        Ok(Past::new(Arc::clone(&self.observer), snapshot, revision))
    }

    /// Returns the revision now: the resource version of the last write.
    pub fn revision(&self) -> u64 {
        self.store.current_revision().0
    }
}
