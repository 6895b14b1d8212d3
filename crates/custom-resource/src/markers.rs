//! `Rule`, `ListType`, `MapType`: what Kubernetes adds to a schema.
//!
//! Each is a schemars transform, so that it can be given to a type or to a field, at any depth:
//!
//! ```
//! use kubist_custom_resource::{ListType, Rule};
//! use schemars::JsonSchema;
//!
//! #[derive(JsonSchema)]
//! #[schemars(transform = Rule::new("self.min <= self.max").message("min is above max"))]
//! struct Range {
//!     min: i32,
//!     max: i32,
//!     #[schemars(transform = ListType::map("name"))]
//!     ports: Vec<Port>,
//! }
//!
//! #[derive(JsonSchema)]
//! struct Port {
//!     name: String,
//! }
//! ```

use schemars::{Schema, transform::Transform};
use serde_json::{Map, Value};

/// A CEL rule (`x-kubernetes-validations`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    expression: String,
    message: Option<String>,
    message_expression: Option<String>,
    reason: Option<String>,
    field_path: Option<String>,
    optional_old_self: Option<bool>,
}

impl Rule {
    /// Creates a rule from an expression; `self` is the value, `oldSelf` the stored one.
    pub fn new(rule: impl Into<String>) -> Self {
        Self {
            expression: rule.into(),
            ..Self::default()
        }
    }

    /// Sets the message of a violation. Default: the server names the rule.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets an expression that returns the message.
    #[must_use]
    pub fn message_expression(mut self, expression: impl Into<String>) -> Self {
        self.message_expression = Some(expression.into());
        self
    }

    /// Sets the reason of a violation: `FieldValueInvalid` (the default), `FieldValueForbidden`,
    /// `FieldValueRequired` or `FieldValueDuplicate`.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Sets the field that a violation names, as in `.spec.size`.
    #[must_use]
    pub fn field_path(mut self, path: impl Into<String>) -> Self {
        self.field_path = Some(path.into());
        self
    }

    /// Evaluates a rule with `oldSelf` also when there is no old value: `oldSelf` is an optional.
    #[must_use]
    pub fn optional_old_self(mut self) -> Self {
        self.optional_old_self = Some(true);
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("rule".to_owned(), self.expression.clone().into());
        let texts = [
            ("message", &self.message),
            ("messageExpression", &self.message_expression),
            ("reason", &self.reason),
            ("fieldPath", &self.field_path),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                map.insert(name.to_owned(), text.clone().into());
            }
        }
        if let Some(optional) = self.optional_old_self {
            map.insert("optionalOldSelf".to_owned(), optional.into());
        }
        Value::Object(map)
    }
}

impl From<&str> for Rule {
    fn from(rule: &str) -> Self {
        Self::new(rule)
    }
}

impl Transform for Rule {
    fn transform(&mut self, schema: &mut Schema) {
        let rules = schema.ensure_object().entry("x-kubernetes-validations");
        if let Value::Array(rules) = rules.or_insert_with(|| Value::Array(Vec::new())) {
            rules.push(self.to_json());
        }
    }
}

/// How server-side apply merges a list (`x-kubernetes-list-type`, `x-kubernetes-list-map-keys`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListType {
    name: &'static str,
    keys: Vec<&'static str>,
}

impl ListType {
    /// The list is replaced as a whole; the default.
    pub fn atomic() -> Self {
        Self {
            name: "atomic",
            keys: Vec::new(),
        }
    }

    /// The list is a set of scalars.
    pub fn set() -> Self {
        Self {
            name: "set",
            keys: Vec::new(),
        }
    }

    /// The items are objects that this member identifies; it must be required, or have a default.
    pub fn map(key: &'static str) -> Self {
        Self {
            name: "map",
            keys: vec![key],
        }
    }

    /// Adds another member that identifies items.
    #[must_use]
    pub fn and_key(mut self, key: &'static str) -> Self {
        self.keys.push(key);
        self
    }
}

impl Transform for ListType {
    fn transform(&mut self, schema: &mut Schema) {
        if !self.keys.is_empty() {
            let keys = self.keys.clone().into();
            schema.insert("x-kubernetes-list-map-keys".to_owned(), keys);
        }
        schema.insert("x-kubernetes-list-type".to_owned(), self.name.into());
    }
}

/// How server-side apply merges an object or a map (`x-kubernetes-map-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "Kubernetes has no others")]
pub enum MapType {
    /// It is replaced as a whole.
    Atomic,
    /// Its members have owners of their own; the default.
    Granular,
}

impl Transform for MapType {
    fn transform(&mut self, schema: &mut Schema) {
        let name = match self {
            Self::Atomic => "atomic",
            Self::Granular => "granular",
        };
        schema.insert("x-kubernetes-map-type".to_owned(), name.into());
    }
}
