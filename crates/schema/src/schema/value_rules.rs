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
    /// Few of the many that there are, so a list takes a tenth of a field for each.
    pub(crate) limits: Box<[Limit]>,
    pub(crate) pattern: Option<Arc<Pattern>>,
    pub(crate) has_unique_items: bool,
    pub(crate) enumerated: Box<[Value]>,
    pub(crate) required: Box<[Str]>,
    /// Rare, and apart for that.
    pub(crate) junctors: Option<Box<Junctors>>,
}

/// Schemas that are joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Junctors {
    pub(crate) all_of: Box<[Arc<Schema>]>,
    pub(crate) any_of: Box<[Arc<Schema>]>,
    pub(crate) one_of: Box<[Arc<Schema>]>,
    pub(crate) not: Option<Arc<Schema>>,
}

/// A keyword that limits values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    Maximum(Bound),
    Minimum(Bound),
    MultipleOf(f64),
    LengthMax(i64),
    LengthMin(i64),
    ItemsMax(i64),
    ItemsMin(i64),
    PropertiesMax(i64),
    PropertiesMin(i64),
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

/// Returns the value of a limit.
macro_rules! limit {
    ($($name:ident: $limit:ident($value:ty);)*) => {
        impl ValueRules {
            $(pub(crate) fn $name(&self) -> Option<$value> {
                self.limits.iter().find_map(|it| match it {
                    Limit::$limit(value) => Some(*value),
                    _ => None,
                })
            })*
        }
    };
}

limit! {
    maximum: Maximum(Bound);
    minimum: Minimum(Bound);
    multiple_of: MultipleOf(f64);
    length_max: LengthMax(i64);
    length_min: LengthMin(i64);
    items_max: ItemsMax(i64);
    items_min: ItemsMin(i64);
    properties_max: PropertiesMax(i64);
    properties_min: PropertiesMin(i64);
}

impl ValueRules {
    pub(crate) fn all_of(&self) -> &[Arc<Schema>] {
        self.junctors.as_deref().map_or(&[], |it| &it.all_of)
    }
}
