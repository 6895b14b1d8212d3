//! A text table: Markdown with aligned columns, readable in a terminal, too.

use std::fmt;

/// Rows under a header; numbers are aligned right.
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(head: [&str; N]) -> Self {
        Self::with_head(&head)
    }

    pub(super) fn with_head(head: &[&str]) -> Self {
        Self {
            head: head.iter().map(|&it| it.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells at its end are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().collect();
        cells.resize(self.head.len(), String::new());
        self.rows.push(cells);
    }

    fn width(&self, column: usize) -> usize {
        std::iter::once(&self.head)
            .chain(&self.rows)
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
            .max(3)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.head.len()).map(|it| self.width(it)).collect();
        let line = |f: &mut fmt::Formatter<'_>, row: &[String]| {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(f, "| {cell:<width$} ")?,
                    _ => write!(f, "| {cell:>width$} ")?,
                }
            }
            writeln!(f, "|")
        };
        line(f, &self.head)?;
        for (column, width) in widths.iter().enumerate() {
            let end = if column == 0 { "-" } else { ":" };
            write!(f, "|-{}{end}", "-".repeat(*width))?;
        }
        writeln!(f, "|")?;
        self.rows.iter().try_for_each(|row| line(f, row))
    }
}

/// Formats a number with this many decimals; a dash if there is none.
pub(super) fn fixed(value: f64, digits: usize) -> String {
    if value.is_finite() {
        format!("{value:.digits$}")
    } else {
        "–".to_owned()
    }
}

/// Formats nanoseconds in a suitable unit.
pub(super) fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        it if !it.is_finite() => "–".to_owned(),
        it if it < 1e3 => format!("{it:.0} ns"),
        it if it < 1e6 => format!("{:.1} µs", it / 1e3),
        it if it < 1e9 => format!("{:.1} ms", it / 1e6),
        it => format!("{:.2} s", it / 1e9),
    }
}

/// Formats a rate, in millions or thousands.
pub(super) fn rate(per_second: f64) -> String {
    match per_second {
        it if !it.is_finite() => "–".to_owned(),
        it if it < 1e6 => format!("{:.0} k/s", it / 1e3),
        it => format!("{:.2} M/s", it / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["what", "s"]);
        table.row(["one".to_owned(), "10.25".to_owned()]);
        table.row(["three words here".to_owned()]);
        let expected = "\
| what             |     s |
|------------------|------:|
| one              | 10.25 |
| three words here |       |
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn numbers_have_the_unit_that_suits_them() {
        assert_eq!(duration(67.4), "67 ns");
        assert_eq!(duration(4_300.0), "4.3 µs");
        assert_eq!(duration(8.4e6), "8.4 ms");
        assert_eq!(rate(870_000.0), "870 k/s");
        assert_eq!(rate(2.5e6), "2.50 M/s");
        assert_eq!(fixed(f64::NAN, 1), "–");
    }
}
