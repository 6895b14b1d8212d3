//! `ApplyConfiguration`: the fields of an object that a program owns, for server-side apply.
//!
//! The counterpart of client-go's apply configurations. A plain struct cannot tell a field that is
//! zero from one that is absent, so it cannot say that `paused` is to be false. A configuration has
//! only the fields that were set, whatever their value, and lists merge by their keys. The types of
//! built-in kinds are in `kubist-api`, behind its feature `apply`.
//!
//! Nothing is validated here; servers do that.

mod body;
mod define;
mod field;
mod merge;
mod object_meta;
mod value;

pub use body::ApplyBody;
#[doc(hidden)]
pub use body::{encode_kind, name_of};
pub use field::{ApplyField, derived_field, list_of, map_of};
pub use object_meta::ObjectMetaApply;
#[doc(hidden)]
pub use value::{bytes, plain};

use crate::wire::Schema;
use serde_json::{Map, Value};

/// Some fields of a [`Type`](Self::Type).
///
/// Setting a field twice merges, as the server does: members of objects are added, items of lists
/// with keys are replaced by key, other values are replaced whole. [`fields_mut`](Self::fields_mut)
/// is for what that does not allow, such as giving up a field.
///
/// ```
/// use kubist_apimachinery::apply::{ApplyConfiguration, ObjectMetaApply};
/// use serde_json::json;
///
/// let meta = ObjectMetaApply::new().labels([("app", "web")]).finalizers(["example.com/a"]);
/// let mut meta = meta.labels([("tier", "front")]).finalizers(["example.com/a"]);
/// assert_eq!(json!(meta.fields()), json!({
///     "labels": {"app": "web", "tier": "front"}, "finalizers": ["example.com/a"],
/// }));
/// meta.fields_mut().remove("finalizers");
/// assert_eq!(json!(meta.fields()), json!({"labels": {"app": "web", "tier": "front"}}));
/// ```
pub trait ApplyConfiguration: Default {
    /// The type whose fields these are.
    type Type;

    /// How the fields merge.
    const SCHEMA: &'static Schema;

    /// Returns the fields, by JSON name.
    fn fields(&self) -> &Map<String, Value>;

    /// Returns the fields for changes.
    fn fields_mut(&mut self) -> &mut Map<String, Value>;

    /// Returns the fields as JSON.
    fn into_value(self) -> Value;

    /// Sets a field by its JSON name, for fields that are newer than the type.
    #[must_use]
    fn set(mut self, name: &str, value: Value) -> Self {
        merge::set(Self::SCHEMA, self.fields_mut(), name, value);
        self
    }

    /// Makes a configuration from fields, which are not checked: `apiVersion` and `kind` belong to
    /// those of a kind.
    fn from_fields(fields: Map<String, Value>) -> Self {
        let mut configuration = Self::default();
        *configuration.fields_mut() = fields;
        configuration
    }

    /// Adds the fields of another configuration to these.
    #[must_use]
    fn merged(mut self, other: Self) -> Self {
        let Value::Object(other) = other.into_value() else {
            return self;
        };
        merge::merge(Self::SCHEMA, self.fields_mut(), other);
        self
    }
}

/// Adds `apiVersion` and `kind` of a schema to fields.
#[doc(hidden)]
pub fn add_type(schema: &Schema, fields: &mut Map<String, Value>) {
    if let Some(facts) = &schema.kind {
        fields.insert("apiVersion".to_owned(), facts.api_version.into());
        fields.insert("kind".to_owned(), facts.kind.into());
    }
}
