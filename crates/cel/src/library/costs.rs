//! Costs that functions of several libraries share.

use crate::cost::{
    CallCost, CallEstimate, CostEstimate, Operands, REGEX_LENGTH, STRING_TRAVERSAL, SizeEstimate,
};

/// Functions that parse their first argument.
#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
pub(super) fn parsed(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(call.traversal(0, 1.0))
}

/// Estimates [`parsed`].
pub(super) fn parsing(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.arguments.first()?.size();
    Some(CallEstimate::of(size.times_factor(STRING_TRAVERSAL)))
}

/// Functions that cost one.
#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
pub(super) fn nominal(_: &CallCost<'_, '_>) -> Option<u64> {
    Some(1)
}

/// Estimates [`nominal`].
#[expect(clippy::unnecessary_wraps, reason = "the type of estimates")]
pub(super) fn nominal_estimate(_: &Operands<'_, '_>) -> Option<CallEstimate> {
    Some(CallEstimate::fixed(1))
}

/// Functions that find matches of a regular expression.
#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
pub(super) fn matched(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(call.regex(0, call.size(1)))
}

/// Estimates [`matched`].
pub(super) fn matching(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.target.as_ref()?.size();
    let pattern = operands.arguments.first()?.size();
    let text = size
        .plus(SizeEstimate::fixed(1))
        .times_factor(STRING_TRAVERSAL);
    let max = size.max;
    Some(CallEstimate {
        cost: text.times(pattern.times_factor(REGEX_LENGTH)),
        result_size: Some(SizeEstimate { min: 0, max }),
    })
}

/// Estimates a traversal of a size with a factor.
pub(super) fn traversal(size: SizeEstimate, factor: f64) -> CostEstimate {
    size.times_factor(factor * STRING_TRAVERSAL)
}
