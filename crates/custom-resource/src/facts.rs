//! `Facts`: what the attributes of the derive say about a version of a kind.

use crate::Rule;
use crate::resource_schema::schema_with;
use kubist_apimachinery::ObjectMeta;
use kubist_apimachinery::wire::{
    Entry, Field, FieldFlags as F, FieldType, KindFacts, SERDE_FIELD, Schema, Wire, names_size,
    table_of_names,
};

/// What the attributes say, beside the names that `Resource` has.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code builds it")]
pub struct Facts {
    /// The documentation of the struct, or the option `doc`.
    pub description: &'static str,
    /// The short names.
    pub short_names: &'static [&'static str],
    /// The categories.
    pub categories: &'static [&'static str],
    /// Whether there is a status, and so the subresource.
    pub has_status: bool,
    /// The subresource `scale`.
    pub scale: Option<Scale>,
    /// The printer columns.
    pub columns: &'static [Column],
    /// The JSON paths of selectable fields.
    pub selectable: &'static [&'static str],
    /// The rules of the whole object.
    pub rules: fn() -> Vec<Rule>,
    /// Whether the version is served.
    pub served: bool,
    /// Whether the version is stored.
    pub storage: bool,
    /// Whether the version is deprecated.
    pub deprecated: bool,
    /// The warning of a deprecated version; none is the server's own.
    pub deprecation_warning: Option<&'static str>,
    /// The annotations of the definition.
    pub annotations: &'static [(&'static str, &'static str)],
    /// The labels of the definition.
    pub labels: &'static [(&'static str, &'static str)],
}

/// A printer column.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code builds it")]
#[expect(missing_docs, reason = "the fields are those of the definition")]
pub struct Column {
    pub name: &'static str,
    pub kind: &'static str,
    pub format: &'static str,
    pub description: &'static str,
    pub priority: i32,
    pub json_path: &'static str,
}

/// The paths of the subresource `scale`.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code builds it")]
#[expect(missing_docs, reason = "the fields are those of the definition")]
pub struct Scale {
    pub spec_replicas: &'static str,
    pub status_replicas: &'static str,
    pub label_selector: Option<&'static str>,
}

static FIELDS: [Field; 3] = [
    Field::new(
        "metadata",
        1,
        FieldType::Message(<ObjectMeta as Wire>::SCHEMA),
        F::NONE,
    ),
    Field::new("spec", 2, FieldType::Message(&SERDE_FIELD), F::REQUIRED),
    Field::new(
        "status",
        3,
        FieldType::Message(&SERDE_FIELD),
        F::OMIT_EMPTY.or(F::POINTER),
    ),
];
static NAMES: [u16; names_size(3)] = table_of_names(&FIELDS);
static NAMES_WITHOUT_STATUS: [u16; names_size(2)] = table_of_names(FIELDS.split_at(2).0);
static ORDER: [Entry; 3] = [Entry::Field(0), Entry::Field(1), Entry::Field(2)];

/// Returns the schema of a kind.
pub const fn schema_of(kind: KindFacts, has_status: bool) -> Schema {
    let count = if has_status { 3 } else { 2 };
    let (fields, _) = FIELDS.split_at(count);
    let (order, _) = ORDER.split_at(count);
    let names: &[u16] = if has_status {
        &NAMES
    } else {
        &NAMES_WITHOUT_STATUS
    };
    schema_with(kind, fields, names, order)
}
