//! `Journal`: what requests a server has answered, whose they were, and what they wrote.
//!
//! It keeps the latest entries, and counts of all. Requests of the kit's own assertions are not in
//! it, nor what the server writes by itself, such as the conditions of definitions.

pub(crate) mod entry;

use crate::client::OBSERVER_AGENT;
use crate::pulse::Pulse;
use entry::{JournalEntry, program_of};
use kubist::apimachinery::Str;
use kubist::apiserver::{ObservedRequest, RequestObserver};
use kubist::registry::ObjectWrite;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// The entries that are kept unless configured otherwise.
pub(crate) const ENTRIES_MAX: usize = 10_000;
/// The programs and verbs that are counted; what comes later is counted as `other`.
const COUNTS_MAX: usize = 1_024;

/// The numbers of requests by program and verb.
pub type RequestCounts = BTreeMap<(Str, &'static str), u64>;

/// The requests of a server. Clones show the same.
#[derive(Clone)]
pub struct Journal {
    shared: Arc<Shared>,
}

/// The part that the server tells.
#[derive(Debug)]
pub(crate) struct Shared {
    entries_max: usize,
    state: Mutex<State>,
    pulse: Arc<Pulse>,
    others: Vec<Arc<dyn RequestObserver>>,
}

#[derive(Debug, Default)]
struct State {
    entries: VecDeque<JournalEntry>,
    seen: u64,
    counts: RequestCounts,
}

impl Journal {
    /// `others` are told of the same requests.
    pub(crate) fn new(
        entries_max: usize,
        pulse: Arc<Pulse>,
        others: Vec<Arc<dyn RequestObserver>>,
    ) -> Self {
        let shared = Shared {
            entries_max,
            state: Mutex::default(),
            pulse,
            others,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    pub(crate) fn observer(&self) -> Arc<dyn RequestObserver> {
        Arc::clone(&self.shared) as _
    }

    /// Returns the kept entries, oldest first.
    pub fn entries(&self) -> Vec<JournalEntry> {
        self.shared.state.lock().entries.iter().cloned().collect()
    }

    /// Returns the kept entries that wrote something, oldest first.
    pub fn writes(&self) -> Vec<JournalEntry> {
        let state = self.shared.state.lock();
        let writing = state.entries.iter().filter(|it| !it.writes.is_empty());
        writing.cloned().collect()
    }

    /// Returns the number of requests so far, kept or not.
    pub fn requests(&self) -> u64 {
        self.shared.state.lock().seen
    }

    /// Returns the number of entries that are no longer kept.
    pub fn dropped(&self) -> u64 {
        let state = self.shared.state.lock();
        state.seen - state.entries.len() as u64
    }

    /// Returns the numbers of requests by program (the user agent up to its first `/`) and verb.
    pub fn counts(&self) -> RequestCounts {
        self.shared.state.lock().counts.clone()
    }

    /// Returns the number of requests of a program with a verb such as `PUT`.
    pub fn count(&self, program: &str, verb: &str) -> u64 {
        let state = self.shared.state.lock();
        let found = state
            .counts
            .iter()
            .find(|((of, it), _)| *of == *program && *it == verb);
        found.map_or(0, |(_, count)| *count)
    }

    /// Returns the last kept entry that wrote an object, and the write.
    pub fn last_write(
        &self,
        group: &str,
        resource: &str,
        namespace: &str,
        name: &str,
    ) -> Option<(JournalEntry, ObjectWrite)> {
        let is_it = |it: &ObjectWrite| {
            (it.group, it.resource) == (group, resource)
                && it.namespace == *namespace
                && it.name == *name
        };
        let state = self.shared.state.lock();
        state.entries.iter().rev().find_map(|entry| {
            let write = entry.writes.iter().rev().find(|it| is_it(it))?;
            Some((entry.clone(), write.clone()))
        })
    }

    /// Returns the latest different requests that were refused with 401 or 403, and how often each
    /// of them was.
    pub(crate) fn refusals(&self, most: usize) -> Vec<(String, u64)> {
        let state = self.shared.state.lock();
        let mut refusals = Vec::<(String, u64)>::new();
        for entry in state.entries.iter().rev() {
            let Some(code @ (401 | 403)) = entry.code else {
                continue;
            };
            let (user, program) = (&entry.user, entry.program());
            let (verb, path) = (entry.verb, &entry.path);
            let text = format!("{user} ({program}) {verb} {path} {code}");
            if let Some((_, count)) = refusals.iter_mut().find(|(it, _)| *it == text) {
                *count += 1;
            } else if refusals.len() < most {
                refusals.push((text, 1));
            }
        }
        refusals
    }

    /// Returns all kept entries as text, one line each. Two runs that did the same have the same
    /// text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.shared.state.lock().entries {
            // Writing to a string cannot fail.
            let _written = writeln!(text, "{entry}");
        }
        text
    }

    /// Forgets entries and counts: what follows is a test's own part.
    pub fn clear(&self) {
        *self.shared.state.lock() = State::default();
    }
}

impl RequestObserver for Shared {
    fn observe(&self, request: ObservedRequest<'_>) {
        if request.user_agent == OBSERVER_AGENT {
            return;
        }
        self.pulse.beat(&request);
        let mut state = self.state.lock();
        state.seen += 1;
        let number = state.seen;
        if self.entries_max > 0 {
            if state.entries.len() >= self.entries_max {
                state.entries.pop_front();
            }
            state.entries.push_back(JournalEntry::of(number, &request));
        }
        let key = (Str::from(program_of(request.user_agent)), request.verb);
        let is_known = state.counts.contains_key(&key) || state.counts.len() < COUNTS_MAX;
        let key = if is_known {
            key
        } else {
            ("other".into(), "other")
        };
        *state.counts.entry(key).or_default() += 1;
        drop(state);
        for other in &self.others {
            other.observe(request);
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("requests", &self.requests())
            .finish_non_exhaustive()
    }
}
