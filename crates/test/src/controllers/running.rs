//! `Running`: something that runs beside the server, with a token that asks it to end.

use super::RunError;
use futures_util::FutureExt as _;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long something may take to end after its token was cancelled: virtual time, if time is.
const STOP_MAX: Duration = Duration::from_secs(30);
/// The failures that are kept for reports.
const FAILURES_MAX: usize = 32;

/// Everything that runs beside a server. It ends with the last handle.
#[derive(Debug, Default)]
pub(crate) struct RunningSet {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    tasks: BTreeMap<u64, Entry>,
    failures: Vec<(String, RunError)>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    token: CancellationToken,
    tasks: JoinSet<Result<(), RunError>>,
}

/// Something that runs beside the server until it is [stopped](Self::stop), and at the latest as
/// long as the server. Dropping this handle stops nothing, so it can be ignored.
pub struct Running {
    id: u64,
    name: String,
    set: Arc<RunningSet>,
}

impl RunningSet {
    /// Runs a future as a task. Its failure is kept, for reports.
    pub(crate) fn spawn<F>(
        self: &Arc<Self>,
        name: &str,
        token: CancellationToken,
        run: F,
    ) -> Running
    where
        F: Future<Output = Result<(), RunError>> + Send + 'static,
    {
        let (weak, task) = (Arc::downgrade(self), name.to_owned());
        let run = async move {
            let ended = AssertUnwindSafe(run).catch_unwind().await;
            let ended = ended.unwrap_or_else(|panic| Err(RunError::text(words(&*panic))));
            if let (Some(set), Err(error)) = (weak.upgrade(), &ended) {
                set.failed(&task, error);
            }
            ended
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(run);
        let mut state = self.state.lock();
        state.next += 1;
        let id = state.next;
        let entry = Entry {
            name: name.to_owned(),
            token,
            tasks,
        };
        state.tasks.insert(id, entry);
        Running {
            id,
            name: name.to_owned(),
            set: Arc::clone(self),
        }
    }

    fn failed(&self, name: &str, error: &RunError) {
        let mut state = self.state.lock();
        if state.failures.len() < FAILURES_MAX {
            state.failures.push((name.to_owned(), error.clone()));
        }
    }

    /// Returns what has failed so far, with its name.
    pub(crate) fn failures(&self) -> Vec<(String, RunError)> {
        self.state.lock().failures.clone()
    }

    /// Drops everything at once.
    pub(crate) fn drop_all(&self) {
        let entries = std::mem::take(&mut self.state.lock().tasks);
        // Outside the lock: what is dropped may look at the set.
        drop(entries);
    }

    /// Asks everything to end, and waits for it; what does not end in time is dropped.
    pub(crate) async fn stop_all(&self) {
        let entries = std::mem::take(&mut self.state.lock().tasks);
        for entry in entries.values() {
            entry.token.cancel();
        }
        for (_, entry) in entries {
            // What it failed with has been kept.
            drop(entry.ended().await);
        }
    }
}

impl Entry {
    async fn ended(mut self) -> Result<(), RunError> {
        self.token.cancel();
        let Ok(joined) = tokio::time::timeout(STOP_MAX, self.tasks.join_next()).await else {
            let (name, seconds) = (&self.name, STOP_MAX.as_secs());
            return Err(RunError::text(format!(
                "{name} did not end within {seconds} s after its token was cancelled, and was \
                 dropped: let every loop of it watch the token"
            )));
        };
        match joined {
            Some(Ok(ended)) => ended,
            Some(Err(error)) => Err(RunError::new(error)),
            None => Ok(()),
        }
    }
}

impl Running {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the token that asks it to end.
    pub fn token(&self) -> Option<CancellationToken> {
        let state = self.set.state.lock();
        state.tasks.get(&self.id).map(|it| it.token.clone())
    }

    /// Cancels its token and waits until it has ended, for at most half a minute.
    ///
    /// # Errors
    /// It has failed or panicked, or has not ended in time and was dropped.
    pub async fn stop(self) -> Result<(), RunError> {
        let entry = self.set.state.lock().tasks.remove(&self.id);
        match entry {
            Some(entry) => entry.ended().await,
            // The server was stopped meanwhile.
            None => Ok(()),
        }
    }

    /// Drops it at once, as a crash of its process would: its future is not polled again.
    pub async fn crash(self) {
        let entry = self.set.state.lock().tasks.remove(&self.id);
        if let Some(mut entry) = entry {
            entry.tasks.shutdown().await;
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Running").field(&self.name).finish()
    }
}

/// Returns the message of a panic.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", text.unwrap_or("without a message"))
}
