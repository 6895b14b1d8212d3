//! `Painter`: writes text line by line into a frame. Styles, and the text of a connection's state.

use super::super::super::harmless::harmless;
use super::super::super::units;
use super::super::connection::Link;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Span;
use std::borrow::Cow;

/// A line in parts.
pub(super) type Line = Vec<(String, Style)>;

/// Writes into a frame from the top; what does not fit is cut off.
pub(super) struct Painter<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    x: u16,
    y: u16,
}

impl<'a> Painter<'a> {
    pub(super) fn new(buffer: &'a mut Buffer, area: Rect) -> Self {
        let (x, y) = (area.x, area.y);
        Self { buffer, area, x, y }
    }

    /// Returns the width of a line.
    pub(super) fn width(&self) -> usize {
        self.area.width.into()
    }

    /// Appends to the line.
    pub(super) fn text(&mut self, text: &str, style: Style) {
        let left = self.area.right().saturating_sub(self.x);
        if left == 0 || self.y >= self.area.bottom() {
            return;
        }
        let text = harmless(text);
        let (end, _) = self
            .buffer
            .set_stringn(self.x, self.y, &text, left.into(), style);
        if width(&text) > left.into() {
            let last = self.area.right() - 1;
            self.buffer.set_stringn(last, self.y, "…", 1, style);
        }
        self.x = end;
    }

    /// Appends, and spaces up to a width.
    pub(super) fn cell(&mut self, text: &str, wide: usize, style: Style, gap: Style) {
        self.text(text, style);
        self.text(&" ".repeat(wide.saturating_sub(width(text))), gap);
    }

    /// Ends the line with spaces up to the edge, and begins the next.
    pub(super) fn fill(&mut self, style: Style) {
        let left = self.area.right().saturating_sub(self.x);
        self.text(&" ".repeat(left.into()), style);
        self.next_line();
    }

    /// Begins the next line.
    pub(super) fn next_line(&mut self) {
        self.x = self.area.x;
        self.y = self.y.saturating_add(1);
    }

    /// Goes to the beginning of this many lines at the bottom.
    pub(super) fn go_to_last_lines(&mut self, lines: u16) {
        self.x = self.area.x;
        self.y = self.area.bottom().saturating_sub(lines);
    }

    /// Writes a line, and goes on in as many of the next `left` lines as it takes; returns the
    /// rest.
    pub(super) fn wrapped(&mut self, line: &Line, mut left: u16) -> u16 {
        let mut used = 0;
        for (text, style) in line {
            let mut pieces = wrap(text, self.width(), used).peekable();
            while let Some(piece) = pieces.next() {
                self.text(piece, *style);
                used += width(piece);
                if pieces.peek().is_some() {
                    self.next_line();
                    (used, left) = (0, left.saturating_sub(1));
                    if left == 0 {
                        return 0;
                    }
                }
            }
        }
        self.next_line();
        left.saturating_sub(1)
    }
}

/// Splits a text into what fits into lines, the first of which has `used` columns already. There is
/// a piece for each line, so the first may be empty.
pub(super) fn wrap(text: &str, wide: usize, used: usize) -> impl Iterator<Item = &str> {
    let (mut rest, mut used) = (Some(text), used);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let fits = wide.saturating_sub(std::mem::take(&mut used));
        // A line that cannot have a single character has one.
        let least = usize::from(fits == wide);
        let end = position_after(text, fits, least);
        let (piece, after) = text.split_at(end);
        rest = (!after.is_empty()).then_some(after);
        Some(piece)
    })
}

/// Returns where the text ends that fits into `wide` columns, and has `least` characters.
fn position_after(text: &str, wide: usize, least: usize) -> usize {
    let mut used = 0;
    let mut after = text
        .char_indices()
        .enumerate()
        .filter(|(index, (_, character))| {
            used += width(character.encode_utf8(&mut [0; 4]));
            used > wide && *index >= least
        });
    after.next().map_or(text.len(), |(_, (at, _))| at)
}

/// Returns the end of a text, as much as fits into `wide` columns.
pub(super) fn end_of(text: &str, wide: usize) -> &str {
    let mut used = 0;
    let mut start = text.len();
    for (at, character) in text.char_indices().rev() {
        used += width(character.encode_utf8(&mut [0; 4]));
        if used > wide {
            break;
        }
        start = at;
    }
    &text[start..]
}

/// Cuts a text that takes more than `wide` columns.
pub(super) fn clipped(text: &str, wide: usize) -> Cow<'_, str> {
    if width(text) <= wide {
        return Cow::Borrowed(text);
    }
    let end = position_after(text, wide.saturating_sub(1), 0);
    Cow::Owned(format!("{}…", &text[..end]))
}

/// Returns the columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

pub(super) fn title() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}

pub(super) fn heading() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

pub(super) fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

pub(super) fn accent() -> Style {
    Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD)
}

pub(super) fn good() -> Style {
    Style::new().fg(Color::Green)
}

pub(super) fn changed() -> Style {
    Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD)
}

pub(super) fn bad() -> Style {
    Style::new().fg(Color::Red)
}

/// Returns the state of a connection in the title.
pub(super) fn link(link: Link) -> (String, Style) {
    let (text, color) = match link {
        Link::Listing => ("listing".to_owned(), Color::Yellow),
        Link::Live => ("live".to_owned(), Color::Green),
        Link::Relisting => ("relisting".to_owned(), Color::Yellow),
        Link::Lost(time) => (format!("reconnecting for {}", units::age(time)), Color::Red),
    };
    (text, title().fg(color))
}
