//! `HandlerChecker`: one handler's view of the world, checked at each event.

use crate::checks::{Check, Violations};
use crate::expectation::{Expectation, Observed};
use crate::ledger::Stamp;
use crate::trace::Trace;
use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::{Deleted, ResourceEvent};
use kubist_informers::{Delivery, HandlerState};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The state that a handler derives from its events.
#[derive(Debug)]
pub(crate) struct HandlerChecker {
    pub(crate) name: String,
    pub(crate) delivery: Delivery,
    /// Whether it was added before the informer ran.
    pub(crate) early: bool,
    expectation: Arc<Mutex<Expectation>>,
    view: Mutex<View>,
    violations: Violations,
    trace: Trace,
}

#[derive(Debug, Default)]
struct View {
    held: BTreeMap<ObjectName, Stamp>,
    /// The last version received for each name, including deletions.
    reached: BTreeMap<ObjectName, u64>,
    observed: BTreeMap<ObjectName, Vec<Observed>>,
    is_synced: bool,
}

/// The contents of one handler call.
pub(crate) struct Call {
    pub(crate) name: ObjectName,
    pub(crate) kind: CallKind,
}

pub(crate) enum CallKind {
    Observed {
        observed: Observed,
        initial: bool,
    },
    /// A deletion without a last known state.
    Vanished,
    Resynced(Stamp),
}

impl Call {
    pub(crate) fn of<K: Object>(change: &ResourceEvent<K>) -> Self {
        let name = change.object_name();
        let observed = |observed| CallKind::Observed {
            observed,
            initial: matches!(change, ResourceEvent::Added { initial: true, .. }),
        };
        let kind = match change {
            ResourceEvent::Added { object, .. } => observed(Observed::Added(Stamp::of(&**object))),
            ResourceEvent::Updated { old, new } => observed(Observed::Updated {
                old: Stamp::of(&**old),
                new: Stamp::of(&**new),
            }),
            ResourceEvent::Resynced(object) => CallKind::Resynced(Stamp::of(&**object)),
            ResourceEvent::Deleted(deleted) => match deleted {
                Deleted::Known(object)
                | Deleted::FinalStateUnknown {
                    last_known: Some(object),
                    ..
                } => observed(Observed::Deleted(Stamp::of(&**object))),
                Deleted::FinalStateUnknown { .. } => CallKind::Vanished,
            },
        };
        Self { name, kind }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.kind {
            CallKind::Observed { observed, initial } => {
                let initial = if *initial { " (initial)" } else { "" };
                write!(f, "{name} {observed}{initial}")
            }
            CallKind::Vanished => write!(f, "{name} vanished"),
            CallKind::Resynced(stamp) => write!(f, "{name} again {stamp}"),
        }
    }
}

impl HandlerChecker {
    pub(crate) fn new(
        name: String,
        delivery: Delivery,
        early: bool,
        expectation: &Arc<Mutex<Expectation>>,
        violations: &Violations,
        trace: &Trace,
    ) -> Self {
        Self {
            name,
            delivery,
            early,
            expectation: Arc::clone(expectation),
            view: Mutex::default(),
            violations: violations.clone(),
            trace: trace.clone(),
        }
    }

    /// Checks an event, given the state of the registration.
    pub(crate) fn observed(&self, call: &Call, state: HandlerState) {
        self.trace
            .note("events", format_args!("{}: {call}", self.name));
        let name = &call.name;
        let mut view = self.view.lock();
        match &call.kind {
            CallKind::Observed { observed, initial } => {
                if *initial && (state == HandlerState::Synced || view.is_synced) {
                    let what = "an object of the first list came after synced";
                    self.record(Check::Synced, name, what);
                }
                self.judge(&view, name, observed);
                view.note(name, observed);
            }
            CallKind::Vanished => {
                let what = "a deletion without the last state received";
                self.record(Check::Deletes, name, what);
                view.held.remove(name);
            }
            CallKind::Resynced(stamp) => {
                if view.held.get(name) != Some(stamp) {
                    let what = format!("resynced with {stamp}, which is not the state it received");
                    self.record(Check::Order, name, &what);
                }
            }
        }
    }

    /// Checks whether this event may follow the earlier ones.
    fn judge(&self, view: &View, name: &ObjectName, observed: &Observed) {
        let held = view.held.get(name);
        let reached = view.reached.get(name).copied().unwrap_or(0);
        let (new, forward) = match observed {
            Observed::Added(stamp) | Observed::Updated { new: stamp, .. } => (stamp, reached + 1),
            // A list that no longer contains the object repeats its last state.
            Observed::Deleted(stamp) => (stamp, reached),
        };
        if new.version < forward {
            let what = format!("{observed} after version {reached}");
            self.record(Check::Order, name, &what);
        }
        match (observed, held) {
            (Observed::Added(_), None) => {}
            (Observed::Added(_), Some(held)) => {
                let what = format!("{observed}, though it has {held}: a deletion is missing");
                self.record(Check::Deletes, name, &what);
            }
            (Observed::Updated { old, .. }, Some(held)) if self.continues(held, old) => {}
            (Observed::Updated { .. }, held) => {
                let held = held.map_or_else(|| "nothing".to_owned(), ToString::to_string);
                let what = format!("{observed}, though it has {held}");
                self.record(Check::Order, name, &what);
            }
            (Observed::Deleted(gone), Some(held)) if gone.uid == held.uid => {}
            (Observed::Deleted(_), held) => {
                let held = held.map_or_else(|| "nothing".to_owned(), ToString::to_string);
                let what = format!("{observed}, though it has {held}");
                self.record(Check::Deletes, name, &what);
            }
        }
    }

