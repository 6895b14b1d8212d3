//! `Painter`: writes text line by line into a frame. Styles, and the text of a connection's state.

use super::super::super::units;
use super::super::connection::Link;
use super::super::row::harmless;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Span;

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
            let mut piece = String::new();
            let mut buffer = [0; 4];
            for character in text.chars() {
                let wide = width(character.encode_utf8(&mut buffer));
                if used + wide > self.width() && used > 0 {
                    self.text(&piece, *style);
                    self.next_line();
                    piece.clear();
                    (used, left) = (0, left.saturating_sub(1));
                    if left == 0 {
                        return 0;
                    }
                }
                piece.push(character);
                used += wide;
            }
            self.text(&piece, *style);
        }
        self.next_line();
        left.saturating_sub(1)
    }
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
