//! Fills fields that the user left empty.

use kubist_apimachinery::{Quantity, Str};
use std::collections::BTreeMap;

/// Sets a text that is empty.
pub(crate) fn text(field: &mut Str, value: &str) {
    if field.is_empty() {
        *field = value.into();
    }
}

/// Sets an optional text that is absent.
pub(crate) fn option(field: &mut Option<Str>, value: &str) {
    field.get_or_insert_with(|| value.into());
}

/// Sets a number that is zero.
pub(crate) fn number(field: &mut i32, value: i32) {
    if *field == 0 {
        *field = value;
    }
}

/// Amounts finer than a thousandth are rounded up, as upstream does since its first versions.
pub(crate) fn round(amounts: &mut BTreeMap<Str, Quantity>) {
    for amount in amounts.values_mut() {
        let rounded = Quantity::from_milli(amount.milli_value());
        if rounded > *amount {
            *amount = rounded;
        }
    }
}
