//! `LabelMatcher`: a selector prepared for matching many objects.
//!
//! The cost of matching an object depends on its labels, not on the length of the selector: the
//! requirements on one key are merged into one rule, and rules are found by key. It selects exactly
//! what the selector does; for a few requirements the selector itself is as fast.
//!
//! It takes about four times the selector's text, in four allocations: a server keeps one for each
//! watch, and clients choose the selector's length.

use super::{Operator, Requirement, Selector};
use crate::Str;
use crate::go_text::parse_int;
use std::cmp::Ordering;
use std::ops::Range;

/// A [`Selector`] prepared for matching many objects.
///
/// ```
/// use kubist_apimachinery::Selector;
/// let selector: Selector = "app in (a, b), !old".parse()?;
/// let matcher = selector.matcher();
/// assert!(matcher.matches([("app", "b"), ("tier", "web")]));
/// assert!(!matcher.matches([("app", "b"), ("old", "")]));
/// # Ok::<(), kubist_apimachinery::ParseSelectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelMatcher {
    /// The texts of keys and values, concatenated.
    text: Box<str>,
    /// The rules, sorted by key; each key occurs once.
    rules: Box<[Rule]>,
    /// The values of all rules; those of one rule are adjacent.
    values: Box<[Span]>,
    /// The numeric bounds, sorted by rule.
    bounds: Box<[Bounds]>,
    /// The number of rules that require the label to exist.
    needed: usize,
    /// Nothing can match.
    nothing: bool,
}

/// A range of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

/// The merged requirements on one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    key: Span,
    /// The end of the allowed values, sorted; used if `limited`.
    allowed: Span,
    /// The end of the forbidden values, which come next, sorted.
    refused_end: u32,
    /// The label must exist.
    present: bool,
    /// The label must not exist.
    absent: bool,
    /// Only certain values are allowed.
    limited: bool,
    /// There are numeric bounds.
    bounded: bool,
}

/// Bounds of a numeric label value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    rule: usize,
    /// The value must be greater.
    above: Option<i64>,
    /// The value must be smaller.
    below: Option<i64>,
}

impl LabelMatcher {
    /// Builds a matcher; n requirements and values take O(n log n) time.
    pub(super) fn new(selector: &Selector) -> Self {
        let mut packing = Packing {
            nothing: selector.is_nothing(),
            ..Packing::default()
        };
        // The requirements are sorted by key.
        let requirements = selector.requirements();
        for same in requirements.chunk_by(|left, right| left.key() == right.key()) {
            packing.add(same);
        }
        Self {
            text: packing.text.into(),
            rules: packing.rules.into(),
            values: packing.values.into(),
            bounds: packing.bounds.into(),
            needed: packing.needed,
            nothing: packing.nothing,
        }
    }

