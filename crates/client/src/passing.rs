//! `Passing`: transient problems of a wait, logged and available to the caller.
//!
//! Transient errors do not end a wait, so each is logged in one line with its causes and advice,
//! and the most recent one is kept.

use crate::error::ApiError;
use kubist_apimachinery::{Str, with_causes};
use kubist_cache::{FetchError, InvalidItem};
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// The shortest time between two log lines of one kind for one wait; the same as for informers.
const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// The problems of one wait.
#[derive(Debug)]
pub(crate) struct Passing {
    /// What is waited for, for the log.
    what: Str,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failed: Lines,
    unread: Lines,
}

/// The log lines of one problem kind.
#[derive(Debug, Default)]
struct Lines {
    /// The most recent problem, until it is over.
    last: Option<Str>,
    logged: Option<Instant>,
    left_out: u64,
}

impl Lines {
    /// Returns how many lines were suppressed before this one; none if this one is suppressed too.
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

    /// Returns the most recent problem; none if it is over.
    pub(crate) fn last(&self) -> Option<Str> {
        let state = self.state.lock();
        state
            .failed
            .last
            .clone()
            .or_else(|| state.unread.last.clone())
    }

    /// Notes that the server answers normally.
    pub(crate) fn answered(&self) {
        self.state.lock().failed.last = None;
    }

    /// Notes that the object was decoded, or is gone.
    pub(crate) fn read(&self) {
        self.state.lock().unread.last = None;
    }

    /// Notes that a request failed, or its response ended in an error, and will be retried.
    pub(crate) fn failed(&self, error: &ApiError) {
        let advice = FetchError::from(error.clone()).advice();
        let problem = format!("{}{advice}", with_causes(error));
        self.report(problem, |state| &mut state.failed);
    }

    /// Notes that an object cannot be decoded; its next state is awaited.
    pub(crate) fn unread(&self, item: &InvalidItem) {
        let name = item.name.as_ref();
        let name = name.map_or_else(|| "an object".to_owned(), ToString::to_string);
        let cause = with_causes(&item.error);
        let problem = format!(
            "{name} cannot be read and counts as unchanged: {cause} (correct it, or wait with a \
             type that allows this)"
        );
        self.report(problem, |state| &mut state.unread);
    }

    fn report(&self, problem: String, lines: fn(&mut State) -> &mut Lines) {
        let mut state = self.state.lock();
        let lines = lines(&mut state);
        let admitted = lines.admit(Instant::now());
        lines.last = Some(problem.as_str().into());
        drop(state);
        let what = &self.what;
        match admitted {
            None => {}
            Some(0) => tracing::warn!("{what} continues: {problem}"),
            Some(left_out) => tracing::warn!(left_out, "{what} continues: {problem}"),
        }
    }
}
