//! `ScalarField`: reads one scalar field of a kind from encoded and decoded objects.

use super::json;
use crate::Str;
use crate::wire::raw_field::map_entry;
use crate::wire::serde_field::{is_serde_field, scalar_at};
use crate::wire::{
    Encoding, FieldType, JsonForm, Message, RawField, Schema, View, int32, raw_fields,
};
use std::borrow::Cow;

/// A path such as `spec.nodeName` or `metadata.labels.app`, resolved once against a schema.
///
/// The path leads through messages to a string, a bool, an integer, or a value of a string map,
/// whose key is the rest of the path. It cannot enter lists. Below a
/// [`SerdeField`](crate::wire::SerdeField), such as the spec of a custom resource, the path is not
/// checked, and leads through objects to any scalar; a dot always separates names there.
///
/// ```
/// use kubist_apimachinery::OBJECT_META;
/// use kubist_apimachinery::wire::{Encoding, ScalarField};
///
/// let path = ScalarField::new(&OBJECT_META, "labels.app.kubernetes.io/name")?;
/// let json = br#"{"name": "web-0", "labels": {"app.kubernetes.io/name": "web"}}"#;
/// assert_eq!(path.find(json, Encoding::Json), "web");
/// # Ok::<(), kubist_apimachinery::wire::ScalarFieldError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScalarField {
    text: Str,
    /// The field indexes, for decoded messages.
    indexes: Box<[u16]>,
    /// The JSON names.
    names: Box<[Str]>,
    /// The names below a [`SerdeField`](crate::wire::SerdeField); `names` ends with them.
    below: usize,
    /// The protobuf numbers; a group that is inline in JSON has its own.
    numbers: Box<[u32]>,
    /// The key, if the leaf is a map.
    key: Option<Str>,
    leaf: Leaf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    Text,
    Bool,
    I32,
    I64,
    /// Any JSON scalar.
    Json,
}

/// The path does not lead to a scalar field of the kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} is not a scalar field of {kind}")]
pub struct ScalarFieldError {
    /// The path.
    pub path: Str,
    /// The kind, or the name of the message.
    pub kind: &'static str,
}

impl ScalarField {
    /// Resolves a path.
    ///
    /// # Errors
    /// There is no such field, or it is not a scalar.
    pub fn new(schema: &'static Schema, path: &str) -> Result<Self, ScalarFieldError> {
        Self::resolve(schema, path).ok_or_else(|| ScalarFieldError {
            path: path.into(),
            kind: schema.name,
        })
    }

