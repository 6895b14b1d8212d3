//! The structure check of JSON: well-formed text, and the JSON type of each field, in one pass.
//!
//! It is the JSON counterpart of the protobuf structure check: an object with a list in place of a
//! string is refused at once, not when it is decoded. Values (quantities, times, number ranges) are
//! not checked, and unknown fields may have any type.

use crate::wire::{FieldType, JsonForm, Schema, WireError, WireErrorKind};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Checks one object of `schema`.
pub(super) fn check(bytes: &[u8], schema: &'static Schema) -> Result<(), WireError> {
    let mut broken = None;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let shape = Shape {
        expects: Expects::of_message(schema),
        owner: schema.name,
        broken: &mut broken,
    };
    let result = shape
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end());
    match (result, broken) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(Broken { mut path, kind })) => {
            path.reverse();
            let path = path.concat();
            let path = path.strip_prefix('.').unwrap_or(&path).to_owned();
            Err(WireError { path, kind })
        }
        (Err(error), None) => Err(syntax(&error)),
    }
}

/// Returns the parser's message, without its position.
pub(super) fn syntax(error: &serde_json::Error) -> WireError {
    let (line, column) = (error.line(), error.column());
    let mut reason = error.to_string();
    if let Some(end) = reason.rfind(" at line ") {
        reason.truncate(end);
    }
    WireError::from(WireErrorKind::Syntax {
        reason,
        line,
        column,
    })
}

/// A value of the wrong type.
struct Broken {
    /// The path, innermost part first.
    path: Vec<String>,
    kind: WireErrorKind,
}

