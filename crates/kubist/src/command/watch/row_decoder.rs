//! `RowDecoder`: rows from the server's answers. Pure: it does no I/O.
//!
//! An answer is a `Table`, or objects where the server makes no tables of them, as some aggregated
//! servers; those get the columns that every kind has.

use super::row::{Column, Columns, Row};
use kubist_apimachinery::wire::{DecodeContext, Encoding, WireError, WireErrorKind, scan};
use kubist_apimachinery::{ObjectMeta, ResourceVersion};
use kubist_cache::{
    EventType, FetchError, InvalidEvent, InvalidItem, ListEnd, ListItem, WatchItem,
};
use kubist_client::ApiError;
use kubist_codec::watch_stream::{EventKind, Frame};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// The annotation that marks the bookmark after the initial events of a streaming list.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Decodes lists and watches of one resource.
#[derive(Debug)]
pub(super) struct RowDecoder {
    /// Those of the last answer that had any: in a watch, only the first event does.
    columns: Columns,
    cx: DecodeContext,
}

/// A list page: a table, or a list of objects.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Page {
    kind: String,
    metadata: PageMetadata,
    column_definitions: Option<Vec<ColumnDefinition>>,
    rows: Option<Vec<TableRow>>,
    items: Option<Vec<Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PageMetadata {
    resource_version: String,
    #[serde(rename = "continue")]
    continue_: String,
    remaining_item_count: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ColumnDefinition {
    name: String,
    priority: i32,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TableRow {
    cells: Vec<Value>,
    object: Value,
}

impl RowDecoder {
    pub(super) fn new() -> Self {
        let column = |name: &str| Column::new(name, false);
        Self {
            columns: [column("Name"), column("Age")].into(),
            cx: DecodeContext::new(),
        }
    }

    /// Decodes a page of a list.
    ///
    /// # Errors
    /// It is no list.
    pub(super) fn page(
        &mut self,
        body: &[u8],
    ) -> Result<(Vec<ListItem<Row>>, ListEnd), FetchError> {
        let page: Page = serde_json::from_slice(body).map_err(|error| FetchError::Malformed {
            source: syntax(&error),
        })?;
        let rows = match (page.rows, page.items) {
            (Some(rows), _) => rows,
            (None, Some(items)) => items.into_iter().map(of_object).collect(),
            (None, None) if page.kind == "Table" => Vec::new(),
            (None, None) => {
                let kind = page.kind.into();
                return Err(FetchError::UnexpectedKind { kind });
            }
        };
        self.learn(page.column_definitions);
        let items = rows.into_iter().map(|row| {
            self.row(row)
                .map_or_else(ListItem::Invalid, ListItem::Object)
        });
        let end = ListEnd {
            resource_version: ResourceVersion::from(page.metadata.resource_version.as_str()),
            continue_token: page.metadata.continue_.into(),
            remaining: page.metadata.remaining_item_count,
        };
        Ok((items.collect(), end))
    }

    /// Decodes an event of a watch.
    ///
    /// # Errors
    /// The event is the server's error, which ends the watch.
    pub(super) fn event(&mut self, frame: &Frame) -> Result<WatchItem<Row>, FetchError> {
        let (make, event): (fn(Row) -> WatchItem<Row>, _) = match frame.kind {
            EventKind::Added => (WatchItem::Added, EventType::Added),
            EventKind::Modified => (WatchItem::Modified, EventType::Modified),
            EventKind::Deleted => (WatchItem::Deleted, EventType::Deleted),
            EventKind::Bookmark => return Ok(self.bookmark(frame)),
            EventKind::Error => {
                let status = frame.status().map_err(|error| FetchError::Other {
                    message: "the watch ended with an error that cannot be read".into(),
                    source: Some(Arc::new(error)),
                })?;
                return Err(ApiError::Status(Box::new(status)).into());
            }
        };
        let row = self.only_row(frame).and_then(|row| self.row(row));
        Ok(row.map_or_else(
            |item| {
                WatchItem::Invalid(InvalidEvent {
                    event: item.name.as_ref().map(|_| event),
                    resource_version: ResourceVersion::default(),
                    item,
                })
            },
            make,
        ))
    }

    /// Decodes a bookmark, which is a table with one row, too.
    fn bookmark(&mut self, frame: &Frame) -> WatchItem<Row> {
        let metadata = self.only_row(frame).and_then(|row| self.metadata(&row));
        match metadata {
            Ok(metadata) => WatchItem::Bookmark {
                initial_events_end: metadata
                    .annotations
                    .get(INITIAL_EVENTS_END)
                    .is_some_and(|value| *value == "true"),
                resource_version: metadata.resource_version.into(),
            },
            Err(item) => WatchItem::Invalid(InvalidEvent {
                event: Some(EventType::Bookmark),
                resource_version: ResourceVersion::default(),
                item,
            }),
        }
    }

    /// Returns the row of an event, whose object may be a table of one row.
    fn only_row(&mut self, frame: &Frame) -> Result<TableRow, InvalidItem> {
        let whole: Value =
            serde_json::from_slice(&frame.object).map_err(|error| unnamed(&error))?;
        if whole.get("kind").and_then(Value::as_str) != Some("Table") {
            return Ok(of_object(whole));
        }
        let table: Page = serde_json::from_value(whole).map_err(|error| unnamed(&error))?;
        self.learn(table.column_definitions);
        let row = table.rows.into_iter().flatten().next();
        Ok(row.unwrap_or_default())
    }

    /// Keeps the columns if there are any.
    fn learn(&mut self, definitions: Option<Vec<ColumnDefinition>>) {
        let Some(definitions) = definitions.filter(|it| !it.is_empty()) else {
            return;
        };
        let column = |it: ColumnDefinition| Column::new(&it.name, it.priority > 0);
        let columns: Vec<Column> = definitions.into_iter().map(column).collect();
        // Rows share their columns as long as these are the same.
        if *columns != *self.columns {
            self.columns = columns.into();
        }
    }

    fn row(&mut self, row: TableRow) -> Result<Row, InvalidItem> {
        let metadata = self.metadata(&row)?;
        if metadata.name.is_empty() {
            let reason = "a row without the name of its object".to_owned();
            let error = WireErrorKind::Invalid { reason }.into();
            return Err(InvalidItem { name: None, error });
        }
        Ok(Row::new(&self.columns, &row.cells, metadata))
    }

    fn metadata(&mut self, row: &TableRow) -> Result<ObjectMeta, InvalidItem> {
        // A value of JSON that was parsed can be written again.
        let bytes = serde_json::to_vec(&row.object).unwrap_or_default();
        scan::metadata(&bytes, Encoding::Json, &mut self.cx).map_err(|error| InvalidItem {
            name: scan::name_in(&bytes, Encoding::Json),
            error,
        })
    }
}

/// Returns the row of an object: its name; its age follows from the metadata.
fn of_object(object: Value) -> TableRow {
    let name = object.pointer("/metadata/name");
    TableRow {
        cells: vec![name.cloned().unwrap_or_default(), Value::Null],
        object,
    }
}

fn syntax(error: &serde_json::Error) -> WireError {
    WireErrorKind::Syntax {
        reason: error.to_string(),
        line: error.line(),
        column: error.column(),
    }
    .into()
}

fn unnamed(error: &serde_json::Error) -> InvalidItem {
    InvalidItem {
        name: None,
        error: syntax(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::{Object as _, Time};
    use kubist_codec::watch_stream::WatchStream;
    use serde_json::json;

    fn events(decoder: &mut RowDecoder, events: &[Value]) -> Vec<Result<WatchItem<Row>, String>> {
        let mut watch = WatchStream::new(Encoding::Json);
        for event in events {
            watch.push(event.to_string().into());
        }
        let mut decoded = Vec::new();
        while let Some(frame) = watch.next_frame().unwrap() {
            decoded.push(decoder.event(&frame).map_err(|it| it.to_string()));
        }
        decoded
    }

    fn table(columns: Value, cells: Value, metadata: Value) -> Value {
        let object = json!({"kind": "PartialObjectMetadata", "metadata": metadata});
        json!({"kind": "Table", "columnDefinitions": columns,
            "rows": [{"cells": cells, "object": object}]})
    }

    fn shown(row: &Row) -> Vec<String> {
        let cell = |index| row.cell(&row.columns, index, Time::default()).into_owned();
        (0..row.columns.len()).map(cell).collect()
    }

    #[test]
    fn only_the_first_table_of_a_watch_has_columns() {
        let columns = json!([{"name": "Name", "priority": 0}, {"name": "IP", "priority": 1}]);
        let metadata = json!({"name": "web", "namespace": "shop", "resourceVersion": "7"});
        let first = table(columns, json!(["web", "::1"]), metadata.clone());
        let second = table(json!(null), json!(["web", null]), metadata);
        let mut decoder = RowDecoder::new();
        let events = events(
            &mut decoder,
            &[
                json!({"type": "ADDED", "object": first}),
                json!({"type": "DELETED", "object": second}),
            ],
        );
        let [Ok(WatchItem::Added(first)), Ok(WatchItem::Deleted(second))] = &events[..] else {
            panic!("{events:?}");
        };
        assert_eq!(shown(first), ["web", "::1"]);
        assert_eq!(shown(second), ["web", ""]);
        assert!(Arc::ptr_eq(&first.columns, &second.columns));
        assert_eq!(
            (second.namespace(), second.resource_version()),
            ("shop", "7")
        );
        assert!(second.columns[1].wide && !second.columns[0].wide);
    }

    #[test]
    fn bookmarks_and_errors_are_what_they_are_in_other_watches() {
        let end = json!({"resourceVersion": "9", "annotations": {INITIAL_EVENTS_END: "true"}});
        let gone = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
            "reason": "Expired", "code": 410, "message": "too old"});
        let mut decoder = RowDecoder::new();
        let plain = json!({"kind": "ConfigMap", "metadata": {"resourceVersion": "3"}});
        let events = events(
            &mut decoder,
            &[
                json!({"type": "BOOKMARK", "object": table(json!(null), json!([]), end)}),
                json!({"type": "BOOKMARK", "object": plain}),
                json!({"type": "ADDED", "object": table(json!(null), json!([]), json!({}))}),
                json!({"type": "ERROR", "object": gone}),
            ],
        );
        let bookmark = |version: &str, initial_events_end| {
            Ok(WatchItem::Bookmark {
                resource_version: version.into(),
                initial_events_end,
            })
        };
        let same = |at: usize, expected: Result<WatchItem<Row>, String>| {
            assert_eq!(format!("{:?}", events[at]), format!("{expected:?}"));
        };
        same(0, bookmark("9", true));
        same(1, bookmark("3", false));
        assert!(matches!(events[2], Ok(WatchItem::Invalid(_))), "no name");
        assert_eq!(
            events[3].as_ref().unwrap_err(),
            "the requested version is too old: too old"
        );
    }

    #[test]
    fn objects_of_a_server_without_tables_have_the_columns_of_every_kind() {
        let list = json!({"kind": "FigList", "metadata": {"resourceVersion": "5", "continue": "c"},
            "items": [{"metadata": {"name": "f"}}, {"metadata": {}}]});
        let (items, end) = RowDecoder::new().page(list.to_string().as_bytes()).unwrap();
        let [ListItem::Object(row), ListItem::Invalid(_)] = &items[..] else {
            panic!("{items:?}");
        };
        assert_eq!(shown(row), ["f", ""]);
        assert_eq!(
            (end.resource_version, end.continue_token),
            ("5".into(), "c".into())
        );
        let error = RowDecoder::new().page(b"{\"kind\": \"Pod\"}").unwrap_err();
        assert_eq!(error.to_string(), "the server answered with a Pod");
        assert!(RowDecoder::new().page(b"<html>").is_err());
    }
}
