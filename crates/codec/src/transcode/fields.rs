//! The fields of a message as byte ranges.

use super::Irregular;
use kubist_apimachinery::wire::{Entry, FieldType, RawField, Schema};

/// Wire types.
pub(super) const VARINT: u8 = 0;
const FIXED_64: u8 = 1;
pub(super) const DELIMITED: u8 = 2;

/// A range of the bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    start: u32,
    end: u32,
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) number: u32,
    pub(super) wire_type: u8,
    /// The range with the tag; for a repeated field, from the first to the last.
    pub(super) whole: Part,
    /// The contents of a length-delimited field.
    pub(super) contents: Part,
    /// The value of a varint field.
    pub(super) value: u64,
}

impl Found {
    /// An absent field.
    pub(super) const NONE: Self = Self {
        number: 0,
        wire_type: 0,
        whole: Part::NONE,
        contents: Part::NONE,
        value: 0,
    };

    pub(super) fn is_none(&self) -> bool {
        self.whole.is_none()
    }

    /// Adds an occurrence of a repeated field, which must follow directly.
    #[inline]
    pub(super) fn extend(&mut self, field: Self, repeated: bool) -> Result<(), Irregular> {
        if self.is_none() {
            *self = field;
            return Ok(());
        }
        if !repeated || self.whole.end != field.whole.start {
            return Err(Irregular);
        }
        self.whole.end = field.whole.end;
        Ok(())
    }
}

impl Part {
    /// The empty range. A field has a tag, so its range is never empty.
    pub(super) const NONE: Self = Self { start: 0, end: 0 };

    pub(super) fn new(start: usize, end: usize) -> Result<Self, Irregular> {
        let small = |it| u32::try_from(it).map_err(|_| Irregular);
        Ok(Self {
            start: small(start)?,
            end: small(end)?,
        })
    }

    pub(super) fn is_none(self) -> bool {
        self.end == self.start
    }

    #[inline]
    pub(super) fn of(self, all: &[u8]) -> &[u8] {
        all.get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// Iterates over fields.
pub(super) struct Cursor<'b> {
    all: &'b [u8],
    at: usize,
    end: usize,
}

impl<'b> Cursor<'b> {
    pub(super) fn new(all: &'b [u8], part: Part) -> Self {
        Self {
            all,
            at: part.start as usize,
            end: (part.end as usize).min(all.len()),
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Found>, Irregular> {
        if self.at >= self.end {
            return Ok(None);
        }
        let start = self.at;
        let rest = self.all.get(start..self.end).ok_or(Irregular)?;
        let field = RawField::first(rest).map_err(|_| Irregular)?;
        self.at = start + field.whole.len();
        let contents = match field.wire_type {
            DELIMITED => Part::new(self.at - field.bytes.len(), self.at)?,
            _ => Part::NONE,
        };
        Ok(Some(Found {
            number: field.number,
            wire_type: field.wire_type,
            whole: Part::new(start, self.at)?,
            contents,
            value: field.varint,
        }))
    }
}

/// Returns the entry of `order` with a field number. `hint` is the position of the previous entry.
#[inline]
pub(super) fn entry_of(
    schema: &Schema,
    order: &'static [Entry],
    number: u32,
    hint: usize,
) -> Option<(usize, Entry)> {
    let number_of = |entry| match entry {
        Entry::Field(index) => schema.fields[usize::from(index)].number,
        Entry::Group { number, .. } => number,
    };
    // Canonical protobuf follows this order, with gaps.
    for (position, &entry) in order.iter().enumerate().skip(hint).take(4) {
        if number_of(entry) == number {
            return Some((position, entry));
        }
    }
    let found = order.binary_search_by_key(&number, |&entry| number_of(entry));
    found.ok().map(|position| (position, order[position]))
}

pub(super) fn wire_type(ty: &FieldType) -> u8 {
    match ty {
        FieldType::Bool
        | FieldType::I32
        | FieldType::I64
        | FieldType::BoolList
        | FieldType::I32List
        | FieldType::I64List => VARINT,
        FieldType::F64 => FIXED_64,
        _ => DELIMITED,
    }
}

pub(super) fn is_repeated(ty: &FieldType) -> bool {
    !matches!(
        ty,
        FieldType::Bool
            | FieldType::I32
            | FieldType::I64
            | FieldType::F64
            | FieldType::Str
            | FieldType::Bytes
            | FieldType::Message(_)
    )
}
