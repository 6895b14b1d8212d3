//! Tables of many objects, in all formats.

use crate::call::{Call, TABLE};
use crate::fill::pods;

/// Returns all calls.
pub(super) fn calls() -> Vec<Call> {
    let whole = pods() + "?includeObject=Object";
    let none = pods() + "?includeObject=None";
    vec![
        Call::get("table", pods()).accept(TABLE),
        Call::get("table with objects", whole).accept(TABLE),
        Call::get("table without objects", none).accept(TABLE),
        Call::get("table of all namespaces", "/api/v1/pods").accept(TABLE),
    ]
}
