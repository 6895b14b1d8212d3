//! `Table`: rows of cells instead of objects, as `kubectl get` prints them.

use kubist_api::{Column, ResourceFacts};
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{ListMeta, Status, Time};
use kubist_codec::negotiate::MetaVersion;
use kubist_kinds::{
    column_descriptions, scale_cells, scale_columns, scale_descriptions, table_cells, table_columns,
};
use kubist_registry::Stored;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The member with the column definitions.
const COLUMNS: &str = "columnDefinitions";

/// The object in each row, beside the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    /// Its metadata.
    Metadata,
    /// The complete object.
    Object,
    /// Nothing.
    None,
}

impl Include {
    /// Parses the query option `includeObject`.
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

/// The table options of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableStyle {
    pub(crate) version: MetaVersion,
    pub(crate) include: Include,
    pub(crate) facts: &'static ResourceFacts,
    /// Whether the objects are Scales of that resource.
    pub(crate) scales: bool,
    pub(crate) now: Time,
}

impl TableStyle {
    /// Returns a table of objects. In a watch, only the first table has column definitions.
    pub(crate) fn table(
        &self,
        metadata: &ListMeta,
        objects: &[Stored],
        with_columns: bool,
    ) -> Result<Value, Status> {
        let rows: Result<Vec<Value>, Status> = objects.iter().map(|it| self.row(it)).collect();
        let mut table = if with_columns {
            self.head(metadata)
        } else {
            self.head_with(metadata, Value::Null)
        };
        table.insert("rows".to_owned(), rows?.into());
        Ok(Value::Object(table))
    }

    /// Returns a table without rows.
    pub(crate) fn head(&self, metadata: &ListMeta) -> Map<String, Value> {
        let columns: Vec<Value> = self.columns().iter().map(column).collect();
        self.head_with(metadata, columns.into())
    }

    fn head_with(&self, metadata: &ListMeta, columns: Value) -> Map<String, Value> {
        Map::from_iter([
            ("kind".to_owned(), Value::from("Table")),
            (
                "apiVersion".to_owned(),
                Value::from(self.version.api_version()),
            ),
            ("metadata".to_owned(), to_json_value(metadata)),
            (COLUMNS.to_owned(), columns),
        ])
    }

    fn columns(&self) -> Vec<Described> {
        let (columns, said) = if self.scales {
            (scale_columns(), scale_descriptions())
        } else {
            (table_columns(self.facts), column_descriptions(self.facts))
        };
        columns.iter().zip(said).collect()
    }

    /// Returns the row of an object.
    pub(crate) fn row(&self, stored: &Stored) -> Result<Value, Status> {
        let object = stored.object()?;
        let cells = if self.scales {
            scale_cells(&**object, self.now)
        } else {
            table_cells(self.facts, &**object, self.now)
        };
        let shown = match self.include {
            Include::None => Value::Null,
            Include::Object => {
                serde_json::from_slice(&stored.json()?).map_err(Status::internal_error)?
            }
            Include::Metadata => json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": self.version.api_version(),
                "metadata": to_json_value(&*stored.metadata()?),
            }),
        };
        Ok(json!({"cells": cells, "object": shown}))
    }
}

/// A column and its description.
type Described = (&'static Column, Cow<'static, str>);

fn column((column, description): &Described) -> Value {
    json!({
        "name": column.name,
        "type": column.type_,
        "format": column.format,
        "description": description,
        "priority": column.priority,
    })
}

/// Returns the metadata of a table with one object.
pub(crate) fn metadata_of(stored: &Stored) -> ListMeta {
    ListMeta {
        resource_version: stored.resource_version().to_string().into(),
        ..ListMeta::default()
    }
}