    /// Reports whether an update from `old` may follow `held`. If events are merged, an object that
    /// was deselected in between starts from the state of its deletion.
    fn continues(&self, held: &Stamp, old: &Stamp) -> bool {
        let merges = !matches!(self.delivery, Delivery::EveryEvent { .. });
        held == old || merges && held.uid == old.uid && held.version < old.version
    }

    fn record(&self, check: Check, name: &ObjectName, what: &str) {
        let what = format!("{}: {name}: {what}", self.name);
        self.violations.record(check, what);
    }

    /// Checks the state at the time of sync.
    pub(crate) fn synced(&self) {
        self.trace.note("synced", format_args!("{}", self.name));
        let mut view = self.view.lock();
        view.is_synced = true;
        let expectation = self.expectation.lock();
        let Some(first) = expectation.first_list() else {
            let what = format!("{}: synced before any list was whole", self.name);
            return self.violations.record(Check::Synced, what);
        };
        for name in first {
            // Objects that were added and deleted unseen need no events.
            if !view.observed.contains_key(name) {
                self.record(Check::Synced, name, "synced before it received this object");
            }
        }
    }

    /// Returns the objects that should exist for the handler.
    pub(crate) fn held(&self) -> BTreeMap<ObjectName, Stamp> {
        self.view.lock().held.clone()
    }

    /// Returns the first difference between received and expected events. `alive`: it must have
    /// received them to the end.
    pub(crate) fn history_gap(&self, alive: bool) -> Option<String> {
        let view = self.view.lock();
        let expectation = self.expectation.lock();
        for (name, observed) in &view.observed {
            let empty = Vec::new();
            let happened = expectation.history().get(name).unwrap_or(&empty);
            if !follows(observed, happened, self.early, alive) {
                let (observed, happened) = (list(observed), list(happened));
                return Some(format!("{name}: received {observed}, expected {happened}"));
            }
        }
        let mut names = expectation.history().keys();
        let unheard = names.find(|name| !view.observed.contains_key(*name));
        let unheard = unheard.filter(|_| self.early && alive);
        unheard.map(|name| format!("{name}: was never received"))
    }
}

impl View {
    fn note(&mut self, name: &ObjectName, observed: &Observed) {
        let (held, reached) = match observed {
            Observed::Added(stamp) | Observed::Updated { new: stamp, .. } => {
                (Some(stamp.clone()), stamp.version)
            }
            Observed::Deleted(stamp) => (None, stamp.version),
        };
        match held {
            Some(stamp) => self.held.insert(name.clone(), stamp),
            None => self.held.remove(name),
        };
        self.reached.insert(name.clone(), reached);
        self.observed
            .entry(name.clone())
            .or_default()
            .push(observed.clone());
    }
}

/// Reports whether `observed` is a part of `happened` without gaps: from its beginning if `early`,
/// up to its end if `alive`. A handler that is added late receives the current state as an
/// addition.
fn follows(observed: &[Observed], happened: &[Observed], early: bool, alive: bool) -> bool {
    let Some(first) = observed.first() else {
        return true;
    };
    let begin = if early {
        let begins = happened.first().is_some_and(|it| same(it, first));
        begins.then_some(0)
    } else {
        let state = |observed: &Observed| match observed {
            Observed::Added(stamp) | Observed::Updated { new: stamp, .. } => Some(stamp.clone()),
            Observed::Deleted(_) => None,
        };
        happened.iter().position(|it| state(it) == state(first))
    };
    let Some(begin) = begin else {
        return false;
    };
    let rest = &happened[begin + 1..];
    let after = &observed[1..];
    let is_long_enough = if alive {
        after.len() == rest.len()
    } else {
        after.len() <= rest.len()
    };
    is_long_enough
        && after
            .iter()
            .zip(rest)
            .all(|(observed, it)| same(observed, it))
}

/// Reports whether both are the same event. A deletion carries the state of the deletion or, if
/// earlier states may have been missed, the last state seen.
fn same(observed: &Observed, happened: &Observed) -> bool {
    match (observed, happened) {
        (Observed::Deleted(observed), Observed::Deleted(happened)) => observed.uid == happened.uid,
        _ => observed == happened,
    }
}

fn list(observed: &[Observed]) -> String {
    let observed: Vec<_> = observed.iter().map(ToString::to_string).collect();
    format!("[{}]", observed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(version: u64) -> Stamp {
        Stamp {
            uid: "abcd".into(),
            version,
        }
    }

    fn updated(old: u64, new: u64) -> Observed {
        Observed::Updated {
            old: at(old),
            new: at(new),
        }
    }

    #[test]
    fn a_history_must_have_no_gap_and_reach_the_end_of_the_living() {
        let happened = [Observed::Added(at(1)), updated(1, 2), updated(2, 3)];
        assert!(follows(&happened, &happened, true, true));
        assert!(follows(&happened[..2], &happened, true, false));
        assert!(!follows(&happened[..2], &happened, true, true));
        assert!(!follows(&happened[1..], &happened, true, true));
        let gap = [Observed::Added(at(1)), updated(2, 3)];
        assert!(!follows(&gap, &happened, false, true));
    }

    #[test]
    fn a_late_handler_begins_with_the_current_state() {
        let happened = [Observed::Added(at(1)), updated(1, 2), updated(2, 3)];
        let late = [Observed::Added(at(2)), updated(2, 3)];
        assert!(follows(&late, &happened, false, true));
        assert!(!follows(&late, &happened, true, true));
        assert!(!follows(&[Observed::Added(at(9))], &happened, false, false));
    }
}
