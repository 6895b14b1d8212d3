//! `TypedValue`: a JSON value with its type, and what ownership needs of it.

mod compare;
mod created;
mod forms;
mod list_items;
mod merge;
mod messages;
mod prune;
mod reconcile;
mod select;
mod sides;
mod to_field_set;
mod validate;

pub(crate) use self::created::created_fields;
pub(crate) use self::messages::compare_messages;
pub(crate) use self::prune::prune;
pub(crate) use self::reconcile::reconcile;
use self::select::{Keep, key_fields, select};
use crate::field_filter::FieldFilter;
use crate::field_set::FieldSet;
use crate::schema::{Schema, TypeRef};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// A value that fits its type. Clones of the schema are shared.
///
/// ```
/// use kubist_field_manager::schema::{DEDUCED, Schema, TypeRef};
/// use kubist_field_manager::{Duplicates, TypedValue};
/// use serde_json::json;
/// use std::sync::Arc;
///
/// let schema = Arc::new(Schema::deduced());
/// let typed = |value| {
///     TypedValue::new(value, Arc::clone(&schema), TypeRef::named(DEDUCED), Duplicates::Refused)
/// };
/// let old = typed(json!({"data": {"a": "1", "b": "1"}}))?;
/// let new = old.merge(&typed(json!({"data": {"b": "2", "c": "2"}}))?)?;
/// assert_eq!(*new.value(), json!({"data": {"a": "1", "b": "2", "c": "2"}}));
/// let comparison = old.compare(&new)?;
/// assert_eq!(comparison.modified.to_json(), r#"{"f:data":{"f:b":{}}}"#);
/// assert_eq!(comparison.added.to_json(), r#"{"f:data":{"f:c":{}}}"#);
/// # Ok::<(), kubist_field_manager::TypedErrors>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypedValue {
    value: Value,
    schema: Arc<Schema>,
    type_ref: TypeRef,
}

/// Whether items of associative lists may repeat. Stored objects may have such items; what a client
/// applies may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is a yes or no")]
pub enum Duplicates {
    /// They may.
    Allowed,
    /// They may not.
    Refused,
}

/// The differences of two values. No field is in two of the sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a field is one of these")]
pub struct Comparison {
    /// The fields that only the old value has.
    pub removed: FieldSet,
    /// The fields that both have, with different values.
    pub modified: FieldSet,
    /// The fields that only the new value has.
    pub added: FieldSet,
}

/// One mismatch of a value and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypedError {
    /// The path of the value; empty for the object itself.
    pub path: String,
    /// What is wrong, in upstream's words.
    pub message: String,
}

/// Mismatches of a value and its type; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedErrors(pub(crate) Vec<TypedError>);

impl TypedValue {
    /// Checks a value against its type.
    ///
    /// # Errors
    /// The value does not fit the type.
    pub fn new(
        value: Value,
        schema: Arc<Schema>,
        type_ref: TypeRef,
        duplicates: Duplicates,
    ) -> Result<Self, TypedErrors> {
        let mut errors = Vec::new();
        validate::validate(&mut errors, &schema, &type_ref, &value, duplicates);
        TypedErrors::check(errors)?;
        Ok(Self {
            value,
            schema,
            type_ref,
        })
    }

    /// Returns the value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the value.
    pub fn into_value(self) -> Value {
        self.value
    }

    /// Returns the fields that the value has. Empty lists and maps are no fields, unless they are
    /// atomic; empty and null members are.
    ///
    /// # Errors
    /// The schema refers to a type that it lacks.
    pub fn to_field_set(&self) -> Result<FieldSet, TypedErrors> {
        to_field_set::to_field_set(self)
    }

    /// Compares this value, the old one, with a new one of the same type.
    ///
    /// # Errors
    /// An item of an associative list has no key.
    pub fn compare(&self, new: &Self) -> Result<Comparison, TypedErrors> {
        compare::compare(self, new)
    }

