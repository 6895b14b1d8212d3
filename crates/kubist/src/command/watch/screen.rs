//! `Screen`: what a terminal shows of a watch: the rows of a kind, or the details of one object.
//!
//! A pure model: events, keys and the time go in; a frame comes out. It does no I/O and reads no
//! clock. What it needs from outside, an object or its own end, it asks for.

mod details;
mod key;
mod paint;
mod secret;
mod table;

use self::details::Details;
pub(super) use self::key::Key;
use self::paint::{Painter, accent, title, width};
use self::table::Table;
use super::super::units;
use super::connection::Link;
use super::row::Row;
use kubist_apimachinery::{ApiResource, ObjectName, Time, Unstructured};
use kubist_cache::ResourceEvent;
use ratatui_core::terminal::Frame;
use std::time::Duration;

/// The line above the table or the details.
const TITLE_LINES: u16 = 1;
/// The keys, in the last line.
const TABLE_KEYS: &str = "↑↓ jk: move  Enter: details  /: filter  w: wide  q: quit";
const DETAILS_KEYS: &str = "↑↓ jk: scroll  g G: start, end  Esc: back  q: quit";
const SECRET_KEYS: &str = "↑↓ jk: scroll  s: show or hide values  Esc: back  q: quit";
const TYPING_KEYS: &str = "█  Enter: keep, Esc: clear";
/// The most lines of a problem, at the bottom.
const PROBLEM_LINES_MAX: usize = 3;
/// How often something is drawn if nothing happens, because ages grow.
const AGES_GROW: Duration = Duration::from_secs(1);

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// The time since the start, for what is shown for a while.
    pub(super) at: Duration,
    /// The time of day, for ages.
    pub(super) clock: Time,
}

/// What is known about the watch as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// The version of the last event.
    pub(super) version: String,
    /// Whether events arrive.
    pub(super) link: Link,
    /// The last problem, while it is recent.
    pub(super) problem: Option<String>,
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// To go on.
    Continue,
    /// To end, as `q` does.
    Quit,
    /// To end as by a signal.
    Interrupt,
}

/// The whole screen.
#[derive(Debug)]
pub(super) struct Screen {
    /// `deployments.apps`.
    kind: String,
    context: String,
    status: Status,
    table: Table,
    details: Option<Details>,
    /// Whether keys are text of the filter.
    typing: bool,
    /// The filter as typed, in lower case. It is applied when its effect is needed, not for each
    /// key: pasted text would take its length in passes over all rows.
    typed: String,
    drawn: Option<Duration>,
    dirty: bool,
}

impl Screen {
    /// Creates a screen without rows. `with_namespaces`: the rows are of several namespaces.
    pub(super) fn new(
        resource: &ApiResource,
        context: &str,
        with_namespaces: bool,
        wide: bool,
    ) -> Self {
        let kind = match resource.group.as_str() {
            "" => resource.plural.to_string(),
            group => format!("{}.{group}", resource.plural),
        };
        Self {
            kind,
            context: context.to_owned(),
            status: Status {
                version: String::new(),
                link: Link::Listing,
                problem: None,
            },
            table: Table::new(with_namespaces, wide),
            details: None,
            typing: false,
            typed: String::new(),
            drawn: None,
            dirty: true,
        }
    }

    /// Takes in an event.
    pub(super) fn apply(&mut self, change: &ResourceEvent<Row>, now: Moment) {
        self.dirty = true;
        self.table.apply(change, now.at);
        let details = self.details.as_mut();
        if let Some(details) = details.filter(|it| *it.name() == change.object_name()) {
            details.object_changed(matches!(change, ResourceEvent::Deleted(_)));
        }
    }

    /// Takes in the state of the watch.
    pub(super) fn set_status(&mut self, status: Status) {
        self.dirty |= self.status != status;
        self.status = status;
    }

    /// Takes in the answer to [`Self::take_wanted`].
    pub(super) fn fetched(&mut self, name: &ObjectName, object: Result<Unstructured, String>) {
        self.dirty = true;
        if let Some(details) = self.details.as_mut().filter(|it| it.name() == name) {
            details.fetched(object);
        }
    }

    /// Returns the object that must be fetched, once for each time that it is needed.
    pub(super) fn take_wanted(&mut self) -> Option<ObjectName> {
        self.details.as_mut()?.take_wanted()
    }

    /// Everything must be drawn anew.
    pub(super) fn resized(&mut self) {
        self.table.forget_widths();
        self.dirty = true;
    }

