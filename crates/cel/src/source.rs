//! [`Source`]: the text of an expression with its lines, and [`Location`]s in it.

use crate::error::Issue;

/// The longest line that is shown with an issue, in bytes.
const MAX_SNIPPET: usize = 16_384;

/// A place in an expression. Lines count from one and columns from zero, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a line and a column are a place")]
pub struct Location {
    /// The line; 0 or less for an issue without a place.
    pub line: i64,
    /// The column.
    pub column: i64,
}

impl Location {
    /// The location of issues without one.
    pub(crate) const NONE: Self = Self {
        line: -1,
        column: -1,
    };
}

/// The text of an expression, whose lines can be found.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    text: &'t str,
    /// For each line, its first character's offset in characters and in bytes.
    lines: Vec<(u32, usize)>,
}

impl<'t> Source<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut lines = vec![(0, 0)];
        for (count, (at, character)) in (1_u32..).zip(text.char_indices()) {
            if character == '\n' {
                lines.push((count, at + 1));
            }
        }
        Self { text, lines }
    }

    /// Returns the location of an offset in characters.
    pub(crate) fn location(&self, offset: u32) -> Location {
        let line = self.lines.partition_point(|it| it.0 <= offset).max(1);
        let start = self.lines.get(line - 1).map_or(0, |it| it.0);
        Location {
            line: i64::try_from(line).unwrap_or(i64::MAX),
            column: i64::from(offset - start),
        }
    }

    /// Shows an issue, with the line and a mark under the place.
    pub(crate) fn display(&self, issue: &Issue) -> String {
        let Location { line, column } = issue.location;
        let mut text = format!("ERROR: <input>:{line}:{}: {}", column + 1, issue.message);
        let Some(snippet) = self.snippet(line).filter(|it| it.len() <= MAX_SNIPPET) else {
            return text;
        };
        text.push_str("\n | ");
        text.push_str(&snippet.replace('\t', " "));
        text.push_str("\n | ");
        let mut characters = snippet.chars();
        for character in characters
            .by_ref()
            .take(usize::try_from(column).unwrap_or(0))
        {
            text.push(if character.len_utf8() > 1 {
                '\u{ff0e}'
            } else {
                '.'
            });
        }
        let is_wide = characters.next().is_some_and(|it| it.len_utf8() > 1);
        text.push(if is_wide { '\u{ff3e}' } else { '^' });
        text
    }

    fn snippet(&self, line: i64) -> Option<&'t str> {
        let line = usize::try_from(line).ok().filter(|it| *it > 0)?;
        let start = self.lines.get(line - 1)?.1;
        let end = self.lines.get(line).map_or(self.text.len(), |it| it.1 - 1);
        (!self.text.is_empty()).then(|| &self.text[start..end])
    }
}
