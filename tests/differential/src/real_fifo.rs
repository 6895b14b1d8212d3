//! `RealFifo` against client-go's `RealFIFO` with atomic events and bookmarks, as its informers
//! configure it. No differences are expected.

use crate::delta_fifo::fill;
use crate::object;
use crate::replayer::{LineError, Replayer, Step};
use kubist_apimachinery::ObjectMeta;
use kubist_cache::{Queue, RealFifo};
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Replay {
    queue: RealFifo<ObjectMeta>,
}

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        let batch = match step.op.as_str() {
            "pop" => self.queue.pop(),
            "pop-batch" => self.queue.pop_batch(),
            "many" => {
                for number in 0..step.input::<u32>()? {
                    self.queue.add(Arc::new(ObjectMeta {
                        name: format!("many-{number}").into(),
                        resource_version: (number + 1).to_string().into(),
                        ..ObjectMeta::default()
                    }));
                }
                return Ok(Value::Null);
            }
            "state" => {
                return Ok(
                    json!({ "deltas": self.queue.len(), "synced": self.queue.has_synced() }),
                );
            }
            _ => {
                fill(&mut self.queue, step)?;
                return Ok(Value::Null);
            }
        };
        Ok(match batch {
            Some(batch) => object::popped(&batch.deltas, batch.initial),
            None if self.queue.is_drained() => "closed".into(),
            None => "empty".into(),
        })
    }
}
