//! Test cases of programs of other projects: how each ended, and the committed list of those that
//! are excused.
//!
//! A list has reasons and cases. A line without indentation is a reason that ends with a colon; the
//! indented lines below it are cases, as `SUITE: NAME`. A failed case must be on the list, and a
//! case on the list must fail, so the list is always exact.

use kubist_test_support::process::{Outcome, root};
use std::collections::{BTreeMap, BTreeSet};

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    Skipped,
    /// With the message.
    Failed(String),
}

/// A test of a suite.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) suite: String,
    pub(super) name: String,
    pub(super) end: End,
}

impl Case {
    /// Returns the case for the outcome of a check.
    pub(super) fn of(suite: impl Into<String>, name: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            suite: suite.into(),
            name: name.into(),
            end: match outcome {
                Ok(()) => End::Passed,
                Err(error) => End::Failed(error.to_string()),
            },
        }
    }

    pub(super) fn is_failed(&self) -> bool {
        matches!(self.end, End::Failed(_))
    }

    /// The case as it is named on a list.
    fn key(&self) -> String {
        format!("{}: {}", self.suite, self.name)
    }
}

/// The cases that are allowed to fail, with the reason of each.
#[derive(Default)]
pub(super) struct Excused(BTreeMap<String, String>);

/// The counts of a suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) excused: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

impl Counts {
    /// Returns the sums of both.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            excused: self.excused + other.excused,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

impl Excused {
    /// Reads `tests/interop/excused/NAME.txt`.
    pub(super) fn read(name: &str) -> Outcome<Self> {
        let path = root().join(format!("tests/interop/excused/{name}.txt"));
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// Reads a list from its text.
    pub(super) fn parse(text: &str) -> Outcome<Self> {
        let mut reason = None;
        let mut cases = BTreeMap::new();
        for line in text.lines() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if !line.starts_with(char::is_whitespace) {
                reason = Some(
                    line.strip_suffix(':')
                        .ok_or("a reason has no final colon")?,
                );
                continue;
            }
            let reason = reason.ok_or("the first case has no reason")?;
            let case = line.trim().to_owned();
            if let Some(first) = cases.insert(case, reason.to_owned()) {
                return Err(
                    format!("{:?} is listed twice, first as {first:?}", line.trim()).into(),
                );
            }
        }
        Ok(Self(cases))
    }

    /// Returns the counts of each suite.
    pub(super) fn counts(&self, cases: &[Case]) -> BTreeMap<String, Counts> {
        let mut suites: BTreeMap<String, Counts> = BTreeMap::new();
        for case in cases {
            let counts = suites.entry(case.suite.clone()).or_default();
            match &case.end {
                End::Passed => counts.passed += 1,
                End::Skipped => counts.skipped += 1,
                End::Failed(_) if self.0.contains_key(&case.key()) => counts.excused += 1,
                End::Failed(_) => counts.failed += 1,
            }
        }
        suites
    }

    /// Returns what the list and the results of a suite do not agree on, a line each.
    pub(super) fn disagreements(&self, suite: &str, cases: &[Case]) -> Vec<String> {
        let mut lines = Vec::new();
        let own: Vec<&Case> = cases.iter().filter(|it| it.suite == suite).collect();
        let mut failed = BTreeSet::new();
        for case in &own {
            if let End::Failed(message) = &case.end {
                failed.insert(case.key());
                if !self.0.contains_key(&case.key()) {
                    lines.push(format!("failed: {}: {}", case.key(), first_line(message)));
                }
            }
        }
        let prefix = format!("{suite}: ");
        let listed = self.0.keys().filter(|it| it.starts_with(&prefix));
        for case in listed.filter(|it| !failed.contains(*it)) {
            let state = if own
                .iter()
                .any(|it| it.key() == *case && it.end == End::Passed)
            {
                "no longer excused"
            } else {
                "excused, but did not run"
            };
            lines.push(format!("{state}: {case}"));
        }
        lines
    }

    /// Returns the first case, as a pattern with `*` for any text, that is like this one, and its
    /// reason.
    pub(super) fn entry_like(&self, case: &str) -> Option<(&str, &str)> {
        let mut entries = self.0.iter();
        let (pattern, reason) = entries.find(|(pattern, _)| is_like(case, pattern))?;
        Some((pattern, reason))
    }

    /// Returns each reason with its cases.
    pub(super) fn by_reason(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (case, reason) in &self.0 {
            reasons.entry(reason).or_default().push(case);
        }
        reasons
    }
}

/// Log lines that do not count, in the form of a list of cases. `*` in a line stands for any text.
pub(super) struct Patterns(Vec<String>);

impl Patterns {
    /// Reads `tests/interop/excused/NAME.txt`.
    pub(super) fn read(name: &str) -> Outcome<Self> {
        Ok(Self(Excused::read(name)?.0.into_keys().collect()))
    }

    /// Reports whether a line is like one of them.
    pub(super) fn match_line(&self, line: &str) -> bool {
        self.0.iter().any(|it| is_like(line, it))
    }
}

/// Reports whether a pattern describes the whole text.
fn is_like(text: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(found) = rest.find(piece) else {
            return false;
        };
        rest = &rest[found + piece.len()..];
    }
    rest.is_empty()
}

/// Returns how many of these listed cases failed.
pub(super) fn failed_of(listed: &[&str], cases: &[Case]) -> usize {
    let failed: BTreeSet<String> = cases
        .iter()
        .filter(|it| matches!(it.end, End::Failed(_)))
        .map(Case::key)
        .collect();
    listed.iter().filter(|it| failed.contains(**it)).count()
}

/// Returns the failed cases, a line each.
pub(super) fn failures(cases: &[Case]) -> Vec<String> {
    let line = |it: &Case| match &it.end {
        End::Failed(message) => Some(format!("failed: {}: {}", it.key(), first_line(message))),
        _ => None,
    };
    cases.iter().filter_map(line).collect()
}

fn first_line(message: &str) -> &str {
    message.trim().lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, end: End) -> Case {
        Case {
            suite: "client".to_owned(),
            name: name.to_owned(),
            end,
        }
    }

    #[test]
    fn a_list_must_name_exactly_the_cases_that_fail() {
        let list = "# A list.\n\nNot there yet:\n    client: a\n    client: b\n    client: gone\n";
        let list = Excused::parse(list).expect("it is a list");
        let failed = || End::Failed("no\nmore".to_owned());
        let cases = [
            case("a", failed()),
            case("b", End::Passed),
            case("c", failed()),
            case("d", End::Skipped),
        ];
        assert_eq!(
            list.disagreements("client", &cases),
            [
                "failed: client: c: no",
                "no longer excused: client: b",
                "excused, but did not run: client: gone"
            ]
        );
        let expected = Counts {
            passed: 1,
            excused: 1,
            failed: 1,
            skipped: 1,
        };
        assert_eq!(list.counts(&cases)["client"], expected);
        let reasons = list.by_reason();
        assert_eq!(failed_of(&reasons["Not there yet"], &cases), 1);
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(is_like("job.go: read 1 of 2", "job.go: read * of *"));
        assert!(is_like("same", "same"));
        assert!(!is_like("job.go: read 1", "job.go: read * of *"));
        assert!(!is_like("a b c", "a *b"));
    }

    #[test]
    fn a_list_without_reasons_or_with_a_case_twice_is_refused() {
        assert!(Excused::parse("  client: a\n").is_err());
        assert!(Excused::parse("no colon\n").is_err());
        assert!(Excused::parse("why:\n a\n a\n").is_err());
    }
}
