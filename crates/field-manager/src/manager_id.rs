//! `ManagerId`: what identifies a field manager of an object.

use kubist_apimachinery::go_text::{escape_html, quote};
use kubist_apimachinery::{ManagedFieldsEntry, Str};
use serde_json::Value;
use std::fmt;

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the API defines these two")]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

/// The identity of a manager: updates by one program at two API versions are two managers, applies
/// are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "the API defines the fields")]
pub struct ManagerId {
    /// The name.
    pub name: Str,
    /// The operation.
    pub operation: Operation,
    /// The API version of updates; empty for applies.
    pub api_version: Str,
    /// The subresource; empty for the object itself.
    pub subresource: Str,
}

impl Operation {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }

    /// Parses the name on the wire.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Apply, Self::Update]
            .into_iter()
            .find(|it| it.as_str() == text)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl ManagerId {
    /// Returns the identity of an applier.
    pub fn applier(name: impl Into<Str>, subresource: impl Into<Str>) -> Self {
        Self {
            name: name.into(),
            operation: Operation::Apply,
            api_version: Str::default(),
            subresource: subresource.into(),
        }
    }

    /// Returns the identity of an updater.
    pub fn updater(
        name: impl Into<Str>,
        api_version: impl Into<Str>,
        subresource: impl Into<Str>,
    ) -> Self {
        Self {
            name: name.into(),
            operation: Operation::Update,
            api_version: api_version.into(),
            subresource: subresource.into(),
        }
    }

    /// Returns the identity of an entry; none if its operation is unknown.
    pub(crate) fn of_entry(entry: &ManagedFieldsEntry) -> Option<Self> {
        let operation = Operation::parse(&entry.operation)?;
        Some(Self {
            name: entry.manager.clone(),
            operation,
            api_version: match operation {
                Operation::Apply => Str::default(),
                Operation::Update => entry.api_version.clone(),
            },
            subresource: entry.subresource.clone(),
        })
    }

    /// Returns upstream's identifier, a JSON text. Lists of managers are in its order.
    pub fn identifier(&self) -> String {
        let fields = [
            ("manager", &*self.name),
            ("operation", self.operation.as_str()),
            ("apiVersion", &*self.api_version),
            ("subresource", &*self.subresource),
        ];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let fields = fields.map(|(name, value)| format!("\"{name}\":{}", Value::from(value)));
        let fields: Vec<String> = fields.collect();
        escape_html(&format!("{{{}}}", fields.join(",")))
    }
}

/// As messages name it: `"m1"`, `"m2" with subresource "status" using apps/v1`.
impl fmt::Display for ManagerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote(&self.name))?;
        if !self.subresource.is_empty() {
            write!(f, " with subresource {}", quote(&self.subresource))?;
        }
        match self.operation {
            Operation::Apply => Ok(()),
            Operation::Update => write!(f, " using {}", self.api_version),
        }
    }
}
