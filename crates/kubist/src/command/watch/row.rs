//! `Row`: an object as the server's tables show it, with the metadata that an informer needs.
//!
//! It has no spec and no status: the server has made text of them. It reads no clock.

use super::super::harmless::harmless;
use super::super::units;
use kubist_apimachinery::{KeyValues, Object, ObjectMeta, Owners, Time};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// The column that a table shows as of the time of its request, and a watch as of now.
const AGE: &str = "Age";

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Its name, as in the definition: `Ready`.
    pub(super) name: String,
    /// Whether it is shown only on request.
    pub(super) wide: bool,
}

impl Column {
    /// Creates a column: its name is as harmless as a cell.
    pub(super) fn new(name: &str, wide: bool) -> Self {
        let name = harmless(name).into_owned();
        Self { name, wide }
    }
}

/// The columns of a kind, shared by its rows.
pub(super) type Columns = Arc<[Column]>;

/// An object as a row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The columns of its cells.
    pub(super) columns: Columns,
    cells: Box<[Box<str>]>,
    metadata: ObjectMeta,
}

impl Row {
    /// Creates a row. Cells without a column are dropped. Of the metadata it keeps what it needs.
    pub(super) fn new(columns: &Columns, cells: &[Value], mut metadata: ObjectMeta) -> Self {
        metadata.managed_fields = Vec::new();
        metadata.annotations.clear();
        let cells = cells.iter().take(columns.len());
        Self {
            columns: Arc::clone(columns),
            cells: cells.map(|cell| text_of(cell).into()).collect(),
            metadata,
        }
    }

    /// Returns the text in a column of `columns`. If the row has other columns, because the
    /// definition of the kind has changed meanwhile, the column is found by name.
    pub(super) fn cell(&self, columns: &Columns, index: usize, now: Time) -> Cow<'_, str> {
        let Some(column) = columns.get(index) else {
            return Cow::Borrowed("");
        };
        if column.name == AGE
            && let Some(created) = self.metadata.creation_timestamp
        {
            return Cow::Owned(units::age(between(created, now)));
        }
        let index = if Arc::ptr_eq(columns, &self.columns) {
            Some(index)
        } else {
            self.columns.iter().position(|it| it.name == column.name)
        };
        let cell = index.and_then(|index| self.cells.get(index));
        Cow::Borrowed(cell.map_or("", |it| it))
    }

    /// Returns the columns in which it differs from an earlier row. An age that has grown is no
    /// difference.
    pub(super) fn changed_columns(&self, before: &Self) -> Vec<usize> {
        let epoch = Time::default();
        let differs = |index: &usize| {
            self.cell(&self.columns, *index, epoch) != before.cell(&self.columns, *index, epoch)
        };
        (0..self.columns.len()).filter(differs).collect()
    }
}

/// Returns the time between two times; zero if they are in the wrong order.
pub(super) fn between(then: Time, now: Time) -> Duration {
    let seconds = now.unix().saturating_sub(then.unix());
    Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}

/// Returns the first line of a cell's text, without characters that would control the terminal.
fn text_of(cell: &Value) -> String {
    let text = match cell {
        Value::Null => return String::new(),
        Value::String(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(other.to_string()),
    };
    let mut lines = text.splitn(2, ['\n', '\r', '\u{c}']);
    let mut line = harmless(lines.next().unwrap_or_default()).into_owned();
    if lines.next().is_some() {
        line.push_str("...");
    }
    line
}

impl Object for Row {
    fn name(&self) -> &str {
        self.metadata.name()
    }
    fn namespace(&self) -> &str {
        self.metadata.namespace()
    }
    fn uid(&self) -> &str {
        self.metadata.uid()
    }
    fn resource_version(&self) -> &str {
        self.metadata.resource_version()
    }
    fn labels(&self) -> KeyValues<'_> {
        self.metadata.labels()
    }
    fn annotations(&self) -> KeyValues<'_> {
        self.metadata.annotations()
    }
    fn owners(&self) -> Owners<'_> {
        self.metadata.owners()
    }
    fn is_terminating(&self) -> bool {
        self.metadata.is_terminating()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    pub(in super::super) fn columns(names: &[&str]) -> Columns {
        let column = |name: &&str| Column {
            name: name.trim_start_matches('+').to_owned(),
            wide: name.starts_with('+'),
        };
        names.iter().map(column).collect()
    }

    /// A row of the namespace `shop` that is as old as the epoch.
    pub(in super::super) fn row(columns: &Columns, name: &str, cells: &[&str]) -> Row {
        let metadata = ObjectMeta {
            name: name.into(),
            namespace: "shop".into(),
            creation_timestamp: Some(Time::from_unix(0)),
            ..ObjectMeta::default()
        };
        let cells: Vec<Value> = cells.iter().map(|it| Value::from(*it)).collect();
        Row::new(columns, &cells, metadata)
    }

    #[test]
    fn a_cell_is_one_line_that_cannot_control_the_terminal() {
        for (cell, text) in [
            (json!(null), ""),
            (json!(3), "3"),
            (json!(true), "true"),
            (json!("1/1"), "1/1"),
            (json!("one\ntwo"), "one..."),
            (json!("\u{1b}[2Jgone\tx"), "\u{fffd}[2Jgone x"),
        ] {
            assert_eq!(text_of(&cell), text);
        }
    }

    #[test]
    fn an_age_grows_and_is_no_change() {
        let columns = columns(&["Name", "Ready", "Age"]);
        let old = row(&columns, "web", &["web", "0/1", "1s"]);
        let new = row(&columns, "web", &["web", "1/1", "5s"]);
        assert_eq!(old.cell(&columns, 2, Time::from_unix(300)), "5m0s");
        assert_eq!(new.changed_columns(&old), [1]);
    }

    #[test]
    fn a_row_of_earlier_columns_is_shown_by_their_names() {
        let before = columns(&["Name", "Size"]);
        let old = row(&before, "web", &["web", "3"]);
        let now = columns(&["Name", "Phase", "Size"]);
        let shown = |index| old.cell(&now, index, Time::default()).into_owned();
        assert_eq!([shown(0), shown(1), shown(2)], ["web", "", "3"]);
        let new = row(&now, "web", &["web", "Up", "3"]);
        assert_eq!(new.changed_columns(&old), [1]);
    }
}
