//! Types of objects, as far as ownership and merging depend on them.
//!
//! As upstream's `schema` package: a type is an atom, which can be a scalar, a list, a map, or
//! several of them (an int-or-string is a scalar of any type; a deduced type is all three). Lists
//! are atomic or associative (sets, and lists with keys); maps are granular or atomic.
//!
//! Schemas come from the static descriptions of built-in kinds, and from the OpenAPI schemas of
//! custom resource definitions. Building one costs far more than using it: callers keep them.
//!
//! It is not a validating schema: formats, required fields and limits are elsewhere.

mod from_json_schema;
mod from_wire;
mod name_map;

use crate::path_element::PathElement;
use kubist_apimachinery::Str;
pub use name_map::NameMap;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// The type of objects without a schema: lists are atomic, maps granular.
pub const DEDUCED: &str = "__untyped_deduced_";
/// The type of values without a schema that are owned as a whole.
pub const UNTYPED: &str = "__untyped_atomic_";

/// Named types.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    types: NameMap<Atom>,
}

/// A reference to a type. The default refers to none.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "updated with `..TypeRef::default()`"
)]
pub struct TypeRef {
    /// The name of a type; empty for an inlined type.
    pub name: Str,
    /// The type, if it is not named.
    pub inlined: Atom,
    /// Replaces the relationship of the elements of the named type.
    pub relationship: Option<Relationship>,
}

/// What a value can be. A value decides by its own type among those that are set.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "updated with `..Atom::default()`"
)]
pub struct Atom {
    /// A scalar.
    pub scalar: Option<Scalar>,
    /// A list.
    pub list: Option<Arc<ListType>>,
    /// An object or a map.
    pub map: Option<Arc<MapType>>,
}

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has these")]
pub enum Scalar {
    /// An integer or a float.
    Numeric,
    /// A string.
    String,
    /// A boolean.
    Boolean,
    /// Any of them.
    Untyped,
}

/// Whether elements are owned one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum Relationship {
    /// Elements have owners: maps by field name, lists by value or by key.
    Granular,
    /// The whole has an owner.
    Atomic,
}

/// The type of a list.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "schemas are built outside")]
pub struct ListType {
    /// The type of its items.
    pub element_type: TypeRef,
    /// Whether items are owned one by one.
    pub relationship: Relationship,
    /// The fields that identify an item of a granular list; none for a set.
    pub keys: Vec<Str>,
}

/// The type of an object or a map.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "schemas are built outside")]
pub struct MapType {
    /// The declared fields.
    pub fields: NameMap<FieldType>,
    /// The type of all other members; the default if there are none.
    pub element_type: TypeRef,
    /// Whether members are owned one by one.
    pub relationship: Relationship,
}

/// The type of a field.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "schemas are built outside")]
pub struct FieldType {
    /// The type of its value.
    pub type_ref: TypeRef,
    /// The default of a key field: an item without the field has this key.
    pub default: Option<Value>,
}

impl Schema {
    /// Returns a schema with these types.
    pub fn new(types: impl IntoIterator<Item = (Str, Atom)>) -> Self {
        Self {
            types: types.into_iter().collect(),
        }
    }

    /// Returns the schema of objects whose type is unknown; its type is [`DEDUCED`].
    pub fn deduced() -> Self {
        Self::new([
            (DEDUCED.into(), Atom::deduced()),
            (UNTYPED.into(), Atom::untyped()),
        ])
    }

    /// Takes the types that another schema has as well from there, so that both share their memory.
    pub fn share_types(&mut self, other: &Self) {
        for (name, atom) in self.types.iter_mut() {
            if let Some(shared) = other.types.get(name).filter(|it| *it == atom) {
                *atom = shared.clone();
            }
        }
    }

