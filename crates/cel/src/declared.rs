//! [`Declared`]: what a schema declares about a JSON value, for the checker, the cost estimate and
//! the lazy view of the value.
//!
//! A declared type has a size limit at each level, so that costs can be estimated, and says how
//! JSON becomes a CEL value: which strings are times, which lists are sets. It is not a schema: it
//! validates nothing.

use crate::cel_type::{Name, Type};
use std::sync::Arc;

/// A declared type.
#[derive(Debug, Clone)]
pub struct Declared {
    /// What the value is.
    pub kind: Kind,
    /// The largest size: characters of a string, bytes, elements of a list, entries of a map.
    pub max_elements: u64,
    /// The smallest number of bytes that a value has as JSON.
    pub min_serialized_size: u64,
    /// Reports whether `null` is a value.
    pub nullable: bool,
}

/// What a declared value is.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_enums,
    reason = "structural schemas have these kinds"
)]
pub enum Kind {
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// A base64 string, which is `bytes`.
    Bytes,
    /// A string that is a date and a time, which is a `timestamp`.
    DateTime,
    /// A string that is a date, which is a `timestamp`.
    Date,
    /// A string that is a `duration`.
    Duration,
    /// An integer or a string, which is `dyn`.
    IntOrString,
    /// Anything, as it is in JSON, which is `dyn`.
    Dyn,
    /// A value of unknown type, which can only be compared for equality.
    Preserved,
    /// A list of items.
    List(Arc<Declared>, ListKind),
    /// A map of strings to values.
    Map(Arc<Declared>),
    /// An object.
    Object(Arc<Object>),
}

/// How lists are compared and concatenated.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_enums,
    reason = "x-kubernetes-list-type has these values"
)]
pub enum ListKind {
    /// In order.
    Atomic,
    /// As a set of scalars: without order.
    Set,
    /// As a map by these keys, which are escaped: without order.
    Map(Arc<[Name]>),
}

/// An object type: a name and fields.
#[derive(Debug, Clone)]
pub struct Object {
    /// The type's name.
    pub name: Name,
    /// The fields, sorted by their names in JSON.
    fields: Vec<Field>,
    /// The indexes of fields that expressions can name, sorted by escaped name.
    escaped: Vec<u32>,
    /// Reports whether functions of a library own the type.
    is_foreign: bool,
    /// Reports whether the type has every field, of any type.
    is_dynamic: bool,
}

/// A field of an object.
#[derive(Debug, Clone)]
pub struct Field {
    /// The name in JSON.
    pub name: Name,
    /// The name in expressions, if there is one.
    pub escaped: Option<Name>,
    /// The type.
    pub declared: Arc<Declared>,
    /// Reports whether expressions can name the field.
    pub exposed: bool,
}

impl Declared {
    /// Declares a value without a size limit of its own.
    pub const fn new(kind: Kind, max_elements: u64, min_serialized_size: u64) -> Self {
        Self {
            kind,
            max_elements,
            min_serialized_size,
            nullable: false,
        }
    }

    /// Returns the CEL type.
    pub fn cel_type(&self) -> Type {
        match &self.kind {
            Kind::Bool => Type::Bool,
            Kind::Int => Type::Int,
            Kind::Double => Type::Double,
            Kind::String => Type::String,
            Kind::Bytes => Type::Bytes,
            Kind::DateTime | Kind::Date => Type::Timestamp,
            Kind::Duration => Type::Duration,
            Kind::IntOrString | Kind::Dyn | Kind::Preserved => Type::Dyn,
            Kind::List(items, _) => Type::list(items.cel_type()),
            Kind::Map(values) => Type::map(Type::String, values.cel_type()),
            Kind::Object(object) => Type::Object(Arc::clone(object)),
        }
    }

    /// Returns the declared elements of a list or the values of a map.
    pub fn elements(&self) -> Option<&Arc<Self>> {
        match &self.kind {
            Kind::List(elements, _) | Kind::Map(elements) => Some(elements),
            _ => None,
        }
    }
}

impl Object {
    /// Creates an object type from its fields.
    pub fn new(name: &str, mut fields: Vec<Field>) -> Self {
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        let mut escaped: Vec<u32> = (0_u32..)
            .zip(&fields)
            .filter(|(_, field)| field.exposed && field.escaped.is_some())
            .map(|(at, _)| at)
            .collect();
        escaped.sort_by(|a, b| {
            fields[*a as usize]
                .escaped
                .cmp(&fields[*b as usize].escaped)
        });
        Self {
            name: name.into(),
            fields,
            escaped,
            is_foreign: false,
            is_dynamic: false,
        }
    }

    /// Creates an object type that has every field, of any type.
    pub(crate) fn dynamic(name: &str) -> Self {
        Self {
            is_dynamic: true,
            ..Self::new(name, Vec::new())
        }
    }

    /// Creates an object type without fields, which only functions look into.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            is_foreign: true,
            ..Self::new(name, Vec::new())
        }
    }

    /// Reports whether the type belongs to a library.
    pub(crate) const fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Reports whether the type has every field.
    pub(crate) const fn is_dynamic(&self) -> bool {
        self.is_dynamic
    }

    /// Returns the fields, sorted by name.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the field with a name in JSON.
    pub fn field(&self, name: &str) -> Option<&Field> {
        let at = self
            .fields
            .binary_search_by(|it| (*it.name).cmp(name))
            .ok()?;
        self.fields.get(at)
    }

    /// Returns the field that an expression names.
    pub fn exposed(&self, escaped: &str) -> Option<&Field> {
        let found = self.escaped.binary_search_by(|at| {
            self.fields[*at as usize]
                .escaped
                .as_deref()
                .cmp(&Some(escaped))
        });
        found.ok().map(|at| &self.fields[self.escaped[at] as usize])
    }
}

impl Field {
    /// Declares a field that expressions can name if its name can be escaped.
    pub fn new(name: &str, declared: Arc<Declared>) -> Self {
        let escaped = crate::escape::escape(name);
        Self {
            name: name.into(),
            escaped: escaped.map(Into::into),
            declared,
            exposed: true,
        }
    }

    /// Declares a field that views contain, but that expressions cannot name.
    pub fn hidden(name: &str, declared: Arc<Declared>) -> Self {
        Self {
            exposed: false,
            ..Self::new(name, declared)
        }
    }
}
