//! `Observer`: follows the store of a world, and asks the invariants about each state.

use crate::explore::hub::Hub;
use crate::explore::invariant::Invariant;
use crate::explore::normal::{compare, is_bookkeeping};
use crate::explore::problem::Problem;
use crate::explore::state::{Change, State};
use crate::story::What;
use kubist::apimachinery::Str;
use kubist::storage::memory::MemoryKv;
use kubist::storage::{Event, KeyRange, KvWatch as _, Revision, WatchRangeRequest};
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// At most this many changed fields of a write are shown.
const FIELDS_MAX: usize = 3;

/// Follows a store.
pub(crate) struct Observer {
    hub: Arc<Hub>,
    invariants: Arc<[Invariant]>,
    state: Arc<Mutex<State>>,
    /// Writes without a disturbance that count as a loop.
    writes_max: u64,
}

impl Observer {
    pub(crate) fn new(
        hub: &Arc<Hub>,
        invariants: &Arc<[Invariant]>,
        state: &Arc<Mutex<State>>,
        writes_max: u64,
    ) -> Self {
        Self {
            hub: Arc::clone(hub),
            invariants: Arc::clone(invariants),
            state: Arc::clone(state),
            writes_max,
        }
    }

    /// Opens the watch, from this revision on. What is written later is observed.
    pub(crate) async fn run(self, kv: MemoryKv, base: u64) {
        let request = WatchRangeRequest::new(KeyRange::all()).from(Revision(base + 1));
        let Ok(mut watch) = kv.watch(request).await else {
            return;
        };
        while let Some(Ok(batch)) = watch.next().await {
            for event in &batch.events {
                self.observe(event);
            }
        }
    }

    fn observe(&self, event: &Event) {
        let time = self.hub.trace.time();
        self.hub.trace.mark(&event.key);
        let mut state = self.state.lock();
        if !state.apply(event, time) {
            return;
        }
        let Some(change) = state.change().cloned() else {
            return;
        };
        let bookkeeping = change.object().is_some_and(|it| is_bookkeeping(&it.kind));
        let problem = {
            let mut ledger = self.hub.ledger.lock();
            let problem = ledger.note(event.revision.0, &change, bookkeeping);
            let writes = ledger.undisturbed();
            let is_loop = !bookkeeping && writes > self.writes_max;
            problem.or_else(|| {
                is_loop.then(|| Problem::WriteLoop {
                    writes,
                    most: ledger.most_written(100),
                })
            })
        };
        self.hub.trace.note(|| wrote(event, &change));
        if let Some(problem) = problem {
            self.hub.report(problem);
        }
        if !bookkeeping && !self.hub.is_stopped() {
            self.ask(&state);
        }
    }

    /// Asks every invariant about a state.
    pub(crate) fn ask(&self, state: &State) {
        for invariant in &*self.invariants {
            let whom = format!("the invariant {:?} is asked", invariant.name());
            let checked = self.hub.trace.ask(whom, || invariant.check(state));
            if let Err(problem) = checked {
                return self.hub.report(problem);
            }
        }
    }
}

fn wrote(event: &Event, change: &Change) -> What {
    let object = change.object();
    let before = change.stored_before().map_or(0, |it| it.revision);
    What::Wrote {
        client: Str::default(),
        kind: object.map(|it| it.kind.clone()).unwrap_or_default(),
        name: object.map(|it| it.name.clone()).unwrap_or_default(),
        verb: change.verb(),
        before,
        revision: event.revision.0,
        fields: fields(change),
    }
}

/// Returns the changed fields, shortly: `spec.replicas: 1 → 2`.
fn fields(change: &Change) -> String {
    let (Some(before), Some(after)) = (change.stored_before(), change.stored_after()) else {
        return String::new();
    };
    let mut differences = Vec::new();
    let trees = [before.tree(), after.tree()].map(without_bookkeeping);
    compare("", "", Some(&trees[0]), Some(&trees[1]), &mut differences);
    let more = differences.len().saturating_sub(FIELDS_MAX);
    let text = |text: &str| match text.char_indices().nth(60) {
        _ if text.is_empty() => "none".to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    let mut texts: Vec<String> = differences
        .iter()
        .take(FIELDS_MAX)
        .map(|it| format!("{}: {} → {}", it.field, text(&it.expected), text(&it.found)))
        .collect();
    if more > 0 {
        texts.push(format!("{more} more"));
    }
    texts.join(", ")
}

fn without_bookkeeping(tree: &Value) -> Value {
    let mut tree = tree.clone();
    if let Some(metadata) = tree.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["managedFields", "resourceVersion", "generation"] {
            metadata.remove(field);
        }
    }
    tree
}

/// The time that an observer needs to see what was written: none on virtual time, but a turn.
pub(crate) const TURN: Duration = Duration::from_millis(1);
