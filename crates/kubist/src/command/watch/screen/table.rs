//! `Table`: the rows of a kind, with a selection, a filter and marks on what has just changed.
//!
//! Events cost the logarithm of the number of rows, and drawing costs the visible rows.

use super::super::row::{Columns, Row};
use super::key::Key;
use super::paint::{self, Painter, width};
use kubist_apimachinery::{Object as _, ObjectName, Time};
use kubist_cache::ResourceEvent;
use ratatui_core::style::{Modifier, Style};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// How long a change is marked, and a deleted object shown.
pub(super) const MARKED: Duration = Duration::from_secs(3);
/// Spaces between columns.
const GAP: usize = 3;
/// No column is cut to less than this, with its gap.
const COLUMN_LEAST: usize = 20;
/// The line of the headings.
const HEADINGS: u16 = 1;

#[derive(Debug)]
pub(super) struct Table {
    rows: BTreeMap<ObjectName, Shown>,
    /// The marked rows by the time of their change.
    marked: BTreeSet<(Duration, ObjectName)>,
    /// In lower case; empty for none.
    filter: String,
    /// The rows that the filter selects; none without a filter.
    filtered: Option<BTreeSet<ObjectName>>,
    /// The columns of the last event.
    columns: Columns,
    with_namespaces: bool,
    wide: bool,
    /// Those of the columns that are shown, with the namespace first. They only grow, so that
    /// nothing jumps.
    widths: Vec<usize>,
    selected: Option<ObjectName>,
    /// The number of rows above those that are visible.
    above: usize,
    /// The number of rows that fit.
    page: usize,
}

#[derive(Debug)]
struct Shown {
    row: Arc<Row>,
    mark: Mark,
    marked_at: Duration,
}

#[derive(Debug)]
enum Mark {
    None,
    New,
    /// The changed columns.
    Changed(Vec<usize>),
    Deleted,
}

impl Table {
    pub(super) fn new(with_namespaces: bool, wide: bool) -> Self {
        Self {
            rows: BTreeMap::new(),
            marked: BTreeSet::new(),
            filter: String::new(),
            filtered: None,
            columns: Columns::from([]),
            with_namespaces,
            wide,
            widths: Vec::new(),
            selected: None,
            above: 0,
            page: 1,
        }
    }

    /// The number of objects that exist, as far as is known.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The number of rows that the filter selects.
    pub(super) fn len_filtered(&self) -> usize {
        self.filtered
            .as_ref()
            .map_or(self.rows.len(), BTreeSet::len)
    }

    pub(super) fn filter(&self) -> &str {
        &self.filter
    }

    /// Returns the name of the selected row: at first, and once that is gone, of a neighbour.
    pub(super) fn selected(&self) -> Option<&ObjectName> {
        let selected = self.selected.as_ref().filter(|it| self.is_listed(it));
        selected.or_else(|| self.names().next())
    }

    pub(super) fn apply(&mut self, change: &ResourceEvent<Row>, at: Duration) {
        let (name, mark, row) = match change {
            ResourceEvent::Added { object, initial } => {
                let mark = if *initial { Mark::None } else { Mark::New };
                (object.object_name(), mark, Arc::clone(object))
            }
            ResourceEvent::Updated { new, .. } => {
                let name = new.object_name();
                let mark = self.changes(&name, new, at);
                (name, mark, Arc::clone(new))
            }
            ResourceEvent::Deleted(_) => {
                let name = change.object_name();
                if let Some(before) = self.rows.get(&name) {
                    let row = Arc::clone(&before.row);
                    self.put(name, row, Mark::Deleted, at);
                }
                return;
            }
            ResourceEvent::Resynced(_) => return,
        };
        if self.columns != row.columns {
            self.columns = Arc::clone(&row.columns);
            self.widths.clear();
        }
        self.put(name, row, mark, at);
    }

    /// Returns the mark of a changed row. Changes in quick succession are marked together.
    fn changes(&self, name: &ObjectName, new: &Row, at: Duration) -> Mark {
        let Some(before) = self.rows.get(name) else {
            return Mark::New;
        };
        let mut changed = new.changed_columns(&before.row);
        let recent = at.saturating_sub(before.marked_at) < MARKED;
        match &before.mark {
            Mark::New if recent => return Mark::New,
            Mark::Changed(earlier) if recent => changed.extend(earlier),
            _ => {}
        }
        if changed.is_empty() {
            return Mark::None;
        }
        Mark::Changed(changed)
    }

