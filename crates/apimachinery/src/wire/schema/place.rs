//! `Place`: where a protobuf decoder is among the fields of a message.
//!
//! Encoders write fields in the order of their numbers, with gaps. So the entry of the next number
//! is not searched for: it is predicted from the last one.

use super::{Entry, Schema};

/// The last field that was found.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::wire) struct Place {
    /// The position after it.
    next: usize,
    number: u32,
}

impl Place {
    /// Returns the entry of `order` with a protobuf number, and goes there.
    #[inline]
    pub(in crate::wire) fn find(
        &mut self,
        schema: &'static Schema,
        order: &'static [Entry],
        number: u32,
    ) -> Option<Entry> {
        if number < self.number {
            *self = Self::default();
        }
        // Numbers grow by at least one with the position. Few are left out, so the entry is mostly
        // at the last position that it can be at, and otherwise shortly before.
        let ahead = (number - self.number) as usize;
        let mut next = self.next.saturating_add(ahead).min(order.len());
        loop {
            let position = next.checked_sub(1)?;
            let &entry = order.get(position)?;
            let found = schema.number(entry);
            if found <= number {
                if found < number {
                    return None;
                }
                *self = Self { next, number };
                return Some(entry);
            }
            next = position;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{FieldType, JsonForm, schema::Field, schema::FieldFlags};

    const fn field(number: u32) -> Field {
        Field::new("", number, FieldType::Bool, FieldFlags::NONE)
    }

    static FIELDS: [Field; 4] = [field(2), field(900), field(9), field(3)];
    static GROUP: [Entry; 1] = [Entry::Field(2)];
    static ORDER: [Entry; 4] = [
        Entry::Field(0),
        Entry::Field(3),
        Entry::Group {
            number: 4,
            entries: &GROUP,
        },
        Entry::Field(1),
    ];
    static SCHEMA: Schema = Schema {
        name: "Some",
        full_name: "Some",
        kind: None,
        form: JsonForm::Object,
        atomic: false,
        defaults: &[],
        fields: &FIELDS,
        names: &[],
        order: &ORDER,
    };

    #[test]
    fn numbers_are_found_in_any_order_and_others_are_not() {
        let known = [2, 3, 4, 900];
        let all = [0, 1, 2, 3, 4, 5, 899, 900, 901, u32::MAX];
        for first in all {
            for second in all {
                let mut place = Place::default();
                for number in [first, second, second] {
                    let found = place.find(&SCHEMA, &ORDER, number);
                    let found = found.map(|entry| SCHEMA.number(entry));
                    let wanted = known.contains(&number).then_some(number);
                    assert_eq!(found, wanted, "{number} after {first}");
                }
            }
        }
        assert!(Place::default().find(&SCHEMA, &[], 1).is_none());
        assert!(Place::default().find(&SCHEMA, &GROUP, 9).is_some());
    }
}
