//! `Quantity` against apimachinery's `resource.Quantity`: accepted syntax, error texts, canonical
//! form, values, order, sums and differences.
//!
//! Expected difference, from the glossary: amounts beyond the largest suffix are printed with a
//! power of ten, which upstream omits.

use crate::replayer::{LineError, Replayer, Step, error};
use kubist_apimachinery::{Quantity, QuantityFormat};
use serde_json::{Value, json};
use std::cmp::Ordering;

#[derive(Default)]
pub(crate) struct Replay {
    last: Quantity,
}

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        let quantity = match step.input::<String>()?.parse::<Quantity>() {
            Ok(quantity) => quantity,
            Err(wrong) => return Ok(error(wrong)),
        };
        match step.op.as_str() {
            "parse" => {
                let mut out = json!({
                    "text": quantity.as_str(), "format": format_name(quantity.format()),
                    "sign": quantity.signum(), "zero": quantity.is_zero(),
                });
                // The trace has upstream's values that fit into 64 bits.
                if step.theirs.get("value").is_some() {
                    out["value"] = quantity.value().into();
                }
                if step.theirs.get("milli").is_some() {
                    out["milli"] = quantity.milli_value().into();
                }
                Ok(out)
            }
            "arithmetic" => {
                let last = std::mem::replace(&mut self.last, quantity.clone());
                let order = match last.cmp(&quantity) {
                    Ordering::Less => -1,
                    Ordering::Equal => 0,
                    Ordering::Greater => 1,
                };
                Ok(json!({
                    "order": order,
                    "sum": (last.clone() + &quantity).as_str(),
                    "difference": (last - &quantity).as_str(),
                    "negated": (-quantity).as_str(),
                }))
            }
            _ => step.unknown(),
        }
    }

    fn expected(&mut self, step: &Step, ours: &Value) -> Value {
        let mut expected = step.theirs.clone();
        for member in ["text", "sum", "difference", "negated"] {
            let theirs = expected.get(member).and_then(Value::as_str);
            let ours = ours.get(member).and_then(Value::as_str);
            if let (Some(theirs), Some(ours)) = (theirs, ours)
                && is_with_power(theirs, ours)
            {
                expected[member] = ours.into();
            }
        }
        expected
    }
}

/// Reports whether `ours` is `theirs` with the power of ten that upstream has no suffix for.
fn is_with_power(theirs: &str, ours: &str) -> bool {
    let power = ours
        .strip_prefix(theirs)
        .and_then(|rest| rest.strip_prefix('e'));
    power.is_some_and(|power| power.parse().is_ok_and(|power: u32| power > 18))
}

fn format_name(format: QuantityFormat) -> &'static str {
    match format {
        QuantityFormat::DecimalSi => "DecimalSI",
        QuantityFormat::BinarySi => "BinarySI",
        QuantityFormat::DecimalExponent => "DecimalExponent",
    }
}
