//! The structure check of protobuf that locates errors by walking the schema.
//! [`StructurePlan`](crate::wire::structure_plan::StructurePlan) detects them faster.

use super::{Failure, fail, within};
use crate::wire::raw_field::map_entry;
use crate::wire::schema::Place;
use crate::wire::{
    Entry, Field, FieldType, JsonForm, RawField, Schema, WireErrorKind, raw_fields, varint,
};

pub(super) fn expect_type(field: &RawField<'_>, wire_type: u8) -> Result<(), Failure> {
    if field.wire_type == wire_type {
        return Ok(());
    }
    Err(fail(WireErrorKind::WireType {
        number: field.number,
        found: field.wire_type,
    }))
}

/// Checks the structure of the fields of a message (or of a group in it).
pub(super) fn check_fields(
    bytes: &[u8],
    schema: &'static Schema,
    order: &'static [Entry],
    depth_max: usize,
) -> Result<(), Failure> {
    let Some(depth_max) = depth_max.checked_sub(1) else {
        return Err(fail(WireErrorKind::TooDeep));
    };
    let mut place = Place::default();
    for field in raw_fields(bytes) {
        check_field(&field.map_err(fail)?, schema, order, &mut place, depth_max)?;
    }
    Ok(())
}

pub(super) fn check_field(
    field: &RawField<'_>,
    schema: &'static Schema,
    order: &'static [Entry],
    place: &mut Place,
    depth_max: usize,
) -> Result<(), Failure> {
    match place.find(schema, order, field.number) {
        None => Ok(()),
        Some(Entry::Field(index)) => {
            check_value(field, &schema.fields[usize::from(index)], depth_max)
        }
        Some(Entry::Group { entries, .. }) => {
            expect_type(field, 2)?;
            check_fields(field.bytes, schema, entries, depth_max)
        }
    }
}

fn check_value(value: &RawField<'_>, field: &Field, depth_max: usize) -> Result<(), Failure> {
    let result = match field.ty {
        FieldType::Bool | FieldType::I32 | FieldType::I64 => expect_type(value, 0),
        FieldType::F64 => expect_type(value, 1),
        FieldType::Str | FieldType::StrList | FieldType::Bytes | FieldType::BytesList => {
            expect_type(value, 2)
        }
        FieldType::Message(schema) | FieldType::MessageList(schema) => {
            expect_type(value, 2).and_then(|()| check_message(value.bytes, schema, depth_max))
        }
        FieldType::StrMap | FieldType::BytesMap => {
            expect_type(value, 2).and_then(|()| map_entry(value.bytes).map(|_| ()).map_err(fail))
        }
        FieldType::MessageMap(schema) => expect_type(value, 2)
            .and_then(|()| map_entry(value.bytes).map_err(fail))
            .and_then(|(_, message)| check_message(message, schema, depth_max)),
        FieldType::BoolList | FieldType::I32List | FieldType::I64List => match value.wire_type {
            2 => packed(value.bytes),
            _ => expect_type(value, 0),
        },
    };
    result.map_err(|failure| within(failure, field.json))
}

fn packed(mut bytes: &[u8]) -> Result<(), Failure> {
    while !bytes.is_empty() {
        bytes = varint(bytes).map_err(fail)?.1;
    }
    Ok(())
}

fn check_message(bytes: &[u8], schema: &'static Schema, depth_max: usize) -> Result<(), Failure> {
    // The fields of scalars need no check.
    let order = if schema.form == JsonForm::Scalar {
        &[]
    } else {
        schema.order
    };
    check_fields(bytes, schema, order, depth_max)
}
