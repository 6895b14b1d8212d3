//! `LabelMatcher`: a selector made ready for many objects.
//!
//! What it costs to judge an object depends on the object's labels, not on how long the selector
//! is: requirements on one key become one rule, and rules are found by key. It selects exactly what
//! the selector does; for a handful of requirements the selector itself is as good.

use std::cmp::Ordering;

use super::{Operator, Requirement, Selector};
use crate::Str;
use crate::go_text::parse_int;

/// A [`Selector`] made ready for many objects.
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
    /// Sorted by key, each key once.
    rules: Vec<(Str, Rule)>,
    /// How many of them ask for the label to be there.
    needed: usize,
    /// Nothing can be selected.
    nothing: bool,
}

/// All requirements on one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rule {
    /// The label has to be there.
    present: bool,
    /// The label must not be there.
    absent: bool,
    /// Sorted; none: any value will do.
    allowed: Option<Vec<Str>>,
    /// Sorted.
    refused: Vec<Str>,
    /// The value has to be a greater number.
    above: Option<i64>,
    /// The value has to be a smaller number.
    below: Option<i64>,
}

impl LabelMatcher {
    /// Of n requirements and values; takes n log n steps.
    pub(super) fn new(selector: &Selector) -> Self {
        let mut rules: Vec<(Str, Rule)> = Vec::new();
        let mut nothing = selector.is_nothing();
        // They are sorted by key.
        for requirement in selector.requirements() {
            if rules
                .last()
                .is_none_or(|(key, _)| **key != *requirement.key())
            {
                rules.push((requirement.key().into(), Rule::default()));
            }
            if let Some((_, rule)) = rules.last_mut() {
                nothing |= !rule.add(requirement);
            }
        }
        for (_, rule) in &mut rules {
            rule.refused.sort_unstable();
            nothing |= rule.present && rule.absent;
        }
        let needed = rules.iter().filter(|(_, rule)| rule.present).count();
        Self {
            rules,
            needed,
            nothing,
        }
    }

    /// Whether an object with these labels is selected. Each key may come once.
    pub fn matches<'a>(&self, labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> bool {
        if self.nothing {
            return false;
        }
        let mut needed = self.needed;
        for (key, value) in labels {
            let found = self.rules.binary_search_by(|(it, _)| (**it).cmp(key));
            let Ok(index) = found else { continue };
            let (_, rule) = &self.rules[index];
            if !rule.matches(value) {
                return false;
            }
            needed -= usize::from(rule.present);
        }
        needed == 0
    }
}

impl Rule {
    /// Takes in a requirement. False if nothing can satisfy it.
    fn add(&mut self, requirement: &Requirement) -> bool {
        let values = requirement.values();
        match requirement.operator() {
            Operator::Equals | Operator::DoubleEquals | Operator::In => {
                self.present = true;
                let mut sorted = values.to_vec();
                sorted.sort_unstable();
                self.allowed = Some(match self.allowed.take() {
                    None => sorted,
                    Some(before) => common(before, &sorted),
                });
            }
            Operator::NotEquals | Operator::NotIn => self.refused.extend_from_slice(values),
            Operator::Exists => self.present = true,
            Operator::DoesNotExist => self.absent = true,
            Operator::GreaterThan | Operator::LessThan => {
                self.present = true;
                let limit = values.first().and_then(|it| parse_int(it).ok());
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

    /// Whether the value of a label satisfies all of them.
    fn matches(&self, value: &str) -> bool {
        let is_in = |set: &[Str]| set.binary_search_by(|it| (**it).cmp(value)).is_ok();
        if self.absent || is_in(&self.refused) {
            return false;
        }
        if self.allowed.as_ref().is_some_and(|allowed| !is_in(allowed)) {
            return false;
        }
        if self.above.is_none() && self.below.is_none() {
            return true;
        }
        parse_int(value).is_ok_and(|value| {
            self.above.is_none_or(|limit| value > limit)
                && self.below.is_none_or(|limit| value < limit)
        })
    }
}

/// What is in both of two sorted lists.
fn common(left: Vec<Str>, right: &[Str]) -> Vec<Str> {
    let mut rest = right;
    let mut kept = left;
    kept.retain(|value| {
        while let Some((first, after)) = rest.split_first() {
            match first.cmp(value) {
                Ordering::Less => rest = after,
                Ordering::Equal => return true,
                Ordering::Greater => return false,
            }
        }
        false
    });
    kept
}
