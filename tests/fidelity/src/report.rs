//! `Report`: groups differences by cause.

use crate::accepted::Accepted;
use crate::compare::{Difference, What};
use crate::pair::Finding;
use crate::step::Step;
use std::collections::BTreeMap;
use std::fmt;

/// The characters of a text that distinguish causes.
const WORDS_MAX: usize = 100;

/// The cause of differences.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signature {
    what: What,
    at: String,
    method: &'static str,
    path: String,
    words: String,
}

/// Differences with one cause.
#[derive(Clone, Debug)]
struct Group {
    count: usize,
    /// The first one.
    seed: u64,
    difference: Difference,
}

/// All differences that are not on the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    groups: BTreeMap<Signature, Group>,
    accepted: usize,
    sequences: usize,
    steps: usize,
}

/// A step whose answer differs, with the differences.
#[derive(Clone, Debug)]
pub(crate) struct Differing {
    pub(crate) step: Step,
    /// Those that are not on the list: at least one, the first of which is the cause.
    pub(crate) differences: Vec<Difference>,
}

impl Signature {
    /// Returns the cause of a difference in the answer to a step.
    pub(crate) fn new(step: &Step, difference: &Difference) -> Self {
        let is_text = difference.what == What::Header || difference.at.ends_with("message");
        let words = match difference.what {
            What::Status => format!("{} {}", difference.theirs, difference.ours),
            _ if is_text => format!(
                "{} | {}",
                words(&difference.theirs),
                words(&difference.ours)
            ),
            _ => String::new(),
        };
        Self {
            what: difference.what,
            at: difference.at.clone(),
            method: step.method,
            path: without_digits(&step.path),
            words,
        }
    }
}

fn without_digits(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for it in text.chars() {
        if !it.is_ascii_digit() {
            shape.push(it);
        } else if !shape.ends_with('#') {
            shape.push('#');
        }
    }
    shape
}

/// Returns a text without quoted parts and numbers.
fn words(text: &str) -> String {
    let unescaped = text.replace("\\\"", "\"");
    let parts = unescaped.split('"').enumerate();
    // A JSON value begins with a quote of its own.
    let odd = usize::from(unescaped.starts_with('"'));
    let outside = parts
        .filter(|(number, _)| number % 2 == odd)
        .map(|(_, part)| part);
    let words = without_digits(&outside.collect::<Vec<_>>().join("\"\""));
    words.chars().take(WORDS_MAX).collect()
}

impl Report {
    /// Adds the result of a sequence.
    pub(crate) fn sift(&mut self, findings: &[Finding], accepted: &Accepted) -> Vec<Differing> {
        let mut steps: BTreeMap<usize, Vec<&Finding>> = BTreeMap::new();
        for finding in findings {
            steps.entry(finding.step.id).or_default().push(finding);
        }
        let mut differing = Vec::new();
        for found in steps.into_values() {
            let is_listed = |it: &Finding| accepted.has(&it.step, &it.difference);
            // If the codes differ, nothing else is comparable.
            let is_whole = |it: &Finding| {
                matches!(it.difference.what, What::Status | What::Failed) && is_listed(it)
            };
            if found.iter().any(|it| is_whole(it)) {
                self.accepted += found.len();
                continue;
            }
            let (listed, open): (Vec<&Finding>, Vec<&Finding>) =
                found.into_iter().partition(|it| is_listed(it));
            self.accepted += listed.len();
            if let Some(first) = open.first() {
                differing.push(Differing {
                    step: first.step.clone(),
                    differences: open.iter().map(|it| it.difference.clone()).collect(),
                });
            }
        }
        differing
    }

    /// Counts a step that differs. Returns its cause if that is new.
    pub(crate) fn add(&mut self, seed: u64, differing: &Differing) -> Option<Signature> {
        let difference = differing.differences.first()?;
        let signature = Signature::new(&differing.step, difference);
        if let Some(group) = self.groups.get_mut(&signature) {
            group.count += 1;
            return None;
        }
        let group = Group {
            count: 1,
            seed,
            difference: difference.clone(),
        };
        self.groups.insert(signature.clone(), group);
        Some(signature)
    }

