//! Costs of functions that create lists. A call whose overload is unknown costs one.

use crate::cost::{
    CallCost, CallEstimate, CostEstimate, LIST_CREATION, Operand, Operands, STRING_TRAVERSAL,
    SizeEstimate,
};
use crate::value::Value;

/// The factor of functions that compare elements with each other.
const COMPARISON: f64 = 2.0;

/// What a call did cost.
pub(super) fn call(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(match call.overload? {
        "list_slice" | "list_reverse" => allocated(1.0, call.result_size()),
        "lists_range" => {
            let count = call.arguments.first()?.as_ref()?.as_int()?;
            allocated(1.0, u64::try_from(count).unwrap_or_default())
        }
        "list_flatten" => allocated(1.0, call.size(0)),
        "list_flatten_int" => {
            let depth = call.arguments.get(1).and_then(Option::as_ref)?.as_int()?;
            allocated(double(depth), call.size(0))
        }
        overload if overload.ends_with("_sortByAssociatedKeys") => compared(call, 1),
        _ => compared(call, 0),
    })
}

#[expect(clippy::cast_precision_loss, reason = "as upstream does")]
const fn double(number: i64) -> f64 {
    number as f64
}

fn compared(call: &CallCost<'_, '_>, at: usize) -> u64 {
    let mut factor = COMPARISON;
    if let Some(Some(Value::List(list))) = call.arguments.get(at)
        && let Ok(Some(Value::String(_) | Value::Bytes(_))) = list.get(0)
    {
        factor += STRING_TRAVERSAL;
    }
    let size = call.size(at);
    allocated(factor, size.wrapping_mul(size))
}

/// Rounds down. A negative depth, with which flattening fails, has a negative cost.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "in floating point, as upstream does"
)]
fn allocated(factor: f64, size: u64) -> u64 {
    let cost = size as f64 * factor;
    let cost = if cost < 0.0 {
        (cost as i64).cast_unsigned()
    } else {
        cost as u64
    };
    cost.wrapping_add(1 + LIST_CREATION)
}

/// What a call will cost.
pub(super) fn estimate(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let target = || operands.target.as_ref().map(Operand::size);
    Some(match (operands.overload, operands.arguments) {
        ("list_slice", [start, end]) => {
            let size = target()?;
            let length = integer(end, size.max).wrapping_sub(integer(start, 0));
            allocating(1.0, SizeEstimate::fixed(length))
        }
        ("lists_range", [count]) => allocating(1.0, SizeEstimate::fixed(integer(count, u64::MAX))),
        ("list_reverse" | "list_flatten", []) => allocating(1.0, target()?),
        ("list_flatten_int", [depth]) => allocating(unsigned(integer(depth, u64::MAX)), target()?),
        ("list_distinct", []) => comparing(COMPARISON, target()?),
        (overload, [keys]) if overload.ends_with("_sortByAssociatedKeys") => {
            comparing(factor(overload), keys.size())
        }
        (overload, []) if overload.ends_with("_sort") => comparing(factor(overload), target()?),
        _ => return None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "as upstream does")]
const fn unsigned(number: u64) -> f64 {
    number as f64
}

/// Returns the factor of an overload that compares elements.
fn factor(overload: &str) -> f64 {
    let is_text = ["list_string_", "list_bytes_"]
        .iter()
        .any(|it| overload.starts_with(it));
    if is_text {
        COMPARISON + STRING_TRAVERSAL
    } else {
        COMPARISON
    }
}

fn integer(operand: &Operand<'_, '_>, default: u64) -> u64 {
    match operand.literal() {
        Some(Value::Int(number)) => u64::try_from(*number).unwrap_or_default(),
        _ => default,
    }
}

fn comparing(factor: f64, size: SizeEstimate) -> CallEstimate {
    allocating(factor, size.times(size))
}

fn allocating(factor: f64, size: SizeEstimate) -> CallEstimate {
    let cost = size.times_factor(factor);
    CallEstimate {
        cost: cost.plus(CostEstimate::fixed(1 + LIST_CREATION)),
        result_size: Some(size),
    }
}