    fn put(&mut self, name: ObjectName, row: Arc<Row>, mark: Mark, at: Duration) {
        let matches = self.filtered.is_some() && self.filter_matches(&row);
        if let Some(filtered) = &mut self.filtered {
            if matches {
                filtered.insert(name.clone());
            } else {
                filtered.remove(&name);
            }
        }
        if !matches!(mark, Mark::None) {
            self.marked.insert((at, name.clone()));
        }
        let shown = Shown {
            row,
            mark,
            marked_at: at,
        };
        if let Some(before) = self.rows.insert(name.clone(), shown)
            && before.marked_at != at
        {
            self.marked.remove(&(before.marked_at, name));
        }
    }

    /// Reports whether a mark has been shown for long enough.
    pub(super) fn has_faded(&self, now: Duration) -> bool {
        let first = self.marked.first();
        first.is_some_and(|(at, _)| now.saturating_sub(*at) >= MARKED)
    }

    /// Removes marks that were shown for long enough, and deleted objects with theirs.
    pub(super) fn fade(&mut self, now: Duration) {
        while self.has_faded(now) {
            let Some((_, name)) = self.marked.pop_first() else {
                return;
            };
            let Some(shown) = self.rows.get_mut(&name) else {
                continue;
            };
            if !matches!(shown.mark, Mark::Deleted) {
                shown.mark = Mark::None;
                continue;
            }
            if self.selected() == Some(&name) {
                self.selected = self.neighbour(&name);
            }
            self.rows.remove(&name);
            if let Some(filtered) = &mut self.filtered {
                filtered.remove(&name);
            }
        }
    }

    /// Shows only rows with this text in any column.
    pub(super) fn set_filter(&mut self, filter: &str) {
        self.filter = filter.to_lowercase();
        self.widths.clear();
        self.filtered = (!self.filter.is_empty()).then(|| {
            let rows = self.rows.iter();
            let found = rows.filter(|(_, shown)| self.filter_matches(&shown.row));
            found.map(|(name, _)| name.clone()).collect()
        });
    }

    fn filter_matches(&self, row: &Row) -> bool {
        let matches = |text: &str| text.to_lowercase().contains(&self.filter);
        let cells = 0..row.columns.len();
        let mut cells = cells.map(|index| row.cell(&row.columns, index, Time::default()));
        matches(row.namespace()) || matches(row.name()) || cells.any(|cell| matches(&cell))
    }

    pub(super) fn forget_widths(&mut self) {
        self.widths.clear();
    }

    pub(super) fn press(&mut self, key: Key) {
        if key == Key::Char('w') {
            self.wide = !self.wide;
            self.widths.clear();
            return;
        }
        let at = self.position();
        if let Some(to) = key.moved(at, self.len_filtered(), self.page) {
            let selected = self.names().nth(to).cloned();
            self.selected = selected;
        }
    }

    fn is_listed(&self, name: &ObjectName) -> bool {
        match &self.filtered {
            Some(filtered) => filtered.contains(name),
            None => self.rows.contains_key(name),
        }
    }

