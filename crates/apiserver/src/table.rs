//! `Table`: rows of cells in place of objects, as `kubectl get` prints them.

use kubist_api::{Column, ResourceFacts};
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{AnyObject, ListMeta, Status, Time};
use kubist_codec::negotiate::MetaVersion;
use kubist_registry::Stored;
use serde_json::{Value, json};

/// What each row says about its object, beside the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    /// Its metadata.
    Metadata,
    /// All of it.
    Object,
    /// Nothing.
    None,
}

impl Include {
    /// Reads the query's `includeObject`.
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, Status> {
        match text.unwrap_or_default() {
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Object),
            "None" => Ok(Self::None),
            other => Err(Status::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: \
                 \"{other}\": must be 'Metadata', 'Object', 'None', or empty"
            ))),
        }
    }
}

/// How tables of one request look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableStyle {
    pub(crate) version: MetaVersion,
    pub(crate) include: Include,
    pub(crate) facts: &'static ResourceFacts,
    pub(crate) now: Time,
}

/// The columns of kinds that have none of their own.
static DEFAULT_COLUMNS: [Column; 2] = [
    Column {
        name: "Name",
        type_: "string",
        format: "name",
        priority: 0,
    },
    Column {
        name: "Created At",
        type_: "date",
        format: "",
        priority: 0,
    },
];

impl TableStyle {
    /// A table of these objects. In a watch, only the first table names its columns.
    pub(crate) fn table(
        &self,
        metadata: &ListMeta,
        objects: &[Stored],
        with_columns: bool,
    ) -> Result<Value, Status> {
        let rows: Result<Vec<Value>, Status> = objects.iter().map(|it| self.row(it)).collect();
        let columns = match with_columns {
            true => self.columns().iter().map(column).collect(),
            false => Value::Null,
        };
        Ok(json!({
            "kind": "Table",
            "apiVersion": self.version.api_version(),
            "metadata": to_json_value(metadata),
            "columnDefinitions": columns,
            "rows": rows?,
        }))
    }

    fn columns(&self) -> &'static [Column] {
        match self.facts.columns {
            [] => &DEFAULT_COLUMNS,
            columns => columns,
        }
    }

    fn row(&self, stored: &Stored) -> Result<Value, Status> {
        let object = stored.object()?;
        let mut cells = match self.facts.columns {
            [] => vec![
                json!(object.meta().name),
                json!(object.meta().creation_timestamp),
            ],
            _ => cells(self.facts, &**object, self.now),
        };
        // Each column has a cell, whatever a kind's function forgot.
        cells.resize(self.columns().len(), Value::Null);
        let shown = match self.include {
            Include::None => Value::Null,
            Include::Object => {
                serde_json::from_slice(&stored.json()?).map_err(Status::internal_error)?
            }
            Include::Metadata => json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": self.version.api_version(),
                "metadata": to_json_value(object.meta()),
            }),
        };
        Ok(json!({"cells": cells, "object": shown}))
    }
}

fn column(column: &Column) -> Value {
    json!({
        "name": column.name,
        "type": column.type_,
        "format": column.format,
        "description": "",
        "priority": column.priority,
    })
}

/// The metadata of a table of one object.
pub(crate) fn metadata_of(stored: &Stored) -> ListMeta {
    ListMeta {
        resource_version: stored.resource_version().to_string().into(),
        ..ListMeta::default()
    }
}

/// Name and age, where a kind has no function for its cells.
fn cells(facts: &ResourceFacts, object: &dyn AnyObject, now: Time) -> Vec<Value> {
    let columns = facts.columns.iter();
    columns
        .map(|column| match column.name {
            "Name" => json!(object.meta().name),
            "Age" | "Created At" => json!(object.meta().creation_timestamp),
            _ => Value::Null,
        })
        .collect()
}