    /// Reports whether an object with these labels matches. Each key may occur once.
    pub fn matches<'a>(&self, labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> bool {
        if self.nothing {
            return false;
        }
        let mut needed = self.needed;
        for (key, value) in labels {
            let found = self
                .rules
                .binary_search_by(|rule| self.at(rule.key).cmp(key));
            let Ok(index) = found else { continue };
            if !self.allows(index, value) {
                return false;
            }
            needed -= usize::from(self.rules[index].present);
        }
        needed == 0
    }

    /// Reports whether a label value satisfies a whole rule.
    fn allows(&self, index: usize, value: &str) -> bool {
        let rule = &self.rules[index];
        let refused = Span {
            start: rule.allowed.end,
            end: rule.refused_end,
        };
        if rule.absent || self.has(refused, value) {
            return false;
        }
        if rule.limited && !self.has(rule.allowed, value) {
            return false;
        }
        if !rule.bounded {
            return true;
        }
        let bounds = self.bounds.binary_search_by_key(&index, |it| it.rule);
        let bounds = bounds.ok().map(|at| self.bounds[at]);
        bounds.is_none_or(|Bounds { above, below, .. }| {
            parse_int(value).is_ok_and(|value| {
                above.is_none_or(|limit| value > limit) && below.is_none_or(|limit| value < limit)
            })
        })
    }

    /// Reports whether a value is among these.
    fn has(&self, values: Span, value: &str) -> bool {
        let values = self.values.get(values.range()).unwrap_or_default();
        values
            .binary_search_by(|it| self.at(*it).cmp(value))
            .is_ok()
    }

    fn at(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

impl Span {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A matcher under construction.
#[derive(Default)]
struct Packing {
    text: String,
    rules: Vec<Rule>,
    values: Vec<Span>,
    bounds: Vec<Bounds>,
    needed: usize,
    nothing: bool,
}

impl Packing {
    /// Adds all requirements on one key.
    fn add(&mut self, same: &[Requirement]) {
        let mut draft = Draft::default();
        for requirement in same {
            self.nothing |= !draft.add(requirement);
        }
        draft.refused.sort_unstable();
        draft.refused.dedup();
        self.nothing |= draft.present && draft.absent;
        self.needed += usize::from(draft.present);
        let key = self.put(same.first().map_or("", Requirement::key));
        let start = offset(self.values.len());
        for value in draft.allowed.iter().flatten() {
            let value = self.put(value);
            self.values.push(value);
        }
        let end = offset(self.values.len());
        for value in &draft.refused {
            let value = self.put(value);
            self.values.push(value);
        }
        let bounded = draft.above.is_some() || draft.below.is_some();
        if bounded {
            self.bounds.push(Bounds {
                rule: self.rules.len(),
                above: draft.above,
                below: draft.below,
            });
        }
        self.rules.push(Rule {
            key,
            allowed: Span { start, end },
            refused_end: offset(self.values.len()),
            present: draft.present,
            absent: draft.absent,
            limited: draft.allowed.is_some(),
            bounded,
        });
    }

    fn put(&mut self, text: &str) -> Span {
        let start = offset(self.text.len());
        self.text.push_str(text);
        Span {
            start,
            end: offset(self.text.len()),
        }
    }
}

/// The position of a text; no selector has four gigabytes.
fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The combination of the requirements on one key.
#[derive(Default)]
struct Draft<'a> {
    present: bool,
    absent: bool,
    /// The allowed values, sorted; none if any value is allowed.
    allowed: Option<Vec<&'a str>>,
    refused: Vec<&'a str>,
    above: Option<i64>,
    below: Option<i64>,
}

impl<'a> Draft<'a> {
    /// Adds a requirement. Returns false if nothing can satisfy the combination.
    fn add(&mut self, requirement: &'a Requirement) -> bool {
        let values = requirement.values().iter().map(Str::as_str);
        match requirement.operator() {
            Operator::Equals | Operator::DoubleEquals | Operator::In => {
                self.present = true;
                let mut sorted: Vec<_> = values.collect();
                sorted.sort_unstable();
                self.allowed = Some(match self.allowed.take() {
                    None => sorted,
                    Some(before) => common(before, &sorted),
                });
            }
            Operator::NotEquals | Operator::NotIn => self.refused.extend(values),
            Operator::Exists => self.present = true,
            Operator::DoesNotExist => self.absent = true,
            Operator::GreaterThan | Operator::LessThan => {
                self.present = true;
                let limit = requirement.values().first();
                let limit = limit.and_then(|it| parse_int(it).ok());
                let Some(limit) = limit else {
                    return false;
                };
                if requirement.operator() == Operator::LessThan {
                    self.below = Some(self.below.map_or(limit, |it| it.min(limit)));
                } else {
                    self.above = Some(self.above.map_or(limit, |it| it.max(limit)));
                }
            }
        }
        true
    }
}

/// Returns the intersection of two sorted lists.
fn common<'a>(left: Vec<&'a str>, right: &[&str]) -> Vec<&'a str> {
    let mut rest = right;
    let mut kept = left;
    kept.retain(|value| {
        while let Some((first, after)) = rest.split_first() {
            match (*first).cmp(*value) {
                Ordering::Less => rest = after,
                Ordering::Equal => return true,
                Ordering::Greater => return false,
            }
        }
        false
    });
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn a_long_one_is_a_few_times_its_text() {
        for (term, most) in [("!a", 6), ("a", 6), ("ab=c", 8)] {
            let mut text = "zz".to_owned();
            for number in 0..2300 {
                let (key, value) = term.split_once('=').unwrap_or((term, ""));
                let equals = if value.is_empty() { "" } else { "!=" };
                write!(text, ",{key}{number}{equals}{value}").expect("there is memory");
            }
            let selector: Selector = text.parse().expect("it is one");
            let matcher = selector.matcher();
            let bytes = size_of_val(&*matcher.text)
                + size_of_val(&*matcher.rules)
                + size_of_val(&*matcher.values)
                + size_of_val(&*matcher.bounds);
            assert!(bytes < most * text.len(), "{bytes} of {}", text.len());
        }
    }
}
