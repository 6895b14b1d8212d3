//! Sets defaults for empty fields.

use kubist_apimachinery::{Quantity, Str};
use std::collections::BTreeMap;

/// Sets a string if it is empty.
pub(crate) fn text(field: &mut Str, value: &str) {
    if field.is_empty() {
        *field = value.into();
    }
}

/// Sets an optional string if it is absent.
pub(crate) fn option(field: &mut Option<Str>, value: &str) {
    field.get_or_insert_with(|| value.into());
}

/// Sets a number if it is zero.
pub(crate) fn number(field: &mut i32, value: i32) {
    if *field == 0 {
        *field = value;
    }
}

/// Rounds quantities up to a thousandth, as upstream has done since its first versions.
pub(crate) fn round(amounts: &mut BTreeMap<Str, Quantity>) {
    for amount in amounts.values_mut() {
        let rounded = Quantity::from_milli(amount.milli_value());
        if rounded > *amount {
            *amount = rounded;
        }
    }
}
