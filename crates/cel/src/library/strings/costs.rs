//! Costs of functions on strings, some of which lists share.

use crate::cel_type::Type;
use crate::cost::{CallCost, CallEstimate, CostEstimate, Operands, STRING_TRAVERSAL, SizeEstimate};
use crate::value::Value;

/// `indexOf`, and functions that visit all elements of a list.
#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
pub(crate) fn searched(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(
        call.arguments
            .first()
            .map_or(0, |it| it.as_ref().map_or(1, visited)),
    )
}

/// Returns the cost of visiting a value with all that is in it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "rounded down, as upstream does"
)]
fn visited(value: &Value<'_>) -> u64 {
    let text = |length: usize| (length as f64 * STRING_TRAVERSAL) as u64;
    match value {
        Value::String(it) => text(it.as_str().len()),
        Value::Bytes(it) => text(it.as_slice().len()),
        Value::List(list) => list.iter().map(|it| it.as_ref().map_or(1, visited)).sum(),
        Value::Map(map) => {
            let entry = |key: Value<'_>| {
                let value = map.find(&key).ok().flatten();
                visited(&key) + value.as_ref().map_or(1, visited)
            };
            map.keys().into_iter().map(entry).sum()
        }
        _ => 1,
    }
}

/// Estimates [`searched`].
pub(crate) fn search(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let target = operands.target.as_ref()?;
    let Some(element) = target.element() else {
        return Some(CallEstimate::of(
            target.size().times_factor(STRING_TRAVERSAL),
        ));
    };
    let mut cost = CostEstimate::fixed(1);
    if matches!(element.kind(), Type::String | Type::Bytes) {
        cost = cost.plus(element.size().times_factor(STRING_TRAVERSAL));
    }
    Some(CallEstimate::of(target.size().times_cost(cost)))
}

/// Functions that read their target.
#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
pub(crate) fn traversed(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(call.traversal(0, 1.0))
}

/// Estimates [`traversed`].
pub(crate) fn traversal(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.target.as_ref()?.size();
    Some(CallEstimate {
        cost: size.times_factor(STRING_TRAVERSAL),
        result_size: Some(size),
    })
}

/// Functions that read their target and make something as large.
#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
pub(crate) fn rebuilt(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(call.traversal(0, 2.0))
}

/// Estimates `replace`.
pub(crate) fn replacement(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.target.as_ref()?.size();
    let [replaced, replacement, ..] = operands.arguments else {
        return None;
    };
    let (replaced, replacement) = (replaced.size(), replacement.size());
    let (mut count, mut retained) = (SizeEstimate::fixed(0), SizeEstimate::fixed(0));
    if replaced.min == 0 {
        // An empty string is found around each character.
        count.max = size.max.saturating_add(1);
        retained.max = size.max;
    } else if replacement.max <= replaced.min {
        retained.max = size.max;
    } else {
        count.max = divided(size.max, replaced.min);
    }
    if replaced.max == 0 {
        count.min = size.min.saturating_add(1);
        retained.min = size.min;
    } else if replaced.max <= replacement.min {
        retained.min = size.min;
    } else {
        count.min = divided(size.min, replaced.max);
    }
    let result = count.times(replacement).plus(retained);
    Some(CallEstimate {
        cost: size.times_factor(2.0 * STRING_TRAVERSAL),
        result_size: Some(result),
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "in floating point, as upstream does"
)]
fn divided(a: u64, b: u64) -> u64 {
    (a as f64 / b as f64).ceil() as u64
}

/// Estimates `split`.
pub(crate) fn splitting(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.target.as_ref()?.size();
    let limit = operands
        .arguments
        .get(1)
        .and_then(|it| it.literal()?.as_int());
    let max = limit.map_or(size.max, i64::cast_unsigned);
    let result_size = Some(SizeEstimate { min: 0, max });
    Some(CallEstimate {
        cost: size.times_factor(2.0 * STRING_TRAVERSAL),
        result_size,
    })
}

/// `join`.
#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
pub(crate) fn joined(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(crate::cost::estimate::scaled(
        call.result_size(),
        2.0 * STRING_TRAVERSAL,
    ))
}

/// Estimates [`joined`].
pub(crate) fn joining(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let target = operands.target.as_ref()?;
    let list = target.size();
    let mut size = target
        .element()
        .map_or(SizeEstimate::fixed(0), |it| list.times(it.size()));
    if let Some(separator) = operands.arguments.first() {
        let separators = SizeEstimate {
            min: list.min.saturating_sub(1),
            max: list.max.saturating_sub(1),
        };
        size = size.plus(separator.size().times(separators));
    }
    Some(CallEstimate {
        cost: size.times_factor(STRING_TRAVERSAL),
        result_size: Some(size),
    })
}
