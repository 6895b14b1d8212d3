//! `Schema`: a structural schema, compact and shared.
//!
//! It has what pruning, defaulting and validation need, and no descriptions, titles or examples.
//! Equal parts of one definition are one allocation. It is made by
//! [`Schema::convert`](crate::Schema::convert), which refuses unsupported keywords, but not schemas
//! that are not structural: [`check_structural`](crate::check_structural) does that.

mod kind;
mod value_rules;

pub use kind::Kind;
pub(crate) use value_rules::{Bound, Junctors, Limit, SchemaFormat, ValueRules};

use kubist_api::apiextensions::v1::ValidationRule;
use kubist_apimachinery::Str;
use serde_json::Value;
use std::sync::Arc;

/// A structural schema of a value, with the schemas of everything in it.
///
/// The schemas in `allOf`, `anyOf`, `oneOf` and `not` have the same type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
    pub(crate) preserves_unknown_fields: bool,
    pub(crate) is_embedded_resource: bool,
    pub(crate) is_int_or_string: bool,
    pub(crate) properties: Box<[(Str, Arc<Self>)]>,
    pub(crate) items: Option<Arc<Self>>,
    pub(crate) additional_properties: Option<AdditionalProperties>,
    pub(crate) default: Option<Arc<Value>>,
    pub(crate) list_type: Option<ListType>,
    pub(crate) list_map_keys: Box<[Str]>,
    pub(crate) has_atomic_map: bool,
    pub(crate) rules: Option<Arc<[ValidationRule]>>,
    pub(crate) values: Option<Arc<ValueRules>>,
}

/// The schema of the members of an object that no property names.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "JSON Schema has no other forms")]
pub enum AdditionalProperties {
    /// `true` or `false`. Both keep such members; only validation tells them apart.
    Bool(bool),
    /// All have this schema.
    Schema(Arc<Schema>),
}

/// `x-kubernetes-list-type`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "any other type is one of these")]
pub enum ListType {
    /// The list is one value.
    Atomic,
    /// The keys identify the items.
    Map,
    /// The items are unique.
    Set,
    /// Any other text, which means nothing.
    Unknown,
}

impl Schema {
    /// Returns the type.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Reports whether null is valid.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// Reports whether pruning keeps unknown fields (`x-kubernetes-preserve-unknown-fields`).
    pub fn preserves_unknown_fields(&self) -> bool {
        self.preserves_unknown_fields
    }

    /// Reports whether the value is a whole object (`x-kubernetes-embedded-resource`).
    pub fn is_embedded_resource(&self) -> bool {
        self.is_embedded_resource
    }

    /// Reports whether the value is an integer or a string (`x-kubernetes-int-or-string`).
    pub fn is_int_or_string(&self) -> bool {
        self.is_int_or_string
    }

    /// Returns the schema of a property.
    pub fn property(&self, name: &str) -> Option<&Arc<Self>> {
        let found = self
            .properties
            .binary_search_by(|(it, _)| it.as_str().cmp(name));
        found.ok().map(|index| &self.properties[index].1)
    }

    /// Returns the properties by name.
    pub fn properties(&self) -> impl ExactSizeIterator<Item = (&str, &Arc<Self>)> {
        self.properties.iter().map(|(name, it)| (name.as_str(), it))
    }

    /// Returns the schema of the items.
    pub fn items(&self) -> Option<&Arc<Self>> {
        self.items.as_ref()
    }

    /// Returns the schema of the members that no property names.
    pub fn additional_properties(&self) -> Option<&AdditionalProperties> {
        self.additional_properties.as_ref()
    }

    /// Returns the default.
    pub fn default_value(&self) -> Option<&Value> {
        self.default.as_deref()
    }

    /// Returns the list type; none if it is not set.
    pub fn list_type(&self) -> Option<&ListType> {
        self.list_type.as_ref()
    }

    /// Returns the keys of a list of type `map`.
    pub fn list_map_keys(&self) -> &[Str] {
        &self.list_map_keys
    }

    /// Reports whether an object is one value (`x-kubernetes-map-type: atomic`).
    pub fn has_atomic_map(&self) -> bool {
        self.has_atomic_map
    }

    /// Returns the CEL rules.
    pub fn rules(&self) -> &[ValidationRule] {
        self.rules.as_deref().unwrap_or_default()
    }

    /// Returns the format, if there is one.
    pub fn format(&self) -> Option<&str> {
        let format = self.values.as_deref()?.format.as_ref()?;
        Some(format.name.as_str())
    }

    /// Returns the maximum length of a string, list or object, whichever it is.
    pub fn size_max(&self) -> Option<u64> {
        let values = self.values.as_deref()?;
        let max = match self.kind {
            Kind::Array => values.items_max(),
            Kind::Object => values.properties_max(),
            _ => values.length_max(),
        };
        max.and_then(|it| it.try_into().ok())
    }

    /// Returns the values of an enumeration; none if there are none.
    pub fn enumerated(&self) -> &[Value] {
        self.values.as_deref().map_or(&[], |it| &it.enumerated)
    }

    /// Returns the schemas in `allOf`.
    pub fn all_of(&self) -> &[Arc<Self>] {
        self.values.as_deref().map_or(&[], ValueRules::all_of)
    }

    /// Returns the required properties, in the order of the definition.
    pub fn required(&self) -> &[Str] {
        self.values.as_deref().map_or(&[], |it| &it.required)
    }

    /// Returns the schema that the members which no property names have.
    pub(crate) fn additional(&self) -> Option<&Arc<Self>> {
        match &self.additional_properties {
            Some(AdditionalProperties::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Returns the schema of a member: of its property, or of additional properties.
    pub(crate) fn member(&self, name: &str) -> Option<&Arc<Self>> {
        self.property(name).or_else(|| self.additional())
    }
}