/// The expected JSON type of a value. Null is always valid and means absent.
#[derive(Clone, Copy)]
pub(super) enum Expects {
    Anything,
    Bool,
    Number,
    Text,
    /// Base64, or a list of numbers.
    Bytes,
    /// A string or a number, such as quantities and ports.
    Scalar(&'static str),
    Object(&'static Schema),
    List(Leaf),
    Map(Leaf),
}

/// The type of list items or map values.
#[derive(Clone, Copy)]
pub(super) enum Leaf {
    Bool,
    Number,
    Text,
    Bytes,
    Message(&'static Schema),
}

impl Leaf {
    pub(super) fn expects(self) -> Expects {
        match self {
            Self::Bool => Expects::Bool,
            Self::Number => Expects::Number,
            Self::Text => Expects::Text,
            Self::Bytes => Expects::Bytes,
            Self::Message(schema) => Expects::of_message(schema),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Number => "number",
            Self::Text | Self::Bytes => "string",
            Self::Message(schema) => schema.name,
        }
    }
}

impl Expects {
    pub(super) fn of_message(schema: &'static Schema) -> Self {
        match schema.form {
            JsonForm::Object => Self::Object(schema),
            JsonForm::Scalar => Self::Scalar(schema.name),
            JsonForm::Transparent => schema
                .fields
                .first()
                .map_or(Self::Anything, |field| Self::of_field(&field.ty)),
            JsonForm::Raw | JsonForm::Union => Self::Anything,
        }
    }

    pub(super) fn of_field(ty: &FieldType) -> Self {
        match *ty {
            FieldType::Bool => Self::Bool,
            FieldType::I32 | FieldType::I64 | FieldType::F64 => Self::Number,
            FieldType::Str => Self::Text,
            FieldType::Bytes => Self::Bytes,
            FieldType::Message(schema) => Self::of_message(schema),
            FieldType::BoolList => Self::List(Leaf::Bool),
            FieldType::I32List | FieldType::I64List => Self::List(Leaf::Number),
            FieldType::StrList => Self::List(Leaf::Text),
            FieldType::BytesList => Self::List(Leaf::Bytes),
            FieldType::MessageList(schema) => Self::List(Leaf::Message(schema)),
            FieldType::StrMap => Self::Map(Leaf::Text),
            FieldType::BytesMap => Self::Map(Leaf::Bytes),
            FieldType::MessageMap(schema) => Self::Map(Leaf::Message(schema)),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Anything => "anything".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Text | Self::Bytes => "string".to_owned(),
            Self::Scalar(name) => name.to_owned(),
            Self::Object(schema) => schema.name.to_owned(),
            Self::List(leaf) => format!("[]{}", leaf.name()),
            Self::Map(leaf) => format!("map[string]{}", leaf.name()),
        }
    }
}

struct Shape<'s> {
    expects: Expects,
    /// The message with the field.
    owner: &'static str,
    broken: &'s mut Option<Broken>,
}

impl Shape<'_> {
    fn refuse<T, E: Error>(self, found: &str) -> Result<T, E> {
        let kind = WireErrorKind::TypeMismatch {
            found: found.to_owned(),
            expected: self.expects.name(),
            message: self.owner,
        };
        let error = E::custom(&kind);
        *self.broken = Some(Broken {
            path: Vec::new(),
            kind,
        });
        Err(error)
    }

    fn number<E: Error>(self) -> Result<(), E> {
        match self.expects {
            Expects::Anything | Expects::Number | Expects::Scalar(_) => Ok(()),
            _ => self.refuse("number"),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Shape<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.expects {
            Expects::Anything => deserializer.deserialize_ignored_any(IgnoredAny).map(drop),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Shape<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expects.name())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        match self.expects {
            Expects::Bool => Ok(()),
            _ => self.refuse("bool"),
        }
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.number()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.number()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.number()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        match self.expects {
            Expects::Text | Expects::Bytes | Expects::Scalar(_) => Ok(()),
            _ => self.refuse("string"),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let leaf = match self.expects {
            Expects::List(leaf) => leaf,
            Expects::Bytes => Leaf::Number,
            _ => return self.refuse("array"),
        };
        let mut index = 0usize;
        loop {
            let item = Shape {
                expects: leaf.expects(),
                owner: self.owner,
                broken: &mut *self.broken,
            };
            match items.next_element_seed(item) {
                Ok(Some(())) => index += 1,
                Ok(None) => return Ok(()),
                Err(error) => return Err(at(self.broken, format!("[{index}]"), error)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let schema = match self.expects {
            Expects::Object(schema) => schema,
            Expects::Map(leaf) => return self.visit_pairs(leaf, members),
            _ => return self.refuse("object"),
        };
        let mut hint = 0;
        while let Some(found) = members.next_key_seed(FieldName { schema, hint })? {
            let Some(index) = found else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            hint = index + 1;
            let field = &schema.fields[index];
            let value = Shape {
                expects: Expects::of_field(&field.ty),
                owner: schema.name,
                broken: &mut *self.broken,
            };
            if let Err(error) = members.next_value_seed(value) {
                return Err(at(self.broken, format!(".{}", field.json), error));
            }
        }
        Ok(())
    }
}

impl Shape<'_> {
    /// As in upstream, an error names the map, not the key.
    fn visit_pairs<'de, A: MapAccess<'de>>(
        self,
        leaf: Leaf,
        mut members: A,
    ) -> Result<(), A::Error> {
        while members.next_key::<IgnoredAny>()?.is_some() {
            members.next_value_seed(Shape {
                expects: leaf.expects(),
                owner: self.owner,
                broken: &mut *self.broken,
            })?;
        }
        Ok(())
    }
}

/// Adds a path element to the error, if that is why the parser stopped.
fn at<E>(broken: &mut Option<Broken>, place: String, error: E) -> E {
    if let Some(broken) = broken {
        broken.path.push(place);
    }
    error
}

/// Returns the index of the field that a key names.
struct FieldName {
    schema: &'static Schema,
    hint: usize,
}

impl<'de> DeserializeSeed<'de> for FieldName {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldName {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.schema.index_by_name(name, self.hint))
    }
}