    fn resolve(mut schema: &'static Schema, path: &str) -> Option<Self> {
        let (mut indexes, mut names, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let mut rest = Some(path);
        loop {
            let remaining = rest?;
            let (name, after) = match remaining.split_once('.') {
                Some((name, after)) => (name, Some(after)),
                None => (remaining, None),
            };
            if schema.form != JsonForm::Object {
                return None;
            }
            let index = schema.index_by_name(name, 0)?;
            let field = &schema.fields[index];
            numbers.extend(schema.groups_of(index)?);
            numbers.push(field.number);
            indexes.push(u16::try_from(index).ok()?);
            names.push(Str::from(field.json));
            if let FieldType::Message(inner) = field.ty
                && is_serde_field(inner)
            {
                let below = after.filter(|it| it.split('.').all(|name| !name.is_empty()))?;
                let outer = names.len();
                names.extend(below.split('.').map(Str::from));
                numbers.push(1);
                return Some(Self {
                    text: path.into(),
                    indexes: indexes.into(),
                    below: names.len() - outer,
                    names: names.into(),
                    numbers: numbers.into(),
                    key: None,
                    leaf: Leaf::Json,
                });
            }
            let (leaf, key) = match field.ty {
                FieldType::Message(inner) => {
                    schema = inner;
                    rest = after;
                    continue;
                }
                FieldType::StrMap => (Leaf::Text, Some(Str::from(after?))),
                FieldType::Str => (Leaf::Text, None),
                FieldType::Bool => (Leaf::Bool, None),
                FieldType::I32 => (Leaf::I32, None),
                FieldType::I64 => (Leaf::I64, None),
                _ => return None,
            };
            if key.is_none() && after.is_some() {
                return None;
            }
            return Some(Self {
                text: path.into(),
                indexes: indexes.into(),
                names: names.into(),
                below: 0,
                numbers: numbers.into(),
                key,
                leaf,
            });
        }
    }

    /// Returns the path as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the value in an encoded object; empty if it is absent or the bytes are malformed
    /// before it.
    pub fn find<'b>(&self, bytes: &'b [u8], encoding: Encoding) -> Cow<'b, str> {
        match encoding {
            Encoding::Json => {
                let found = find_json(bytes.trim_ascii(), &self.names, self.key.as_deref());
                found.unwrap_or_default()
            }
            Encoding::Protobuf => {
                let mut found = Cow::Borrowed("");
                self.find_protobuf(bytes, &self.numbers, &mut found);
                found
            }
        }
    }

    fn find_protobuf<'b>(&self, bytes: &'b [u8], numbers: &[u32], found: &mut Cow<'b, str>) {
        let Some((&number, further)) = numbers.split_first() else {
            return;
        };
        for field in raw_fields(bytes) {
            let Ok(field) = field else { return };
            if field.number != number {
                continue;
            }
            if !further.is_empty() {
                self.find_protobuf(field.bytes, further, found);
            } else if let Some(wanted) = &self.key {
                match map_entry(field.bytes) {
                    Ok((key, value)) if key == wanted.as_bytes() => *found = text(value),
                    _ => {}
                }
            } else {
                *found = self.scalar(&field);
            }
        }
    }

    fn below(&self) -> &[Str] {
        let outer = self.names.len() - self.below;
        self.names.get(outer..).unwrap_or_default()
    }

    fn scalar<'b>(&self, field: &RawField<'b>) -> Cow<'b, str> {
        match self.leaf {
            Leaf::Text => text(field.bytes),
            Leaf::Bool => Cow::Borrowed(if field.varint == 0 { "false" } else { "true" }),
            Leaf::I32 => Cow::Owned(int32(field.varint).to_string()),
            Leaf::I64 => Cow::Owned(field.varint.cast_signed().to_string()),
            Leaf::Json => {
                let found = find_json(field.bytes.trim_ascii(), self.below(), None);
                found.unwrap_or_default()
            }
        }
    }

    /// Returns the value in a decoded object of the same schema; empty if it is absent.
    pub fn find_in<'m>(&self, message: &'m dyn Message) -> Cow<'m, str> {
        self.view_in(message).unwrap_or_default()
    }

    fn view_in<'m>(&self, mut message: &'m dyn Message) -> Option<Cow<'m, str>> {
        let (&last, path) = self.indexes.split_last()?;
        for &index in path {
            message = match message.view(usize::from(index))? {
                View::Message(inner) | View::OptMessage(Some(inner)) => inner,
                _ => return None,
            };
        }
        let number = |value: i64| Cow::Owned(value.to_string());
        Some(match message.view(usize::from(last))? {
            View::Str(text) | View::OptStr(Some(text)) => Cow::Borrowed(text.as_str()),
            View::Bool(value) | View::OptBool(Some(value)) => {
                Cow::Borrowed(if value { "true" } else { "false" })
            }
            View::I32(value) | View::OptI32(Some(value)) => number(value.into()),
            View::I64(value) | View::OptI64(Some(value)) => number(value),
            View::Serde(field) => {
                let names = self.below().iter().map(Str::as_str);
                Cow::Owned(scalar_at(field, names)?)
            }
            View::StrMap(map) => Cow::Borrowed(map.get(self.key.as_deref()?)?.as_str()),
            _ => return None,
        })
    }
}

/// Returns the last value at the names and the key. Members may be repeated, because objects merge.
fn find_json<'b>(value: &'b [u8], names: &[Str], key: Option<&str>) -> Option<Cow<'b, str>> {
    let (name, names, key) = match (names, key) {
        ([name, names @ ..], key) => (name.as_str(), names, key),
        ([], Some(key)) => (key, names, None),
        ([], None) if value.first() == Some(&b'"') => return json::unescaped(value),
        // A list or an object below a `SerdeField` is no scalar.
        ([], None) if matches!(value.first(), Some(b'{' | b'[')) => return None,
        ([], None) => return std::str::from_utf8(value).ok().map(Cow::Borrowed),
    };
    let found = json::members(value, name).filter_map(|value| find_json(value, names, key));
    found.last()
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    Cow::Borrowed(std::str::from_utf8(bytes).unwrap_or_default())
}
