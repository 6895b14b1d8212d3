//! `Details`: one object: its conditions, labels, owners and finalizers, and all of it as YAML.

use super::super::super::harmless::harmless;
use super::super::super::units;
use super::super::row::between;
use super::key::Key;
use super::paint::{self, Line, Painter, width};
use super::secret;
use kubist_apimachinery::{Object as _, ObjectName, Time, Unstructured};
use kubist_codec::yaml;
use ratatui_core::style::Style;
use serde_json::Value;

/// Spaces before the lines of a section.
const INDENT: &str = "  ";

#[derive(Debug)]
pub(super) struct Details {
    name: ObjectName,
    object: Option<Unstructured>,
    /// Whether the values of a Secret are shown.
    is_revealed: bool,
    /// The object as YAML, and as lines of this width.
    yaml: String,
    yaml_lines: Vec<String>,
    yaml_width: Option<usize>,
    problem: Option<String>,
    is_deleted: bool,
    /// The object has changed since it was asked for.
    is_wanted: bool,
    /// It was asked for.
    is_awaited: bool,
    /// The number of lines above those that are visible.
    above: usize,
    /// The lines that fit, and all there are.
    page: usize,
    length: usize,
}

impl Details {
    pub(super) fn new(name: ObjectName) -> Self {
        Self {
            name,
            object: None,
            is_revealed: false,
            yaml: String::new(),
            yaml_lines: Vec::new(),
            yaml_width: None,
            problem: None,
            is_deleted: false,
            is_wanted: true,
            is_awaited: false,
            above: 0,
            page: 1,
            length: 0,
        }
    }

    pub(super) fn name(&self) -> &ObjectName {
        &self.name
    }

    /// Returns the object's kind and name.
    pub(super) fn title(&self, kind: &str) -> String {
        let kind = self.object.as_ref().map_or(kind, Unstructured::kind);
        let deleted = if self.is_deleted { " (deleted)" } else { "" };
        format!("{kind} {}{deleted}", self.name)
    }

    /// The object has changed, or is gone; then its last state remains.
    pub(super) fn object_changed(&mut self, is_deleted: bool) {
        self.is_deleted = is_deleted;
        self.is_wanted = !is_deleted;
    }

    /// Returns the name to fetch, if it is time to.
    pub(super) fn take_wanted(&mut self) -> Option<ObjectName> {
        if !self.is_wanted || self.is_awaited {
            return None;
        }
        (self.is_wanted, self.is_awaited) = (false, true);
        Some(self.name.clone())
    }

    pub(super) fn fetched(&mut self, object: Result<Unstructured, String>) {
        self.is_awaited = false;
        match object {
            Ok(mut object) => {
                object.drop_managed_fields();
                self.object = Some(object);
                self.write_yaml();
                self.problem = None;
            }
            Err(problem) => self.problem = Some(problem),
        }
    }

    fn write_yaml(&mut self) {
        let Some(object) = &self.object else {
            return;
        };
        let mut object = object.object.clone();
        if !self.is_revealed && secret::is_secret(&object) {
            secret::conceal(&mut object);
        }
        let text = yaml::to_yaml(&Value::Object(object));
        // Before it is measured.
        let lines: Vec<_> = text.lines().map(harmless).collect();
        self.yaml = lines.join("\n");
        self.yaml_width = None;
    }

    /// Reports whether values are hidden until the key for them is pressed.
    pub(super) fn is_secret(&self) -> bool {
        let object = self.object.as_ref();
        object.is_some_and(|it| secret::is_secret(&it.object))
    }

    pub(super) fn press(&mut self, key: Key) {
        if key == Key::Char('s') && self.is_secret() {
            self.is_revealed = !self.is_revealed;
            self.write_yaml();
        } else if matches!(key, Key::End | Key::Char('G')) {
            self.above = self.length.saturating_sub(self.page);
        } else if let Some(to) = key.moved(self.above, self.length, self.page) {
            self.above = to;
        }
    }

    pub(super) fn draw(&mut self, painter: &mut Painter<'_>, height: u16, now: Time) {
        let lines = self.sections(now);
        let wide = painter.width();
        if self.yaml_width != Some(wide) {
            self.yaml_width = Some(wide);
            let pieces = self.yaml.lines().flat_map(|it| paint::wrap(it, wide, 0));
            self.yaml_lines = pieces.map(ToOwned::to_owned).collect();
        }
        self.page = height.into();
        self.length = lines.len() + self.yaml_lines.len();
        self.above = self.above.min(self.length.saturating_sub(1));
        let yaml = self
            .yaml_lines
            .iter()
            .map(|line| vec![plain(line.as_str())]);
        let mut left = height;
        for line in lines.into_iter().chain(yaml).skip(self.above) {
            if left == 0 {
                return;
            }
            left = painter.wrapped(&line, left);
        }
    }

