//! `DeltaFifo` against client-go's `DeltaFIFO`.
//!
//! No differences are expected. client-go's order of the deltas that it derives from known objects
//! is random; both sides sort them by name.

use crate::object::{self, List, Object};
use crate::replayer::{LineError, Replayer, Step};
use kubist_apimachinery::ObjectMeta;
use kubist_cache::{Delta, DeltaFifo, DeltaFifoConfig, Indexer, Queue};
use serde::Deserialize;
use serde_json::{Value, json};

/// The queue, and the objects that its consumer has applied.
pub(crate) struct Replay {
    queue: DeltaFifo<ObjectMeta>,
    applied: Indexer<ObjectMeta>,
}

#[derive(Deserialize)]
struct Config {
    /// Whether the queue knows the objects that its consumer has applied.
    known: bool,
    list_as_sync: bool,
}

impl Replay {
    pub(crate) fn new(config: Value) -> Result<Self, LineError> {
        let Config {
            known,
            list_as_sync,
        } = Config::deserialize(config)?;
        let applied = Indexer::new();
        let queue = DeltaFifo::new(DeltaFifoConfig {
            known: known.then(|| applied.lister()),
            list_as_sync,
        });
        Ok(Self { queue, applied })
    }

    fn pop(&mut self) -> Value {
        let initial = !self.queue.has_synced();
        let Some(deltas) = self.queue.pop_deltas() else {
            let is_drained = self.queue.is_drained();
            return if is_drained { "closed" } else { "empty" }.into();
        };
        let deltas: Vec<Delta<ObjectMeta>> = deltas.into_iter().collect();
        let popped = object::popped(&deltas, initial);
        let mut changes = Vec::new();
        for delta in deltas {
            self.applied.apply(delta, &mut changes);
        }
        self.applied.publish();
        popped
    }
}

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        match step.op.as_str() {
            "pop" => return Ok(self.pop()),
            "state" => {
                let names = self.queue.names().len();
                return Ok(json!({ "names": names, "synced": self.queue.has_synced() }));
            }
            _ => fill(&mut self.queue, step)?,
        }
        Ok(Value::Null)
    }
}

/// The operations of reflectors.
pub(crate) fn fill(queue: &mut impl Queue<ObjectMeta>, step: &Step) -> Result<(), LineError> {
    match step.op.as_str() {
        "add" => queue.add(step.input::<Object>()?.into_meta()),
        "update" => queue.update(step.input::<Object>()?.into_meta()),
        "delete" => queue.delete(step.input::<Object>()?.into_meta()),
        "replace" => queue.replace(step.input::<List>()?.into_replacement()),
        "bookmark" => queue.bookmark(step.input::<String>()?.as_str().into()),
        "resync" => queue.resync(),
        "close" => queue.close(),
        _ => return step.unknown(),
    }
    Ok(())
}
