//! `Duration` against `metav1.Duration`. No differences are expected.

use crate::replayer::{LineError, Replayer, Step, error};
use kubist_apimachinery::Duration;
use serde_json::{Value, json};

pub(crate) struct Replay;

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        match step.op.as_str() {
            "duration" => Ok(match step.input::<String>()?.parse::<Duration>() {
                Ok(duration) => json!({ "text": duration, "nanos": duration.as_nanos() }),
                Err(wrong) => error(wrong),
            }),
            _ => step.unknown(),
        }
    }
}