    /// Merges a configuration of the same type into this value: what the configuration has wins,
    /// and what it lacks stays. Items of associative lists keep the configuration's order.
    ///
    /// # Errors
    /// An item of an associative list has no key, or the configuration repeats one.
    pub fn merge(&self, config: &Self) -> Result<Self, TypedErrors> {
        merge::merge(self, config)
    }

    /// Removes the fields of a set. A map or list of which nothing is left becomes null, unless its
    /// own path is in the set, which removes the member or item.
    #[must_use]
    pub fn remove(&self, fields: &FieldSet) -> Self {
        self.with_value(select(self, fields, Keep::AllBut))
    }

    /// Returns the value with only the fields of a set; null if it has none of them. Atomic maps
    /// and lists are taken as a whole.
    #[must_use]
    pub fn extract(&self, fields: &FieldSet) -> Self {
        self.with_value(select(self, fields, Keep::Only))
    }

    /// As [`extract`](Self::extract), with the key fields of list items, even if the set lacks
    /// them.
    #[must_use]
    pub fn extract_with_keys(&self, fields: &FieldSet) -> Self {
        match key_fields(self, fields) {
            Ok(keys) => self.extract(&fields.union(&keys)),
            Err(_) => self.extract(fields),
        }
    }

    /// Adapts a field set that was written with an older schema: maps and lists that have become
    /// atomic are owned as a whole. Returns none if nothing changes.
    ///
    /// # Errors
    /// The schema refers to a type that it lacks.
    pub fn reconcile(&self, fields: &FieldSet) -> Result<Option<FieldSet>, TypedErrors> {
        reconcile(fields, &self.schema, &self.type_ref)
    }

    /// Returns the schema.
    pub(crate) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns the type.
    pub(crate) fn type_ref(&self) -> &TypeRef {
        &self.type_ref
    }

    /// Adds the declared fields above owned ones to a set.
    pub(crate) fn with_named_fields(&self, fields: &FieldSet) -> FieldSet {
        fields.with_named_fields(&self.schema, &self.type_ref)
    }

    /// Reports whether both values are the same, as far as Go tells numbers apart.
    pub(crate) fn has_value_of(&self, other: &Self) -> bool {
        crate::value_order::equal(&self.value, &other.value)
    }

    fn with_value(&self, value: Value) -> Self {
        Self {
            value,
            schema: Arc::clone(&self.schema),
            type_ref: self.type_ref.clone(),
        }
    }
}

impl Comparison {
    /// Returns the differences in the fields of a filter.
    #[must_use]
    pub fn filtered(self, filter: Option<&FieldFilter>) -> Self {
        match filter {
            None => self,
            Some(filter) => Self {
                removed: filter.apply(self.removed),
                modified: filter.apply(self.modified),
                added: filter.apply(self.added),
            },
        }
    }

    /// Reports whether the values are the same.
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }
}

impl TypedError {
    fn new(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: message.into(),
        }
    }
}

impl TypedErrors {
    /// Returns the error of an object that is no map.
    pub(crate) fn not_a_map() -> Self {
        Self(vec![TypedError::new("expected map")])
    }

    fn check(errors: Vec<TypedError>) -> Result<(), Self> {
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Self(errors))
        }
    }

    /// Returns the errors.
    pub fn errors(&self) -> &[TypedError] {
        &self.0
    }
}

/// Prefixes the paths of the errors since `start` with a path element.
fn prefix(errors: &mut [TypedError], start: usize, element: &impl fmt::Display) {
    for error in errors.iter_mut().skip(start) {
        error.path.insert_str(0, &element.to_string());
    }
}

impl fmt::Display for TypedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{}", self.path, self.message)
    }
}

impl fmt::Display for TypedErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [error] = &self.0[..] {
            return write!(f, "{error}");
        }
        f.write_str("errors:")?;
        self.0.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl std::error::Error for TypedErrors {}
