//! `AssertionError`: what was expected, and what was seen instead.

use super::difference::differences;
use super::observer::Observer;
use crate::journal::entry::date;
use kubist::apimachinery::ApiResource;
use kubist::codec::yaml::to_yaml;
use serde_json::Value;
use std::error::Error;
use std::fmt::{self, Write as _};
use std::panic::Location;

/// The lines of an object that are shown.
const OBJECT_LINES_MAX: usize = 60;
/// The names of objects that are shown.
const NAMES_MAX: usize = 20;
/// The refused requests that are shown, equal ones together.
const REFUSALS_MAX: usize = 5;

/// What was expected did not happen, or what was not expected did. Its text says what was seen
/// last, how it differs from the version before, who wrote it, which requests were refused for want
/// of permission, and what has failed beside the server; its `Debug` form, which a test that
/// returns it prints, is the same.
#[derive(Clone)]
pub struct AssertionError {
    text: Box<str>,
}

/// What is known when an assertion fails.
pub(super) struct Failure<'a> {
    pub(super) observer: &'a Observer,
    pub(super) resource: &'a ApiResource,
    /// What was expected of what: one line.
    pub(super) expected: String,
    /// Where in the test.
    pub(super) location: &'static Location<'static>,
    /// The object that changed last, and its version before.
    pub(super) last: Option<&'a Value>,
    pub(super) before: Option<&'a Value>,
    /// Whether the last one was deleted.
    pub(super) deleted: bool,
    /// The names of the objects that exist, if several were looked at.
    pub(super) names: Option<Vec<String>>,
}

impl Failure<'_> {
    pub(super) fn into_error(self) -> AssertionError {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _written = self.write(&mut text);
        AssertionError { text: text.into() }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "{}", self.expected)?;
        writeln!(out, "  at {}", self.location)?;
        let now = date(self.observer.clock.date());
        writeln!(out, "  it is {now}")?;
        if let Some(names) = &self.names {
            self.write_names(out, names)?;
        }
        match self.last {
            None => writeln!(out, "  no such object was seen")?,
            Some(last) => self.write_object(out, last)?,
        }
        for (who, count) in self.observer.journal.refusals(REFUSALS_MAX) {
            writeln!(out, "  refused: {who}, {count} times")?;
        }
        for (name, error) in self.observer.running.failures() {
            writeln!(out, "  {name} has failed: {error}")?;
        }
        Ok(())
    }

    fn write_names(&self, out: &mut String, names: &[String]) -> fmt::Result {
        let shown = names.len().min(NAMES_MAX);
        let plural = &self.resource.plural;
        write!(
            out,
            "  {} {plural}: {}",
            names.len(),
            names[..shown].join(", ")
        )?;
        if names.len() > shown {
            write!(out, " and {} more", names.len() - shown)?;
        }
        writeln!(out)
    }

    fn write_object(&self, out: &mut String, last: &Value) -> fmt::Result {
        let text = |path: &str| {
            last.pointer(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let version = text("/metadata/resourceVersion");
        let place = if namespace.is_empty() {
            name.to_owned()
        } else {
            format!("{namespace}/{name}")
        };
        let (kind, what) = (
            &self.resource.kind,
            if self.deleted { "deleted" } else { "version" },
        );
        writeln!(
            out,
            "  the last that was seen: {kind} {place}, {what} {version}"
        )?;
        let (group, plural) = (&self.resource.group, &self.resource.plural);
        match self
            .observer
            .journal
            .last_write(group, plural, namespace, name)
        {
            Some((entry, _)) => writeln!(out, "  written by: {entry}")?,
            None => writeln!(
                out,
                "  written by: the server itself, or before the journal begins"
            )?,
        }
        if let Some(manager) = last_manager(last) {
            writeln!(out, "  its fields were last changed by: {manager}")?;
        }
        if let Some(before) = self.before {
            let lines = differences(before, last);
            let of = before.pointer("/metadata/resourceVersion");
            let of = of.and_then(Value::as_str).unwrap_or("?");
            writeln!(out, "  what differs from version {of}:")?;
            for line in &lines {
                writeln!(out, "    {line}")?;
            }
            if lines.is_empty() {
                writeln!(out, "    nothing")?;
            }
        }
        write_yaml(out, last)
    }
}

fn write_yaml(out: &mut String, object: &Value) -> fmt::Result {
    let mut shown = object.clone();
    if let Some(Value::Object(metadata)) = shown.pointer_mut("/metadata") {
        metadata.remove("managedFields");
    }
    let yaml = to_yaml(&shown);
    writeln!(out, "  the object:")?;
    for line in yaml.lines().take(OBJECT_LINES_MAX) {
        writeln!(out, "    {line}")?;
    }
    match yaml.lines().count().saturating_sub(OBJECT_LINES_MAX) {
        0 => Ok(()),
        more => writeln!(out, "    and {more} more lines"),
    }
}

/// Returns who changed fields last, of what kind and when.
fn last_manager(object: &Value) -> Option<String> {
    let entries = object.pointer("/metadata/managedFields")?.as_array()?;
    let text = |entry: &Value, key: &str| {
        let text = entry.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    // The time is RFC 3339 in UTC, so its text sorts.
    let entry = entries.iter().max_by_key(|it| text(it, "time"))?;
    let mut said = format!("{} ({}", text(entry, "manager"), text(entry, "operation"));
    let subresource = text(entry, "subresource");
    if !subresource.is_empty() {
        said = format!("{said} of {subresource}");
    }
    Some(format!("{said}) at {}", text(entry, "time")))
}

impl fmt::Display for AssertionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for AssertionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for AssertionError {}
