//! JSON encoding through serde, driven by schemas.
//!
//! The rules are upstream's: `omitempty` fields are omitted when zero, but struct values never are;
//! a list that is always written is `null` when empty (Go's nil slice), except the `items` of a
//! list kind. A kind at the root begins with `kind` and `apiVersion`.

use super::{Field, FieldFlags, JsonForm, JsonScalar, Message, MessageList, View};
use crate::Str;
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

/// A message that implements serde's `Serialize`.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a> {
    message: &'a dyn Message,
    type_meta: bool,
}

impl<'a> Json<'a> {
    /// Serializes as a root: a kind begins with `kind` and `apiVersion`.
    pub fn top(message: &'a dyn Message) -> Self {
        Self {
            message,
            type_meta: true,
        }
    }

    /// Serializes as part of another message, without type meta.
    pub fn part(message: &'a dyn Message) -> Self {
        Self {
            message,
            type_meta: false,
        }
    }
}

/// Returns the text that serde makes of a message.
#[cfg(test)]
pub(super) fn to_json_by_serde(message: &dyn Message) -> Vec<u8> {
    serde_json::to_vec(&Json::top(message)).expect("it has a JSON form")
}

/// Returns a message as a JSON tree.
pub fn to_json_value(message: &dyn Message) -> serde_json::Value {
    serde_json::to_value(Json::top(message)).unwrap_or(serde_json::Value::Null)
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let schema = self.message.schema();
        match schema.form {
            JsonForm::Scalar => match self.message.scalar() {
                JsonScalar::Null => serializer.serialize_unit(),
                JsonScalar::Bool(value) => serializer.serialize_bool(value),
                JsonScalar::Int(value) => serializer.serialize_i64(value),
                JsonScalar::Float(value) => serializer.serialize_f64(value),
                JsonScalar::Str(text) => serializer.serialize_str(&text),
            },
            JsonForm::Transparent => match self.message.view(0) {
                Some(view) => Value(view).serialize(serializer),
                None => serializer.serialize_unit(),
            },
            JsonForm::Raw => {
                let text = self.message.raw_json();
                if text.is_empty() {
                    return serializer.serialize_unit();
                }
                match serde_json::from_str::<&RawValue>(&text) {
                    Ok(raw) => raw.serialize(serializer),
                    Err(_) => serializer.serialize_unit(),
                }
            }
            JsonForm::Union => Value(union_view(self.message)).serialize(serializer),
            JsonForm::Object => {
                let mut map = serializer.serialize_map(None)?;
                if self.type_meta
                    && let Some(kind) = &schema.kind
                {
                    map.serialize_entry("kind", kind.kind)?;
                    map.serialize_entry("apiVersion", kind.api_version)?;
                }
                for (index, field) in schema.fields.iter().enumerate() {
                    if let Some(view) = self.message.view(index)
                        && is_written(field, view)
                    {
                        map.serialize_entry(field.json, &Entry(field, view))?;
                    }
                }
                for (name, value) in self.message.others().into_iter().flatten() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

/// Returns the field that represents a union: an object before a list before a bool.
pub(super) fn union_view(message: &dyn Message) -> View<'_> {
    let views = || (0..).map_while(|index| message.view(index));
    let set = |view: &View<'_>| !matches!(view, View::Bool(_)) && !is_zero(*view);
    views()
        .find(set)
        .or_else(|| views().find(|view| matches!(view, View::Bool(_))))
        .unwrap_or(View::OptMessage(None))
}

/// Reports whether JSON includes this field.
pub(super) fn is_written(field: &Field, view: View<'_>) -> bool {
    if field.flags.has(FieldFlags::PROTOBUF_ONLY) {
        return false;
    }
    if field.flags.has(FieldFlags::OMIT_ZERO) && is_zero(view) {
        return false;
    }
    if !field.flags.has(FieldFlags::OMIT_EMPTY) {
        return true;
    }
    match view {
        // A Go struct value is never empty; a zero `metav1.Time` value is written as null.
        View::Message(_) => true,
        View::OptMessage(None) => !field.flags.has(FieldFlags::POINTER),
        _ => !is_zero(view),
    }
}

pub(super) fn is_zero(view: View<'_>) -> bool {
    match view {
        View::Bool(value) => !value,
        View::I32(value) => value == 0,
        View::I64(value) => value == 0,
        View::F64(value) => value == 0.0,
        View::Str(value) => value.is_empty(),
        View::Bytes(value) => value.is_empty(),
        View::OptBool(value) => value.is_none(),
        View::OptI32(value) => value.is_none(),
        View::OptI64(value) => value.is_none(),
        View::OptF64(value) => value.is_none(),
        View::OptStr(value) => value.is_none(),
        View::OptBytes(value) => value.is_none(),
        View::OptMessage(value) => value.is_none(),
        View::Message(message) => is_zero_message(message),
        View::Serde(_) => false,
        View::StrList(list) => list.is_empty(),
        View::BoolList(list) => list.is_empty(),
        View::I32List(list) => list.is_empty(),
        View::I64List(list) => list.is_empty(),
        View::BytesList(list) => list.is_empty(),
        View::MessageList(list) => list.is_empty(),
        View::StrMap(map) => map.is_empty(),
        View::BytesMap(map) => map.is_empty(),
        View::MessageMap(map) => map.is_empty(),
    }
}

pub(super) fn is_zero_message(message: &dyn Message) -> bool {
    let fields = message.schema().fields.len();
    (0..fields).all(|index| message.view(index).is_none_or(is_zero))
}

/// Serializes a field that is included even if it is zero.
struct Entry<'a>(&'a Field, View<'a>);

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items = self.0.json == "items" && self.0.flags.has(FieldFlags::REQUIRED);
        match self.1 {
            View::MessageList(list) if list.is_empty() && items => {
                serializer.serialize_seq(Some(0))?.end()
            }
            view if is_null(view) => serializer.serialize_unit(),
            View::Serde(field) => match field.to_raw() {
                Ok(raw) => raw.serialize(serializer),
                Err(error) => Err(S::Error::custom(format_args!("{}: {error}", self.0.json))),
            },
            view => Value(view).serialize(serializer),
        }
    }
}

