//! `--check FILE`: what became worse since a stored run (`--json`) of the same machine.
//!
//! Both runs are compared as JSON. A figure of ours became worse if its median is worse by more
//! than [`TOLERANCE`] and the larger of its two spreads. What cannot be compared is named: figures
//! that only one run has, other sizes, another machine. Peers are not compared.

use super::figure::Better;
use super::samples::Samples;
use super::table::Table;
use serde_json::Value;
use std::fmt;

/// The share by which a figure has to be worse, beyond its spread.
const TOLERANCE: f64 = 0.1;
/// What identifies a machine, and whether its figures mean nothing on another.
const MACHINE: [(&str, bool); 3] = [("processor", true), ("cores", true), ("kernel", false)];

/// A stored run beside this one.
#[derive(Default)]
pub(super) struct Comparison {
    /// What cannot be compared, and why.
    notices: Vec<String>,
    worse: Vec<Change>,
    better: Vec<Change>,
    compared: usize,
    /// Whether the stored run is of another kind of machine.
    is_elsewhere: bool,
}

/// A figure that differs.
struct Change {
    name: String,
    then: Samples,
    now: Samples,
    /// How many times as bad, or as good, as it was.
    factor: f64,
}

impl Comparison {
    /// Compares the output of two runs.
    pub(super) fn of(then: &Value, now: &Value) -> Self {
        let mut comparison = Self::default();
        comparison.machines(&then["machine"], &now["machine"]);
        for (part, report) in parts(now) {
            match then.get(part) {
                Some(stored) => comparison.part(part, stored, report),
                None => comparison.notice(format!("{part}: the stored run does not have it")),
            }
        }
        for (part, _) in parts(then).filter(|(part, _)| now.get(*part).is_none()) {
            comparison.notice(format!("{part}: not measured in this run"));
        }
        comparison
    }

    /// Whether something became worse. On another kind of machine, nothing did.
    pub(super) fn is_worse(&self) -> bool {
        !self.is_elsewhere && !self.worse.is_empty()
    }

    fn notice(&mut self, text: String) {
        self.notices.push(text);
    }

    fn machines(&mut self, then: &Value, now: &Value) {
        for (key, is_decisive) in MACHINE {
            let (then, now) = (&then[key], &now[key]);
            if then != now {
                self.notice(format!("machine: another {key}: {then} then, {now} now"));
                self.is_elsewhere |= is_decisive;
            }
        }
    }

    fn part(&mut self, part: &str, then: &Value, now: &Value) {
        if then["ours"].as_array().is_none() {
            let why = "the stored run is of an older version, which listed no figures of ours";
            return self.notice(format!("{part}: {why}"));
        }
        if then["sizes"] != now["sizes"] {
            let (then, now) = (&then["sizes"], &now["sizes"]);
            return self.notice(format!("{part}: other sizes: {then} then, {now} now"));
        }
        for figure in figures(now) {
            let name = format!("{part}: {}", figure["figure"].as_str().unwrap_or_default());
            let stored = figures(then).find(|it| it["figure"] == figure["figure"]);
            match stored {
                Some(stored) => self.figure(name, stored, figure),
                None => self.notice(format!("{name}: the stored run does not have it")),
            }
        }
        for stored in figures(then) {
            if !figures(now).any(|it| it["figure"] == stored["figure"]) {
                let name = stored["figure"]
                    .as_str()
                    .unwrap_or("a figure without a name");
                self.notice(format!("{part}: {name}: not measured in this run"));
            }
        }
    }

    fn figure(&mut self, name: String, then: &Value, now: &Value) {
        let better = now["better"].as_str().and_then(Better::of_name);
        let (then, now) = (Samples::of_json(then), Samples::of_json(now));
        let is_known = then.median().is_finite() && now.median().is_finite();
        let Some(better) = better.filter(|_| is_known) else {
            return self.notice(format!("{name}: it cannot be read"));
        };
        self.compared += 1;
        let spread = |it: &Samples| it.spread().unwrap_or(0.0);
        let tolerated = 1.0 + TOLERANCE + spread(&then).max(spread(&now));
        let ratio = better.ratio(now.median(), then.median());
        let changed = |factor| Change {
            name,
            then,
            now,
            factor,
        };
        if 1.0 / ratio > tolerated {
            self.worse.push(changed(1.0 / ratio));
        } else if ratio > tolerated {
            self.better.push(changed(ratio));
        }
    }
}

/// Returns the reports of a run.
fn parts(run: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let all = run.as_object().into_iter().flatten();
    all.filter(|(key, _)| *key != "machine")
        .map(|(key, report)| (key.as_str(), report))
}

fn figures(report: &Value) -> impl Iterator<Item = &Value> {
    report["ours"].as_array().into_iter().flatten()
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for notice in &self.notices {
            writeln!(f, "- {notice}")?;
        }
        if self.is_elsewhere {
            writeln!(
                f,
                "- Another machine: differences are shown, and nothing is judged."
            )?;
        }
        for (title, changes) in [
            ("became worse", &self.worse),
            ("became better", &self.better),
        ] {
            if !changes.is_empty() {
                write!(f, "\n{}", table(title, changes))?;
            }
        }
        if !self.notices.is_empty() || !self.worse.is_empty() || !self.better.is_empty() {
            writeln!(f)?;
        }
        writeln!(
            f,
            "{} figures of ours were compared: {} became worse, {} better, by more than {:.0} % \
             and their spread.",
            self.compared,
            self.worse.len(),
            self.better.len(),
            TOLERANCE * 100.0
        )
    }
}

fn table(title: &str, changes: &[Change]) -> Table {
    let mut table = Table::with_head(&[title, "then", "now", "by"]);
    for change in changes {
        table.row([
            change.name.clone(),
            change.then.show(significant),
            change.now.show(significant),
            format!("{:.0} %", (change.factor - 1.0) * 100.0),
        ]);
    }
    table
}

/// Formats a number with about three digits.
fn significant(value: f64) -> String {
    let digits = match value.abs() {
        it if it >= 100.0 => 0,
        it if it >= 10.0 => 1,
        it if it >= 1.0 => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests;
