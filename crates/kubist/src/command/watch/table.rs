//! `LiveTable`: the latest changes on a terminal, redrawn in place.
//!
//! It has as many rows as fit; the latest change is on top. Deleted objects stay for a moment.

use super::super::{clock, units};
use super::lines::{object_of, type_of};
use super::problems::Problems;
use super::{REDRAW, View};
use console::{Term, style, truncate_str};
use kubist_apimachinery::{ApiResource, Object, ObjectName, Time};
use kubist_cache::{Metadata, ResourceEvent};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Lines without rows: title, header, problem, and cursor.
const OTHER_LINES: usize = 4;
/// How long a deleted object is displayed.
const DELETED_SHOWN: Duration = Duration::from_secs(5);
/// How long a problem is displayed after its last occurrence.
const PROBLEM_SHOWN: Duration = Duration::from_secs(60);
/// Minimum redraw interval, because ages change.
const AGES_GROW: Duration = Duration::from_secs(1);

/// A table on the terminal.
pub(super) struct LiveTable {
    term: Term,
    title: String,
    problems: Arc<Problems>,
    namespaced: bool,
    rows: BTreeMap<ObjectName, Row>,
    /// The rows by number of their last change.
    order: BTreeMap<u64, ObjectName>,
    changes: u64,
    drawn_lines: usize,
    drawn: Option<Instant>,
    dirty: bool,
}

struct Row {
    change: u64,
    created: Option<Time>,
    event: &'static str,
    initial: bool,
    at: Instant,
}

impl LiveTable {
    pub(super) fn new(resource: &ApiResource, problems: Arc<Problems>) -> Self {
        Self {
            term: Term::buffered_stdout(),
            title: title(resource),
            problems,
            namespaced: resource.namespaced,
            rows: BTreeMap::new(),
            order: BTreeMap::new(),
            changes: 0,
            drawn_lines: 0,
            drawn: None,
            dirty: true,
        }
    }

    fn remove_deleted(&mut self) {
        let gone = |row: &Row| row.event == "DELETED" && row.at.elapsed() >= DELETED_SHOWN;
        let order = &mut self.order;
        self.rows.retain(|_, row| {
            let gone = gone(row);
            if gone {
                order.remove(&row.change);
            }
            !gone
        });
    }

    fn draw(&mut self) -> io::Result<()> {
        self.remove_deleted();
        let (height, width) = self.term.size();
        let (height, width) = (usize::from(height), usize::from(width));
        let shown = height.saturating_sub(OTHER_LINES);
        self.term.clear_last_lines(self.drawn_lines)?;
        let mut lines = vec![truncate_str(&self.heading(shown), width, "…").into_owned()];
        let names = self.order.values().rev().take(shown);
        let rows: Vec<_> = names
            .filter_map(|name| Some((name, self.rows.get(name)?)))
            .collect();
        let longest = |of: fn(&ObjectName) -> usize, least: usize| {
            rows.iter()
                .map(|(name, _)| of(name))
                .max()
                .unwrap_or(0)
                .max(least)
        };
        let namespaces = longest(|it| it.namespace.len(), "NAMESPACE".len());
        let names = longest(|it| it.name.len(), "NAME".len());
        let mut header = String::new();
        if self.namespaced {
            let _ = write!(header, "{:<namespaces$}  ", "NAMESPACE");
        }
        let _ = write!(header, "{:<names$}  {:<7}  EVENT", "NAME", "AGE");
        lines.push(style(truncate_str(&header, width, "…")).bold().to_string());
        for (name, row) in rows {
            let mut line = String::new();
            if self.namespaced {
                let _ = write!(line, "{:<namespaces$}  ", name.namespace);
            }
            let age = row
                .created
                .map_or_else(|| "?".to_owned(), |time| units::age(clock::since(time)));
            let _ = write!(line, "{:<names$}  {age:<7}  {}", name.name, row.event());
            lines.push(truncate_str(&line, width, "…").into_owned());
        }
        lines.extend(self.problem(width));
        for line in &lines {
            self.term.write_line(line)?;
        }
        self.term.flush()?;
        self.drawn_lines = lines.len();
        self.drawn = Some(Instant::now());
        self.dirty = false;
        Ok(())
    }

    fn heading(&self, shown: usize) -> String {
        let (all, changes) = (self.rows.len(), units::count(self.changes));
        let more = if all > shown {
            format!(", the last {shown} to change")
        } else {
            String::new()
        };
        format!(
            "{}: {}, {changes} changes{more}",
            self.title,
            units::of(all as u64, "object")
        )
    }

    /// The latest problem.
    fn problem(&self, width: usize) -> Option<String> {
        let (text, age) = self
            .problems
            .last()
            .filter(|(_, age)| *age < PROBLEM_SHOWN)?;
        let line = format!("{} ago: {text}", units::age(age));
        Some(style(truncate_str(&line, width, "…")).red().to_string())
    }
}

/// `pods`, `deployments.apps`.
fn title(resource: &ApiResource) -> String {
    match resource.group.as_str() {
        "" => resource.plural.to_string(),
        group => format!("{}.{group}", resource.plural),
    }
}

impl Row {
    fn event(&self) -> String {
        if self.initial {
            return style("listed").dim().to_string();
        }
        let text = format!("{} {} ago", self.event, units::age(self.at.elapsed()));
        match self.event {
            "ADDED" => style(text).green().to_string(),
            "DELETED" => style(text).red().to_string(),
            _ => style(text).yellow().to_string(),
        }
    }
}

impl View<Metadata<()>> for LiveTable {
    fn show(&mut self, change: &ResourceEvent<Metadata<()>>) -> io::Result<()> {
        let Some(object) = object_of(change) else {
            return Ok(());
        };
        self.changes += 1;
        let name = object.object_name();
        let row = Row {
            change: self.changes,
            created: object.metadata.creation_timestamp,
            event: type_of(change),
            initial: matches!(change, ResourceEvent::Added { initial: true, .. }),
            at: Instant::now(),
        };
        self.order.insert(row.change, name.clone());
        if let Some(before) = self.rows.insert(name, row) {
            self.order.remove(&before.change);
        }
        self.dirty = true;
        Ok(())
    }

    fn idle(&mut self) -> io::Result<()> {
        // Drawn at ticks: more frequent changes would not be visible.
        Ok(())
    }

    fn tick(&mut self) -> io::Result<()> {
        let age = self.drawn.map(|drawn| drawn.elapsed());
        let due = |least: Duration| age.is_none_or(|age| age >= least);
        if (self.dirty && due(REDRAW / 2)) || due(AGES_GROW) {
            self.draw()?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.draw()
    }
}