    /// Counts a sequence with this many steps.
    pub(crate) fn played(&mut self, steps: usize) {
        self.sequences += 1;
        self.steps += steps;
    }

    /// Reports whether every difference is on the list.
    pub(crate) fn is_clean(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the number of sequences.
    pub(crate) fn sequences(&self) -> usize {
        self.sequences
    }

    /// Returns the causes that are not on the list.
    pub(crate) fn causes(&self) -> usize {
        self.groups.len()
    }
}

impl fmt::Display for Differing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = &self.step;
        writeln!(
            f,
            "{} step {}: {} {}",
            step.area, step.id, step.method, step.path
        )?;
        for it in &self.differences {
            writeln!(f, "  {:?} {}", it.what, it.at)?;
            writeln!(f, "    theirs: {}", it.theirs)?;
            writeln!(f, "    ours:   {}", it.ours)?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut groups: Vec<(&Signature, &Group)> = self.groups.iter().collect();
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.count));
        for (signature, group) in groups {
            let (what, at) = (signature.what, &signature.at);
            writeln!(
                f,
                "{:>5}  {what:?} {at}  {} {}",
                group.count, signature.method, signature.path
            )?;
            writeln!(
                f,
                "       seed {}  theirs: {}",
                group.seed, group.difference.theirs
            )?;
            writeln!(f, "       ours: {}", group.difference.ours)?;
        }
        write!(
            f,
            "{} sequences of {} steps: {} causes that are not on the list, {} differences that are",
            self.sequences,
            self.steps,
            self.causes(),
            self.accepted,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::area::Area;

    fn finding(id: usize, what: What, at: &str, theirs: &str) -> Finding {
        Finding {
            step: Step::new(id, Area::Objects, "POST", format!("/api/it-{id}")),
            difference: Difference {
                what,
                at: at.to_owned(),
                theirs: theirs.to_owned(),
                ours: String::new(),
            },
        }
    }

    const LIST: &str = r#"
        [[accepted]]
        path = "/api/*"
        what = "status"
        theirs = "409"
        why = "because"

        [[accepted]]
        path = "/api/*"
        what = "value"
        at = "known"
        why = "because"
    "#;

    #[test]
    fn what_is_on_the_list_is_left_out_and_a_listed_code_takes_the_rest_with_it() {
        let list = Accepted::parse(LIST).unwrap();
        let mut report = Report::default();
        let differing = report.sift(
            &[
                finding(1, What::Status, "", "409"),
                finding(1, What::Value, "unknown", "a"),
                finding(2, What::Value, "known", "a"),
                finding(2, What::Value, "unknown", "a"),
                finding(3, What::Value, "known", "a"),
            ],
            &list,
        );
        let ids: Vec<usize> = differing.iter().map(|it| it.step.id).collect();
        assert_eq!(ids, [2]);
        assert_eq!(differing[0].differences.len(), 1);
        assert_eq!(report.accepted, 4);
        assert!(report.is_clean());
    }

    #[test]
    fn differences_of_one_cause_are_one_group_whatever_names_they_have() {
        let mut report = Report::default();
        let messages = [
            "\"pods \\\"a-1\\\" is 7\"",
            "\"pods \\\"b\\\" is 12\"",
            "\"gone\"",
        ];
        let is_new: Vec<bool> = (0..3)
            .map(|id| {
                let it = finding(id, What::Value, "message", messages[id]);
                let differing = Differing {
                    step: it.step,
                    differences: vec![it.difference],
                };
                report.add(0, &differing).is_some()
            })
            .collect();
        assert_eq!(is_new, [true, false, true]);
        assert_eq!((report.causes(), report.is_clean()), (2, false));
    }
}
