//! `RowLines`: a line per event with the columns of the kind, for pipes and files.

use super::super::clock;
use super::super::harmless::harmless;
use super::View;
use super::lines::{object_of, type_of};
use super::row::{Columns, Row};
use kubist_apimachinery::{Object as _, Time};
use kubist_cache::ResourceEvent;
use std::io::{self, BufWriter, Stdout, Write};

/// Bytes buffered while more events are pending.
const BUFFER: usize = 64 << 10;
/// The width of the longest event type.
const TYPE_WIDTH: usize = "MODIFIED".len();

/// Event type, namespace and columns of each event. Lines that come together have the same widths;
/// later ones are as wide or wider.
pub(super) struct RowLines<W: Write = BufWriter<Stdout>> {
    out: W,
    wide: bool,
    columns: Option<Columns>,
    widths: Vec<usize>,
    waiting: Vec<Vec<String>>,
    now: fn() -> Time,
}

impl RowLines {
    /// Writes to standard output; `wide` for all columns.
    pub(super) fn new(wide: bool) -> Self {
        let out = BufWriter::with_capacity(BUFFER, io::stdout());
        Self::to(out, wide, clock::now)
    }
}

impl<W: Write> RowLines<W> {
    fn to(out: W, wide: bool, now: fn() -> Time) -> Self {
        Self {
            out,
            wide,
            columns: None,
            widths: Vec::new(),
            waiting: Vec::new(),
            now,
        }
    }

    fn push(&mut self, change: &ResourceEvent<Row>) {
        let Some(row) = object_of(change) else {
            return;
        };
        if self.columns.as_ref() != Some(&row.columns) {
            self.columns = Some(Columns::clone(&row.columns));
            self.widths = vec![TYPE_WIDTH];
            self.waiting.push(heading(&row.columns, self.wide));
        }
        let mut line = vec![
            type_of(change).to_owned(),
            harmless(row.namespace()).into_owned(),
        ];
        let now = (self.now)();
        for (index, column) in row.columns.iter().enumerate() {
            if self.wide || !column.wide {
                line.push(row.cell(&row.columns, index, now).into_owned());
            }
        }
        self.waiting.push(line);
    }

    fn flush(&mut self) -> io::Result<()> {
        for line in &self.waiting {
            self.widths.resize(line.len(), 0);
            for (width, cell) in self.widths.iter_mut().zip(line) {
                *width = (*width).max(console::measure_text_width(cell));
            }
        }
        for line in self.waiting.drain(..) {
            let mut text = String::new();
            for (width, cell) in self.widths.iter().zip(&line) {
                text.push_str(&console::pad_str(
                    cell,
                    *width,
                    console::Alignment::Left,
                    None,
                ));
                text.push_str("  ");
            }
            writeln!(self.out, "{}", text.trim_end())?;
        }
        self.out.flush()
    }
}

fn heading(columns: &Columns, wide: bool) -> Vec<String> {
    let shown = columns.iter().filter(|it| wide || !it.wide);
    let names = shown.map(|it| it.name.to_uppercase());
    let first = ["EVENT", "NAMESPACE"].map(ToOwned::to_owned);
    first.into_iter().chain(names).collect()
}

impl<W: Write> View<Row> for RowLines<W> {
    fn show(&mut self, change: &ResourceEvent<Row>) -> io::Result<()> {
        self.push(change);
        Ok(())
    }

    fn idle(&mut self) -> io::Result<()> {
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::{columns, row};
    use super::*;
    use kubist_cache::Deleted;
    use std::sync::Arc;

    #[test]
    fn lines_have_the_columns_of_the_kind_below_each_other() {
        let columns = columns(&["Name", "Ready", "+IP", "Age"]);
        let web = |ready| Arc::new(row(&columns, "web", &["web", ready, "::1", ""]));
        let added = ResourceEvent::Added {
            object: web("0/1"),
            initial: true,
        };
        let updated = ResourceEvent::Updated {
            old: web("0/1"),
            new: web("1/1"),
        };
        let deleted = ResourceEvent::Deleted(Deleted::Known(web("1/1")));
        let printed = |wide| {
            let mut lines = RowLines::to(Vec::new(), wide, || Time::from_unix(90));
            lines.show(&added).unwrap();
            lines.show(&updated).unwrap();
            lines.idle().unwrap();
            lines.show(&deleted).unwrap();
            lines.idle().unwrap();
            String::from_utf8(lines.out).unwrap()
        };
        let expected = "\
EVENT     NAMESPACE  NAME  READY  AGE
ADDED     shop       web   0/1    90s
MODIFIED  shop       web   1/1    90s
DELETED   shop       web   1/1    90s
";
        assert_eq!(printed(false), expected);
        assert!(printed(true).contains("  IP   AGE\n"), "{}", printed(true));
    }
}
