//! `ValueRules`: the keywords that restrict values, and not their structure.

use super::Schema;
use crate::format::KnownFormat;
use crate::pattern::Pattern;
use kubist_apimachinery::Str;
use serde_json::Value;
use std::sync::Arc;

/// The value validations of one schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ValueRules {
    pub(crate) format: Option<SchemaFormat>,
    pub(crate) maximum: Option<Bound>,
    pub(crate) minimum: Option<Bound>,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) length_max: Option<i64>,
    pub(crate) length_min: Option<i64>,
    pub(crate) pattern: Option<Arc<Pattern>>,
    pub(crate) items_max: Option<i64>,
    pub(crate) items_min: Option<i64>,
    pub(crate) has_unique_items: bool,
    pub(crate) properties_max: Option<i64>,
    pub(crate) properties_min: Option<i64>,
    pub(crate) enumerated: Box<[Value]>,
    pub(crate) required: Box<[Str]>,
    pub(crate) all_of: Box<[Arc<Schema>]>,
    pub(crate) any_of: Box<[Arc<Schema>]>,
    pub(crate) one_of: Box<[Arc<Schema>]>,
    pub(crate) not: Option<Arc<Schema>>,
}

/// A maximum or a minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    pub(crate) is_exclusive: bool,
}

/// The `format` of a schema.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SchemaFormat {
    pub(crate) name: Str,
    /// The format of strings with this name, if there is one.
    pub(crate) known: Option<KnownFormat>,
    /// Whether the type supports the format. Objects are validated without the others, but
    /// defaults with them.
    pub(crate) is_supported: bool,
}

impl ValueRules {
    pub(crate) fn has_junctors(&self) -> bool {
        let junctors = [&self.all_of, &self.any_of, &self.one_of];
        self.not.is_some() || junctors.iter().any(|it| !it.is_empty())
    }
}
