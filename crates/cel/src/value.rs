//! [`Value`]: a CEL value, which borrows what it can.
//!
//! A value of an object is a view of its JSON: nothing is copied until it is asked for. `'a` is the
//! lifetime of the object and of the program. Values are cheap to clone.

pub(crate) mod arithmetic;
pub(crate) mod civil;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod duration;
pub(crate) mod format;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod map;
pub(crate) mod opaque;
pub(crate) mod text;
pub(crate) mod timestamp;
mod to_json;

use crate::cel_type::{Name, Type};
pub use duration::Duration;
pub use list::List;
pub use map::{Key, Map};
pub use opaque::{Opaque, OpaqueValue};
use std::sync::Arc;
pub use text::{Blob, Text};
pub use timestamp::Timestamp;

/// A CEL value.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "CEL has these values and no others"
)]
pub enum Value<'a> {
    /// `null`.
    #[default]
    Null,
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    Int(i64),
    /// A `uint`.
    Uint(u64),
    /// A `double`.
    Double(f64),
    /// A `string`.
    String(Text<'a>),
    /// `bytes`.
    Bytes(Blob<'a>),
    /// A point in time.
    Timestamp(Timestamp),
    /// A span of time.
    Duration(Duration),
    /// A list.
    List(List<'a>),
    /// A map or an object.
    Map(Map<'a>),
    /// A type.
    Type(Arc<Type>),
    /// An optional value.
    Optional(Option<Arc<Self>>),
    /// A value of a library's type.
    Opaque(Opaque),
    /// A JSON value of unknown type.
    Preserved(&'a serde_json::Value),
}

impl<'a> Value<'a> {
    /// Creates a string.
    pub fn string(text: impl Into<Text<'a>>) -> Self {
        Self::String(text.into())
    }

    /// Creates a list.
    pub fn list(values: Vec<Self>) -> Self {
        Self::List(List::from(values))
    }

    /// Creates an optional value.
    pub fn optional(value: Option<Self>) -> Self {
        Self::Optional(value.map(Arc::new))
    }

    /// Returns the type's runtime name.
    pub fn type_name(&self) -> Name {
        self.runtime_type().name()
    }

    /// Returns the type as `type()` does: lists and maps are of `dyn`.
    pub fn runtime_type(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Duration(_) => Type::Duration,
            Self::List(_) => Type::list(Type::Dyn),
            Self::Map(map) => map.message_name().map_or_else(
                || Type::map(Type::Dyn, Type::Dyn),
                |name| Type::Object(Arc::new(crate::declared::Object::dynamic(name))),
            ),
            Self::Type(_) => Type::Type(None),
            Self::Optional(_) => Type::optional(Type::Dyn),
            Self::Opaque(value) => value.runtime_type(),
            Self::Preserved(_) => Type::opaque("unknown", Vec::new()),
        }
    }

    /// Returns the value that `size()` returns: characters, bytes, elements or entries.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::String(text) => Some(text.characters()),
            Self::Bytes(bytes) => Some(bytes.as_slice().len() as u64),
            Self::List(list) => Some(list.len() as u64),
            Self::Map(map) => Some(map.len() as u64),
            Self::Opaque(value) => value.size(),
            _ => None,
        }
    }

    /// Reports whether the value is the zero value of its type.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null | Self::Bool(false) | Self::Int(0) | Self::Uint(0) => true,
            Self::Double(number) => *number == 0.0,
            Self::String(_) | Self::Bytes(_) | Self::List(_) | Self::Map(_) => {
                self.size() == Some(0)
            }
            Self::Duration(it) => it.nanoseconds() == 0,
            Self::Timestamp(it) => it.is_zero(),
            Self::Opaque(value) => value.is_zero(),
            _ => false,
        }
    }

    /// Returns the string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the integer.
    pub const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the value as one that borrows nothing that is shared.
    pub(crate) fn borrowed(&self) -> Value<'_> {
        match self {
            Self::String(text) => Value::String(Text::Borrowed(text.as_str())),
            Self::Bytes(bytes) => Value::Bytes(Blob::Borrowed(bytes.as_slice())),
            other => other.clone(),
        }
    }

    /// Reports whether a value can be given where a type is expected, as upstream's dispatch does.
    #[expect(clippy::unnested_or_patterns, reason = "pairs are easier to read")]
    pub(crate) fn fits(&self, kind: &Type) -> bool {
        match (kind, self) {
            (Type::Dyn | Type::Any | Type::Parameter(_), _)
            | (Type::Wrapper(_), Self::Null)
            | (Type::Null, Self::Null)
            | (Type::Bool, Self::Bool(_))
            | (Type::Int, Self::Int(_))
            | (Type::Uint, Self::Uint(_))
            | (Type::Double, Self::Double(_))
            | (Type::String, Self::String(_))
            | (Type::Bytes, Self::Bytes(_))
            | (Type::Timestamp, Self::Timestamp(_))
            | (Type::Duration, Self::Duration(_))
            | (Type::Type(_), Self::Type(_)) => true,
            (Type::Wrapper(wrapped), value) => value.fits(wrapped),
            (Type::List(element), Self::List(list)) => {
                element.is_dyn()
                    || list.is_empty()
                    || list
                        .get(0)
                        .is_ok_and(|it| it.is_none_or(|it| it.fits(element)))
            }
            (Type::Map(types), Self::Map(map)) => {
                types.0.is_dyn() && types.1.is_dyn()
                    || map.first().is_none_or(|(key, value)| {
                        key.fits(&types.0) && value.is_ok_and(|it| it.fits(&types.1))
                    })
            }
            (Type::Object(object), Self::Map(map)) => map.message_name() == Some(&*object.name),
            (Type::Object(object), Self::Opaque(value)) => {
                object.name == value.runtime_type().name()
            }
            (Type::Opaque(opaque), Self::Opaque(value)) => opaque.0 == value.runtime_type().name(),
            (Type::Opaque(_), Self::Optional(_)) => kind.optional_value().is_some(),
            _ => false,
        }
    }
}
