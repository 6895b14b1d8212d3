//! The hash table of JSON names, computed at compile time.

use super::{Field, FieldFlags, Schema};

/// An entry without a field.
const NONE: u16 = u16::MAX;

/// Returns the size of the table for `count` fields.
pub const fn names_size(count: usize) -> usize {
    (2 * count).next_power_of_two()
}

/// Returns the hash table of `fields`: their indexes, each at the hash of its JSON name or after
/// it.
///
/// # Panics
/// `M` is not the [size](names_size) for them. That is at compile time, where tables are computed.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no message has 65,535 fields"
)]
pub const fn table_of_names<const M: usize>(fields: &[Field]) -> [u16; M] {
    assert!(M == names_size(fields.len()) && fields.len() < NONE as usize);
    let mut table = [NONE; M];
    let mut index = 0;
    while index < fields.len() {
        // Such a field is not found by name.
        if !fields[index].flags.has(FieldFlags::PROTOBUF_ONLY) {
            let mut at = place(fields[index].json.as_bytes(), M);
            while table[at] != NONE {
                at = (at + 1) % M;
            }
            table[at] = index as u16;
        }
        index += 1;
    }
    table
}

/// Returns the place of a name in a table of `size`, a power of two.
#[inline]
const fn place(name: &[u8], size: usize) -> usize {
    let length = name.len();
    if length == 0 {
        return 0;
    }
    // Names of one message rarely agree in all four, and it takes as long for any length.
    let [first, middle, last] = [name[0], name[length / 2], name[length - 1]];
    let [length, ..] = length.to_le_bytes();
    let mixed = u32::from_le_bytes([first, middle, last, length]);
    (mixed.wrapping_mul(0x9e37_79b1) >> 12) as usize & (size - 1)
}

impl Schema {
    /// Returns the index of the field with this JSON name.
    #[inline]
    pub(in crate::wire) fn index_of(&self, name: &[u8]) -> Option<usize> {
        let mut at = place(name, self.names.len());
        loop {
            let index = usize::from(*self.names.get(at)?);
            let field = self.fields.get(index)?;
            if is_same(field.json.as_bytes(), name) {
                return Some(index);
            }
            at = (at + 1) & (self.names.len() - 1);
        }
    }
}

/// Compares names, which are short, without a call.
#[inline]
fn is_same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let ends = (left.first_chunk::<8>(), left.last_chunk::<8>());
    match ends {
        (Some(first), Some(last)) if left.len() <= 16 => {
            right.first_chunk() == Some(first) && right.last_chunk() == Some(last)
        }
        (None, _) => {
            let ends = (left.first_chunk::<4>(), left.last_chunk::<4>());
            match ends {
                (Some(first), Some(last)) => {
                    right.first_chunk() == Some(first) && right.last_chunk() == Some(last)
                }
                _ => left.iter().eq(right),
            }
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{FieldType, JsonForm};

    const fn named(name: &'static str) -> Field {
        Field::new(name, 1, FieldType::Bool, FieldFlags::NONE)
    }

    // Several agree in length and in the bytes that are hashed.
    const NAMES: [&str; 9] = [
        "a",
        "ab",
        "abcdx",
        "abcex",
        "hostIPC",
        "hostPID",
        "hostXIPC",
        "a-name-of-twenty-two-x",
        "a-name-of-twenty-two-y",
    ];
    static FIELDS: [Field; 10] = {
        let mut fields = [const { named("") }; 10];
        let mut at = 0;
        while at < NAMES.len() {
            fields[at] = named(NAMES[at]);
            at += 1;
        }
        fields[9] = Field::new("", 2, FieldType::Bool, FieldFlags::PROTOBUF_ONLY);
        fields
    };
    static TABLE: [u16; names_size(10)] = table_of_names(&FIELDS);
    static SCHEMA: Schema = Schema {
        name: "Some",
        full_name: "Some",
        kind: None,
        form: JsonForm::Object,
        atomic: false,
        defaults: &[],
        fields: &FIELDS,
        names: &TABLE,
        order: &[],
    };

    #[test]
    fn each_field_is_found_by_its_name_and_others_are_not() {
        for (index, name) in NAMES.iter().enumerate() {
            assert_eq!(SCHEMA.index_of(name.as_bytes()), Some(index), "{name}");
            for other in ["", "x", "abc", "hostPIC"] {
                let name = format!("{name}{other}");
                let known = NAMES.iter().position(|it| *it == name);
                assert_eq!(SCHEMA.index_of(name.as_bytes()), known, "{name}");
            }
        }
        assert_eq!(SCHEMA.index_of(b""), None);
    }
}
