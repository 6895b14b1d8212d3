//! `Table`: rows of cells in place of objects, as `kubectl get` prints them.

use kubist_api::{Column, ResourceFacts};
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{ListMeta, Status, Time};
use kubist_codec::negotiate::MetaVersion;
use kubist_registry::{Stored, table_cells, table_columns};
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
impl TableStyle {
    /// A table of these objects. In a watch, only the first table names its columns.
    pub(crate) fn table(
        &self,
        metadata: &ListMeta,
        objects: &[Stored],
        with_columns: bool,
    ) -> Result<Value, Status> {
        let rows: Result<Vec<Value>, Status> = objects.iter().map(|it| self.row(it)).collect();
        let columns = if with_columns {
            self.columns().iter().map(column).collect()
        } else {
            Value::Null
        };
        Ok(json!({
            "kind": "Table",
            "apiVersion": self.version.api_version(),
            "metadata": to_json_value(metadata),
            "columnDefinitions": columns,
            "rows": rows?,
        }))
    }

    fn columns(&self) -> Vec<Described> {
        described(self.facts)
    }

    fn row(&self, stored: &Stored) -> Result<Value, Status> {
        let object = stored.object()?;
        let cells = table_cells(self.facts, &**object, self.now);
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

/// A column, and what is said of it.
type Described = (&'static Column, &'static str);

/// The columns of a resource. Only definitions say something of theirs, after the name.
fn described(facts: &'static ResourceFacts) -> Vec<Described> {
    let said = kubist_registry::column_descriptions(facts).iter().copied();
    let said = std::iter::once("").chain(said).chain(std::iter::repeat(""));
    table_columns(facts).iter().zip(said).collect()
}

fn column((column, description): &Described) -> Value {
    json!({
        "name": column.name,
        "type": column.type_,
        "format": column.format,
        "description": description,
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