    /// Returns the names of the rows that the filter selects, in order.
    fn names(&self) -> Box<dyn Iterator<Item = &ObjectName> + '_> {
        match &self.filtered {
            Some(filtered) => Box::new(filtered.iter()),
            None => Box::new(self.rows.keys()),
        }
    }

    /// Returns the name after this one, or before it if it is the last.
    fn neighbour(&self, name: &ObjectName) -> Option<ObjectName> {
        let mut before = None;
        for it in self.names() {
            match it.cmp(name) {
                std::cmp::Ordering::Less => before = Some(it),
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Greater => return Some(it.clone()),
            }
        }
        before.cloned()
    }

    /// Returns the number of rows before the selected one.
    fn position(&self) -> usize {
        let Some(selected) = self.selected() else {
            return 0;
        };
        self.names().take_while(|it| *it < selected).count()
    }

    /// Draws the headings and the rows that fit.
    pub(super) fn draw(&mut self, painter: &mut Painter<'_>, height: u16, now: Time) {
        self.page = usize::from(height.saturating_sub(HEADINGS));
        let position = self.position();
        let last_above = self.len_filtered().saturating_sub(self.page);
        let first_above = (position + 1).saturating_sub(self.page);
        self.above = self.above.clamp(first_above.min(position), position);
        self.above = self.above.min(last_above);

        let indices: Vec<usize> = (0..self.columns.len())
            .filter(|index| self.wide || !self.columns[*index].wide)
            .collect();
        let names = self.names().skip(self.above).take(self.page);
        let rows: Vec<&Shown> = names.filter_map(|name| self.rows.get(name)).collect();
        let texts: Vec<Vec<String>> = rows
            .iter()
            .map(|shown| self.texts(&shown.row, &indices, now))
            .collect();
        let headings = self.headings(&indices);
        let mut widths = self.widths.clone();
        widths.resize(headings.len(), 0);
        for line in texts.iter().chain([&headings]) {
            for (known, text) in widths.iter_mut().zip(line) {
                *known = (*known).max(width(text) + GAP);
            }
        }
        let limit = column_limit(&widths, painter.width());
        let texts_wide = widths.iter().map(|it| (*it).min(limit) - GAP);
        let texts_wide: Vec<usize> = texts_wide.collect();
        // There is no gap after the last.
        let last = texts_wide.len().saturating_sub(1);
        let cell_width = |at: usize| texts_wide[at] + if at == last { 0 } else { GAP };
        for (at, heading) in headings.iter().enumerate() {
            let heading = &paint::clipped(heading, texts_wide[at]);
            painter.cell(heading, cell_width(at), paint::heading(), paint::heading());
        }
        painter.next_line();
        let selected = position - self.above;
        for (index, (shown, line)) in rows.iter().zip(&texts).enumerate() {
            let styles = Styles::of(shown, index == selected);
            for (at, text) in line.iter().enumerate() {
                let text = &paint::clipped(text, texts_wide[at]);
                // The namespace is no column of the kind.
                let column = at.checked_sub(usize::from(self.with_namespaces));
                let column = column.and_then(|at| indices.get(at));
                painter.cell(text, cell_width(at), styles.of_column(column), styles.row);
            }
            if index == selected {
                painter.fill(styles.row);
            } else {
                painter.next_line();
            }
        }
        self.widths = widths;
    }

    fn headings(&self, indices: &[usize]) -> Vec<String> {
        let namespace = self.with_namespaces.then(|| "NAMESPACE".to_owned());
        let names = indices
            .iter()
            .map(|it| self.columns[*it].name.to_uppercase());
        namespace.into_iter().chain(names).collect()
    }

    fn texts(&self, row: &Row, indices: &[usize], now: Time) -> Vec<String> {
        let namespace = self.with_namespaces.then(|| row.namespace().to_owned());
        let cells = indices.iter();
        let cells = cells.map(|index| row.cell(&self.columns, *index, now).into_owned());
        namespace.into_iter().chain(cells).collect()
    }
}

/// Returns the most that a column takes, with its gap: one with long texts does not push out those
/// behind it. If even short columns do not fit, names are worth more than the last columns.
fn column_limit(widths: &[usize], wide: usize) -> usize {
    let mut widths = widths.to_vec();
    widths.sort_unstable();
    let mut left = wide + GAP;
    for (index, needed) in widths.iter().enumerate() {
        let share = left / (widths.len() - index);
        if *needed <= share {
            left -= needed;
        } else if share >= COLUMN_LEAST {
            return share;
        } else {
            return (wide / 2).max(COLUMN_LEAST);
        }
    }
    usize::MAX
}

/// The styles of a row.
struct Styles<'a> {
    row: Style,
    changed: &'a [usize],
}

impl<'a> Styles<'a> {
    fn of(shown: &'a Shown, is_selected: bool) -> Self {
        let (row, changed): (_, &[usize]) = match &shown.mark {
            Mark::None => (Style::new(), &[]),
            Mark::New => (paint::good(), &[]),
            Mark::Changed(columns) => (Style::new(), columns),
            Mark::Deleted => (paint::bad().add_modifier(Modifier::CROSSED_OUT), &[]),
        };
        let row = if is_selected {
            row.add_modifier(Modifier::REVERSED)
        } else {
            row
        };
        Self { row, changed }
    }

    fn of_column(&self, column: Option<&usize>) -> Style {
        if column.is_some_and(|it| self.changed.contains(it)) {
            return self.row.patch(paint::changed());
        }
        self.row
    }
}