    /// Returns the type that a reference means; none if the name is unknown, or a relationship is
    /// given for a scalar.
    pub fn resolve<'a>(&'a self, type_ref: &'a TypeRef) -> Option<Cow<'a, Atom>> {
        let atom = if type_ref.name.is_empty() {
            &type_ref.inlined
        } else {
            self.types.get(&type_ref.name)?
        };
        let Some(relationship) = type_ref.relationship else {
            return Some(Cow::Borrowed(atom));
        };
        let mut atom = atom.clone();
        atom.set_relationship(relationship)
            .then_some(Cow::Owned(atom))
    }
}

impl TypeRef {
    /// Refers to a named type.
    pub fn named(name: impl Into<Str>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Refers to a type without a name.
    pub fn inlined(inlined: Atom) -> Self {
        Self {
            inlined,
            ..Self::default()
        }
    }

    /// Reports whether it refers to no type.
    pub fn is_none(&self) -> bool {
        self.name.is_empty() && self.relationship.is_none() && self.inlined == Atom::default()
    }
}

impl Atom {
    /// Returns the type of a scalar.
    pub fn scalar(scalar: Scalar) -> Self {
        Self {
            scalar: Some(scalar),
            ..Self::default()
        }
    }

    /// Returns the type of a list.
    pub fn list(list: ListType) -> Self {
        Self {
            list: Some(Arc::new(list)),
            ..Self::default()
        }
    }

    /// Returns the type of an object or a map.
    pub fn map(map: MapType) -> Self {
        Self {
            map: Some(Arc::new(map)),
            ..Self::default()
        }
    }

    /// Returns the type [`DEDUCED`].
    pub fn deduced() -> Self {
        Self::any(DEDUCED, Relationship::Granular)
    }

    /// Returns the type [`UNTYPED`].
    pub fn untyped() -> Self {
        Self::any(UNTYPED, Relationship::Atomic)
    }

    /// Returns the type of any value, with atomic lists.
    fn any(members: &str, of_map: Relationship) -> Self {
        Self {
            scalar: Some(Scalar::Untyped),
            list: Some(Arc::new(ListType {
                element_type: TypeRef::named(UNTYPED),
                relationship: Relationship::Atomic,
                keys: Vec::new(),
            })),
            map: Some(Arc::new(MapType {
                fields: NameMap::default(),
                element_type: TypeRef::named(members),
                relationship: of_map,
            })),
        }
    }

    /// Sets the relationship of the map, or else of the list; reports whether there is one.
    fn set_relationship(&mut self, relationship: Relationship) -> bool {
        if let Some(map) = &mut self.map {
            Arc::make_mut(map).relationship = relationship;
        } else if let Some(list) = &mut self.list {
            Arc::make_mut(list).relationship = relationship;
        } else {
            return false;
        }
        true
    }

    /// Returns the part that applies to a value; all of it if none does.
    pub(crate) fn of_value(&self, value: Option<&Value>) -> Self {
        match value {
            Some(Value::Number(_) | Value::String(_) | Value::Bool(_)) if self.scalar.is_some() => {
                Self {
                    scalar: self.scalar,
                    ..Self::default()
                }
            }
            Some(Value::Array(_)) if self.list.is_some() => Self {
                list: self.list.clone(),
                ..Self::default()
            },
            Some(Value::Object(_)) if self.map.is_some() => Self {
                map: self.map.clone(),
                ..Self::default()
            },
            _ => self.clone(),
        }
    }
}

impl MapType {
    /// Returns a declared field.
    pub fn field(&self, name: &str) -> Option<&FieldType> {
        self.fields.get(name)
    }

    /// Returns the path element of a member. It shares the name of a declared field.
    pub(crate) fn element(&self, name: &str) -> PathElement {
        let declared = self.fields.get_key_value(name);
        PathElement::Field(declared.map_or_else(|| name.into(), |(name, _)| name.clone()))
    }

    /// Returns the type of a member.
    pub fn type_of(&self, name: &str) -> &TypeRef {
        match self.field(name) {
            Some(field) => &field.type_ref,
            None => &self.element_type,
        }
    }
}