    /// Reports whether it would look different from when it was last drawn.
    pub(super) fn is_due(&self, now: Moment) -> bool {
        let aged = |drawn| now.at.saturating_sub(drawn) >= AGES_GROW;
        self.dirty || self.drawn.is_none_or(aged) || self.table.has_faded(now.at)
    }

    /// Takes in a key.
    pub(super) fn press(&mut self, key: Key) -> Wish {
        self.dirty = true;
        if key == Key::Interrupt {
            return Wish::Interrupt;
        }
        if self.typing {
            self.type_filter(key);
            return Wish::Continue;
        }
        if key == Key::Char('q') {
            return Wish::Quit;
        }
        match &mut self.details {
            Some(_) if matches!(key, Key::Escape | Key::Backspace) => self.details = None,
            Some(details) => details.press(key),
            None => self.press_in_table(key),
        }
        Wish::Continue
    }

    fn press_in_table(&mut self, key: Key) {
        match key {
            Key::Char('/') => self.typing = true,
            Key::Escape => {
                self.typed.clear();
                self.apply_filter();
            }
            Key::Enter => self.details = self.table.selected().cloned().map(Details::new),
            key => self.table.press(key),
        }
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Enter => self.typing = false,
            Key::Escape => {
                self.typing = false;
                self.typed.clear();
            }
            Key::Backspace if self.typed.is_empty() => self.typing = false,
            Key::Backspace => {
                self.typed.pop();
            }
            Key::Char(character) => {
                self.typed.extend(character.to_lowercase());
                return;
            }
            key => {
                self.apply_filter();
                return self.table.press(key);
            }
        }
        if !self.typing {
            self.apply_filter();
        }
    }

    fn apply_filter(&mut self) {
        if self.typed != self.table.filter() {
            self.table.set_filter(&self.typed);
        }
    }

    /// Draws everything that is visible.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, now: Moment) {
        self.apply_filter();
        self.table.fade(now.at);
        let area = frame.area();
        let mut painter = Painter::new(frame.buffer_mut(), area);
        self.draw_title(&mut painter);
        let footer = self.footer_lines(painter.width());
        let height = area.height.saturating_sub(TITLE_LINES + footer);
        match &mut self.details {
            Some(details) => details.draw(&mut painter, height, now.clock),
            None => self.table.draw(&mut painter, height, now.clock),
        }
        painter.go_to_last_lines(footer);
        self.draw_footer(&mut painter, footer);
        self.drawn = Some(now.at);
        self.dirty = false;
    }

    fn draw_title(&self, painter: &mut Painter<'_>) {
        let count = match self.table.filter() {
            "" => units::of(self.table.len() as u64, "object"),
            _ => format!(
                "{} of {}",
                units::count(self.table.len_filtered() as u64),
                units::of(self.table.len() as u64, "object")
            ),
        };
        let what = match &self.details {
            Some(details) => details.title(&self.kind),
            None => self.kind.clone(),
        };
        // What matters most comes first, because the end is cut off.
        painter.text(&format!("{what}  {}  ", self.context), title());
        let (text, style) = paint::link(self.status.link);
        painter.text(&text, style);
        painter.text(&format!("  {count}"), title());
        if !self.status.version.is_empty() {
            let version = format!("  version {}", self.status.version);
            painter.text(&version, title());
        }
        painter.fill(title());
    }

    /// A problem with its advice may need several.
    fn footer_lines(&self, width: usize) -> u16 {
        let problem = self.status.problem.as_deref().filter(|_| !self.typing);
        let length = problem.map_or(0, paint::width);
        let lines = length.div_ceil(width.max(1)).clamp(1, PROBLEM_LINES_MAX);
        u16::try_from(lines).unwrap_or(1)
    }

    fn draw_footer(&self, painter: &mut Painter<'_>, lines: u16) {
        if self.typing || !self.table.filter().is_empty() && self.details.is_none() {
            painter.text("/", accent());
            if self.typing {
                // What is being typed stays visible.
                let room = painter.width().saturating_sub(width(TYPING_KEYS) + 1);
                painter.text(paint::end_of(&self.typed, room), accent());
                painter.text(TYPING_KEYS, paint::dim());
                return;
            }
            painter.text(&self.typed, accent());
            painter.text("  ", paint::dim());
        }
        if let Some(problem) = &self.status.problem {
            painter.wrapped(&vec![(problem.clone(), paint::bad())], lines);
            return;
        }
        let keys = match &self.details {
            Some(details) if details.is_secret() => SECRET_KEYS,
            Some(_) => DETAILS_KEYS,
            None => TABLE_KEYS,
        };
        painter.text(keys, paint::dim());
    }
}

#[cfg(test)]
mod tests;
