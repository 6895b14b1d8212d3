//! [`Type`]: a CEL type, as the checker sees it.
//!
//! Types are small and cheap to clone. An object type carries its fields, so that no registry of
//! type names is needed. Two object types are equal if their names are.

use crate::declared::Object;
use std::fmt;
use std::sync::Arc;

/// A CEL type.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "CEL has these types and no others")]
pub enum Type {
    /// The type of an expression that has an error.
    Error,
    /// Any type; checks are deferred to the evaluation.
    Dyn,
    /// A protobuf `Any`, which is checked like [`Type::Dyn`].
    Any,
    /// The type of `null`.
    Null,
    /// `bool`.
    Bool,
    /// `int`, 64 bits.
    Int,
    /// `uint`, 64 bits.
    Uint,
    /// `double`, 64 bits.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// A point in time.
    Timestamp,
    /// A signed span of time.
    Duration,
    /// A list of elements of one type.
    List(Arc<Self>),
    /// A map of keys of one type to values of another.
    Map(Arc<(Self, Self)>),
    /// An object with declared fields.
    Object(Arc<Object>),
    /// A type that only functions look into, with parameters.
    Opaque(Arc<(Name, Vec<Self>)>),
    /// The type of a type, of which one if known.
    Type(Option<Arc<Self>>),
    /// A type parameter of a function, or a free variable of the checker.
    Parameter(Parameter),
    /// A primitive type or null.
    Wrapper(Arc<Self>),
}

/// A type name.
pub type Name = Arc<str>;

/// A type parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "there are these two kinds")]
pub enum Parameter {
    /// A parameter of a function's signature: an upper-case letter.
    Named(char),
    /// A variable that the checker created.
    Free(u32),
}

/// The name of the optional type.
pub(crate) const OPTIONAL: &str = "optional_type";

impl Type {
    /// Returns a list type.
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// Returns a map type.
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    /// Returns an optional type.
    pub fn optional(value: Self) -> Self {
        Self::opaque(OPTIONAL, vec![value])
    }

    /// Returns an opaque type.
    pub fn opaque(name: &str, parameters: Vec<Self>) -> Self {
        Self::Opaque(Arc::new((name.into(), parameters)))
    }

    /// Returns an object type without fields, which only functions look into.
    pub fn object(name: &str) -> Self {
        Self::Object(Arc::new(Object::named(name)))
    }

    /// Returns the type of a type.
    pub fn of(kind: Self) -> Self {
        Self::Type(Some(Arc::new(kind)))
    }

    /// Returns the runtime name, which `type()` compares.
    pub fn name(&self) -> Name {
        match self {
            Self::Object(object) => Arc::clone(&object.name),
            Self::Opaque(opaque) => Arc::clone(&opaque.0),
            Self::Wrapper(wrapped) => wrapped.name(),
            Self::Parameter(it) => it.to_string().into(),
            other => other.static_name().into(),
        }
    }

    const fn static_name(&self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Dyn => "dyn",
            Self::Any => "google.protobuf.Any",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Duration => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Object(_) | Self::Opaque(_) | Self::Parameter(_) | Self::Wrapper(_) => "",
        }
    }

    /// Reports whether the type is dynamic.
    pub const fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    /// Reports whether the type is dynamic or an error.
    pub(crate) const fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// Returns the type within an optional type.
    pub fn optional_value(&self) -> Option<&Self> {
        match self {
            Self::Opaque(opaque) if &*opaque.0 == OPTIONAL => opaque.1.first(),
            _ => None,
        }
    }

    /// Reports whether two types are of one kind, whatever their names and parameters.
    pub(crate) fn same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self.unwrapped()) == std::mem::discriminant(other.unwrapped())
    }

    fn unwrapped(&self) -> &Self {
        match self {
            Self::Wrapper(wrapped) => wrapped,
            other => other,
        }
    }

    /// Reports whether two types are the same, type parameters by name if `names` says so.
    pub(crate) fn is_same(&self, other: &Self, names: bool) -> bool {
        match (self.unwrapped(), other.unwrapped()) {
            (Self::List(a), Self::List(b)) => a.is_same(b, names),
            (Self::Map(a), Self::Map(b)) => a.0.is_same(&b.0, names) && a.1.is_same(&b.1, names),
            (Self::Object(a), Self::Object(b)) => a.name == b.name,
            (Self::Opaque(a), Self::Opaque(b)) => {
                a.0 == b.0
                    && a.1.len() == b.1.len()
                    && a.1.iter().zip(&b.1).all(|(a, b)| a.is_same(b, names))
            }
            (Self::Parameter(a), Self::Parameter(b)) => !names || a == b,
            (Self::Type(a), Self::Type(b)) => match (a, b) {
                (Some(a), Some(b)) => a.is_same(b, names),
                (a, b) => a.is_none() == b.is_none(),
            },
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }

    /// Reports whether a value of `from` can stand where this type is expected, without variables.
    pub(crate) fn accepts(&self, from: &Self) -> bool {
        match (self, from) {
            (Self::Dyn | Self::Any | Self::Parameter(_), _) => true,
            (Self::Wrapper(wrapped), _) => matches!(from, Self::Null) || wrapped.accepts(from),
            (Self::List(a), Self::List(b)) | (Self::Type(Some(a)), Self::Type(Some(b))) => {
                a.accepts(b)
            }
            (Self::Map(a), Self::Map(b)) => a.0.accepts(&b.0) && a.1.accepts(&b.1),
            (Self::Opaque(a), Self::Opaque(b)) => {
                a.0 == b.0
                    && a.1.len() == b.1.len()
                    && a.1.iter().zip(&b.1).all(|(a, b)| a.accepts(b))
            }
            (a, b) => a.is_same(b, true),
        }
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        matches!(self, Self::Wrapper(_)) == matches!(other, Self::Wrapper(_))
            && self.is_same(other, true)
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "{name}"),
            Self::Free(number) => write!(f, "_var{number}"),
        }
    }
}

/// The words of upstream's type checker.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => f.write_str("!error!"),
            Self::Any => f.write_str("any"),
            Self::Null => f.write_str("null"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::Duration => f.write_str("duration"),
            Self::List(element) => write!(f, "list({element})"),
            Self::Map(map) => write!(f, "map({}, {})", map.0, map.1),
            Self::Object(object) => f.write_str(&object.name),
            Self::Opaque(opaque) => {
                f.write_str(&opaque.0)?;
                for (at, it) in opaque.1.iter().enumerate() {
                    write!(f, "{}{it}", if at == 0 { "(" } else { ", " })?;
                }
                f.write_str(if opaque.1.is_empty() { "" } else { ")" })
            }
            Self::Type(Some(of)) => write!(f, "type({of})"),
            Self::Parameter(it) => it.fmt(f),
            Self::Wrapper(wrapped) => write!(f, "wrapper({wrapped})"),
            other => f.write_str(other.static_name()),
        }
    }
}