    /// Returns the lines above those of the YAML.
    fn sections(&self, now: Time) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        if let Some(problem) = &self.problem {
            lines.push(vec![(problem.clone(), paint::bad())]);
        }
        let Some(object) = &self.object else {
            if self.problem.is_none() {
                lines.push(vec![("reading…".to_owned(), paint::dim())]);
            }
            return lines;
        };
        lines.push(heading("Conditions"));
        lines.extend(conditions(object, now));
        let labels = object
            .labels()
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        section(&mut lines, "Labels", labels);
        let owners = object.owners().iter().map(|owner| {
            let controller = if owner.controller {
                " (controller)"
            } else {
                ""
            };
            format!("{}/{}{controller}", owner.kind, owner.name)
        });
        section(&mut lines, "Owners", owners);
        let metadata = object.metadata();
        let finalizers = metadata.and_then(|it| it.get("finalizers")?.as_array());
        let finalizers = finalizers.into_iter().flatten();
        let finalizers = finalizers.filter_map(|it| Some(it.as_str()?.to_owned()));
        section(&mut lines, "Finalizers", finalizers);
        lines.push(heading("YAML"));
        lines
    }
}

fn plain(text: impl Into<String>) -> (String, Style) {
    (text.into(), Style::new())
}

fn heading(text: &str) -> Line {
    vec![(text.to_owned(), paint::heading())]
}

/// Adds a section, if it has lines.
fn section(lines: &mut Vec<Line>, title: &str, texts: impl Iterator<Item = String>) {
    let mut texts = texts.map(|text| vec![plain(format!("{INDENT}{text}"))]);
    if let Some(first) = texts.next() {
        lines.push(heading(title));
        lines.push(first);
        lines.extend(texts);
        lines.push(Vec::new());
    }
}

/// Returns the conditions as a table.
fn conditions(object: &Unstructured, now: Time) -> Vec<Line> {
    let conditions = object.pointer("/status/conditions");
    let conditions = conditions
        .and_then(Value::as_array)
        .map_or(&[][..], |it| it);
    if conditions.is_empty() {
        return vec![vec![(format!("{INDENT}none"), paint::dim())], Vec::new()];
    }
    let titles = ["TYPE", "STATUS", "REASON", "AGE", "MESSAGE"].map(ToOwned::to_owned);
    let rows: Vec<[String; 5]> = conditions.iter().map(|it| condition(it, now)).collect();
    let mut widths = [0; 5];
    for row in rows.iter().chain([&titles]) {
        for (known, text) in widths.iter_mut().zip(row) {
            *known = width(text).max(*known);
        }
    }
    let line = |row: &[String; 5], style: fn(usize, &str) -> Style| -> Line {
        let cells = row.iter().zip(widths).enumerate();
        let cells = cells.map(|(index, (text, wide))| {
            let gap = match index {
                4 => String::new(),
                _ => " ".repeat(wide - width(text) + 2),
            };
            (format!("{text}{gap}"), style(index, text))
        });
        [plain(INDENT)].into_iter().chain(cells).collect()
    };
    let mut lines = vec![line(&titles, |_, _| paint::dim())];
    lines.extend(rows.iter().map(|row| line(row, style_of)));
    lines.push(Vec::new());
    lines
}

/// A status that is not known for sure is worth a look.
fn style_of(index: usize, text: &str) -> Style {
    match (index, text) {
        (1, "True" | "False") | (0 | 2.., _) => Style::new(),
        (1, _) => paint::changed(),
    }
}

fn condition(condition: &Value, now: Time) -> [String; 5] {
    let text = |key: &str| {
        let text = condition.get(key).and_then(Value::as_str);
        text.unwrap_or_default().replace('\n', " ")
    };
    let times = ["lastTransitionTime", "lastUpdateTime", "lastHeartbeatTime"];
    let age = times.iter().find_map(|key| text(key).parse().ok());
    let age = age.map_or_else(
        || "?".to_owned(),
        |then: Time| units::age(between(then, now)),
    );
    [
        text("type"),
        text("status"),
        text("reason"),
        age,
        text("message"),
    ]
}
