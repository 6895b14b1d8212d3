//! `Time` and `MicroTime` against those of `metav1`. No differences are expected.

use crate::replayer::{LineError, Replayer, Step, error};
use kubist_apimachinery::{MicroTime, Time};
use serde_json::{Value, json};

pub(crate) struct Replay;

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        Ok(match step.op.as_str() {
            "time" => match step.input::<String>()?.parse::<Time>() {
                Ok(time) => json!({
                    "text": time, "seconds": time.unix(), "zero": time.is_zero(),
                }),
                Err(wrong) => error(wrong),
            },
            "micro-time" => match step.input::<String>()?.parse::<MicroTime>() {
                Ok(time) => json!({
                    "text": time, "seconds": time.unix(), "nanos": time.nanos(),
                    "zero": time.is_zero(),
                }),
                Err(wrong) => error(wrong),
            },
            _ => return step.unknown(),
        })
    }
}
