//! The protobuf order of the fields of a schema, computed at compile time.

use super::{Entry, Field};

/// Returns the protobuf order of `fields`, for schemas written by hand.
pub const fn order_by_number<const N: usize>(fields: &[Field; N]) -> [Entry; N] {
    let mut order: [u16; N] = identity();
    let mut i = 1;
    while i < N {
        let mut j = i;
        while j > 0 && fields[order[j] as usize].number < fields[order[j - 1] as usize].number {
            let swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
            j -= 1;
        }
        i += 1;
    }
    let mut entries = [Entry::Field(0); N];
    let mut i = 0;
    while i < N {
        entries[i] = Entry::Field(order[i]);
        i += 1;
    }
    entries
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "no message has 65,536 fields"
)]
const fn identity<const N: usize>() -> [u16; N] {
    let mut order = [0u16; N];
    let mut i = 0;
    while i < N {
        order[i] = i as u16;
        i += 1;
    }
    order
}
