//! The JSON form of messages without making it: which fields it has, and whether two are the same.

use super::json_encode::{Value as JsonValue, is_null, is_written};
use super::{Field, JsonScalar, Message, View};

/// Returns a field of a message, if the message's JSON includes it.
pub fn written_field(message: &dyn Message, index: usize) -> Option<(&'static Field, View<'_>)> {
    let field = message.schema().fields.get(index)?;
    let view = message.view(index)?;
    is_written(field, view).then_some((field, view))
}

/// Reports whether JSON has null for a field that it includes.
pub fn is_json_null(view: View<'_>) -> bool {
    is_null(view)
}

/// Returns the JSON of a field.
pub fn view_to_json(view: View<'_>) -> serde_json::Value {
    if is_null(view) {
        return serde_json::Value::Null;
    }
    serde_json::to_value(JsonValue(view)).unwrap_or(serde_json::Value::Null)
}

/// Reports whether two fields of one type have the same content. An absent message differs from an
/// empty one.
pub fn same_view(left: View<'_>, right: View<'_>) -> bool {
    match (left, right) {
        (View::Bool(left), View::Bool(right)) => left == right,
        (View::I32(left), View::I32(right)) => left == right,
        (View::I64(left), View::I64(right)) => left == right,
        (View::F64(left), View::F64(right)) => left.to_bits() == right.to_bits(),
        (View::Str(left), View::Str(right)) => left == right,
        (View::Bytes(left), View::Bytes(right)) => left == right,
        (View::OptBool(left), View::OptBool(right)) => left == right,
        (View::OptI32(left), View::OptI32(right)) => left == right,
        (View::OptI64(left), View::OptI64(right)) => left == right,
        (View::OptF64(left), View::OptF64(right)) => {
            left.map(f64::to_bits) == right.map(f64::to_bits)
        }
        (View::OptStr(left), View::OptStr(right)) => left == right,
        (View::OptBytes(left), View::OptBytes(right)) => left == right,
        (View::Message(left), View::Message(right)) => same_message(left, right),
        (View::OptMessage(left), View::OptMessage(right)) => match (left, right) {
            (Some(left), Some(right)) => same_message(left, right),
            (left, right) => left.is_none() == right.is_none(),
        },
        (View::StrList(left), View::StrList(right)) => left == right,
        (View::BoolList(left), View::BoolList(right)) => left == right,
        (View::I32List(left), View::I32List(right)) => left == right,
        (View::I64List(left), View::I64List(right)) => left == right,
        (View::BytesList(left), View::BytesList(right)) => left == right,
        (View::MessageList(left), View::MessageList(right)) => {
            let same_at = |at| match (left.at(at), right.at(at)) {
                (Some(left), Some(right)) => same_message(left, right),
                _ => false,
            };
            left.len() == right.len() && (0..left.len()).all(same_at)
        }
        (View::StrMap(left), View::StrMap(right)) => left == right,
        (View::BytesMap(left), View::BytesMap(right)) => left == right,
        (View::Serde(left), View::Serde(right)) => match (left.to_raw(), right.to_raw()) {
            (Ok(left), Ok(right)) => left.get() == right.get(),
            _ => false,
        },
        (View::MessageMap(left), View::MessageMap(right)) => {
            let mut pairs = left.entries().zip(right.entries());
            left.len() == right.len()
                && pairs.all(|(left, right)| left.0 == right.0 && same_message(left.1, right.1))
        }
        _ => false,
    }
}

/// Reports whether two messages of one type have the same content.
fn same_message(left: &dyn Message, right: &dyn Message) -> bool {
    let schema = left.schema();
    if !std::ptr::eq(schema, right.schema()) {
        return false;
    }
    match (left.scalar(), right.scalar()) {
        (JsonScalar::Null, JsonScalar::Null) => {}
        (left, right) => return left == right,
    }
    (0..schema.fields.len()).all(|index| match (left.view(index), right.view(index)) {
        (Some(left), Some(right)) => same_view(left, right),
        (left, right) => left.is_none() && right.is_none(),
    }) && left.others() == right.others()
}