pub(super) fn is_null(view: View<'_>) -> bool {
    match view {
        View::Bool(_)
        | View::I32(_)
        | View::I64(_)
        | View::F64(_)
        | View::Str(_)
        | View::Message(_)
        | View::Serde(_) => false,
        view => is_zero(view),
    }
}

/// A view that implements serde's `Serialize`.
pub(super) struct Value<'a>(pub(super) View<'a>);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            View::Bool(value) | View::OptBool(Some(value)) => serializer.serialize_bool(value),
            View::I32(value) | View::OptI32(Some(value)) => serializer.serialize_i32(value),
            View::I64(value) | View::OptI64(Some(value)) => serializer.serialize_i64(value),
            View::F64(value) | View::OptF64(Some(value)) => serialize_double(value, serializer),
            View::Str(text) | View::OptStr(Some(text)) => serializer.serialize_str(text),
            View::Bytes(bytes) | View::OptBytes(Some(bytes)) => {
                serializer.serialize_str(&bytes.to_base64())
            }
            View::Message(message) | View::OptMessage(Some(message)) => {
                Json::part(message).serialize(serializer)
            }
            View::Serde(field) => {
                let raw = field.to_raw().map_err(S::Error::custom)?;
                raw.serialize(serializer)
            }
            View::StrList(list) => serializer.collect_seq(list),
            View::BoolList(list) => serializer.collect_seq(list),
            View::I32List(list) => serializer.collect_seq(list),
            View::I64List(list) => serializer.collect_seq(list),
            View::BytesList(list) => {
                serializer.collect_seq(list.iter().map(crate::ByteString::to_base64))
            }
            View::MessageList(list) => serialize_list(list, serializer),
            View::StrMap(map) => serializer.collect_map(map),
            View::BytesMap(map) => {
                serializer.collect_map(map.iter().map(|(key, bytes)| (key, bytes.to_base64())))
            }
            View::MessageMap(map) => serializer.collect_map(
                map.entries()
                    .map(|(key, message): (&Str, _)| (key, Json::part(message))),
            ),
            View::OptBool(None)
            | View::OptI32(None)
            | View::OptI64(None)
            | View::OptF64(None)
            | View::OptStr(None)
            | View::OptBytes(None)
            | View::OptMessage(None) => serializer.serialize_unit(),
        }
    }
}

/// Serializes a double; like Go, a whole one has no fraction.
fn serialize_double<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    match whole(value) {
        Some(whole) => serializer.serialize_i64(whole),
        None => serializer.serialize_f64(value),
    }
}

/// Returns a double that is written without a fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be whole and small"
)]
#[expect(clippy::cast_precision_loss, reason = "compared with the original")]
pub(super) fn whole(value: f64) -> Option<i64> {
    let whole = value as i64;
    (value.abs() < 1e15 && (whole as f64).to_bits() == value.to_bits()).then_some(whole)
}

fn serialize_list<S: Serializer>(list: &dyn MessageList, serializer: S) -> Result<S::Ok, S::Error> {
    let mut seq = serializer.serialize_seq(Some(list.len()))?;
    for item in (0..list.len()).filter_map(|index| list.at(index)) {
        seq.serialize_element(&Json::part(item))?;
    }
    seq.end()
}
