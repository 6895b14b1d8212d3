//! `Passing`: what keeps somebody waiting, in the log and for whoever asks.
//!
//! Those who wait are told nothing of errors that pass: they see a wait. So each is logged, in one
//! line with its causes and what to do, and the last one is kept.

use std::time::Duration;

use kubist_apimachinery::{Str, with_causes};
use kubist_cache::{FetchError, InvalidItem};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::ApiError;

/// From one line of a kind to the next, for one wait; the informers' number.
const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// Problems of one wait.
#[derive(Debug)]
pub(crate) struct Passing {
    /// What goes on, for the log.
    what: Str,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failed: Lines,
    unread: Lines,
}

/// The lines of one kind.
#[derive(Debug, Default)]
struct Lines {
    /// The last problem, until it is over.
    last: Option<Str>,
    logged: Option<Instant>,
    left_out: u64,
}

impl Lines {
    /// How many were left out before this one; none if this one is left out too.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        let early = |at: Instant| now.saturating_duration_since(at) < LOGGED_EVERY;
        if self.logged.is_some_and(early) {
            self.left_out += 1;
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.left_out))
    }
}

impl Passing {
    pub(crate) fn new(what: impl Into<Str>) -> Self {
        Self {
            what: what.into(),
            state: Mutex::default(),
        }
    }

    /// What kept it waiting last; none if that is over.
    pub(crate) fn last(&self) -> Option<Str> {
        let state = self.state.lock();
        state
            .failed
            .last
            .clone()
            .or_else(|| state.unread.last.clone())
    }

    /// The server answers as it should.
    pub(crate) fn answered(&self) {
        self.state.lock().failed.last = None;
    }

    /// The object could be read, or is gone.
    pub(crate) fn read(&self) {
        self.state.lock().unread.last = None;
    }

    /// A request failed, or its answer ended in an error, and it will be repeated.
    pub(crate) fn failed(&self, error: &ApiError) {
        let advice = FetchError::from(error.clone()).advice();
        let problem = format!("{}{advice}", with_causes(error));
        self.tell(problem, |state| &mut state.failed);
    }

    /// An object cannot be read, and its next state is waited for.
    pub(crate) fn unread(&self, item: &InvalidItem) {
        let name = item.name.as_ref();
        let name = name.map_or_else(|| "an object".to_owned(), ToString::to_string);
        let cause = with_causes(&item.error);
        let problem = format!(
            "{name} cannot be read and counts as unchanged: {cause} (correct it, or wait with a \
             type that allows this)"
        );
        self.tell(problem, |state| &mut state.unread);
    }

    fn tell(&self, problem: String, lines: fn(&mut State) -> &mut Lines) {
        let mut state = self.state.lock();
        let lines = lines(&mut state);
        let admitted = lines.admit(Instant::now());
        lines.last = Some(problem.as_str().into());
        drop(state);
        let what = &self.what;
        match admitted {
            None => {}
            Some(0) => tracing::warn!("{what} goes on: {problem}"),
            Some(left_out) => tracing::warn!(left_out, "{what} goes on: {problem}"),
        }
    }
}
