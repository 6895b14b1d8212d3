//! The estimated cost of equality of values whose types are not CEL's own.

use crate::cel_type::Type;
use crate::cost::{CallEstimate, CostEstimate, Operands, STRING_TRAVERSAL, SizeEstimate};

/// The longest name of a format.
const MAX_FORMAT: u64 = 64;

/// Estimates the cost of `==`; none for CEL's own types.
pub(crate) fn estimate(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let [left, right] = operands.arguments else {
        return None;
    };
    if left.kind() != right.kind() {
        return None;
    }
    match left.kind() {
        Type::Opaque(opaque) => {
            matches!(&*opaque.0, "net.IP" | "net.CIDR").then(|| CallEstimate::fixed(1))
        }
        Type::Object(object) if object.is_foreign() => match &*object.name {
            "kubernetes.NamedFormat" => Some(traversal(MAX_FORMAT)),
            "kubernetes.URL" => {
                let size = right.computed_size().unwrap_or(SizeEstimate::fixed(1));
                Some(traversal(size.max))
            }
            _ => Some(CallEstimate::fixed(1)),
        },
        _ => None,
    }
}

fn traversal(max: u64) -> CallEstimate {
    CallEstimate::of(CostEstimate { min: 1, max }.times_factor(STRING_TRAVERSAL))
}
