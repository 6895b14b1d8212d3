//! `Outcome`: the errors of a value, and how well the value fits its schema.

use hashbrown::HashSet;
use kubist_apimachinery::FieldError;

/// Beyond this many errors, repeated ones are found by hash.
const FEW: usize = 8;

/// The errors of a value. Equal errors are kept once, as by upstream.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    failures: Vec<Failure>,
    seen: HashSet<String>,
    /// Whether there are errors that are not kept, because there are too many.
    has_more: bool,
    /// How many checks the value passed; the alternative with the most is reported.
    pub(super) matched: u64,
}

#[derive(Debug)]
struct Failure {
    error: FieldError,
    /// Upstream's text, if it is not the detail.
    text: Option<String>,
    cost: usize,
}

impl Failure {
    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.error.detail)
    }
}

impl Outcome {
    pub(super) fn is_valid(&self) -> bool {
        self.failures.is_empty() && !self.has_more
    }

    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.failures.into_iter().map(|it| it.error).collect()
    }

    /// Adds an error, and returns its size; 0 if there is an equal one.
    pub(super) fn add(&mut self, error: FieldError, text: Option<String>) -> usize {
        let cost = error.to_string().len() + 64;
        self.push(Failure { error, text, cost })
    }

    /// Notes an error that is not kept.
    pub(super) fn suppress(&mut self) {
        self.has_more = true;
    }

    /// Adds what another value has; returns the size of the errors that are not kept.
    pub(super) fn merge(&mut self, other: Self) -> usize {
        self.matched += other.matched;
        self.has_more |= other.has_more;
        let mut dropped = 0;
        if self.failures.is_empty() && self.seen.is_empty() {
            self.failures = other.failures;
            self.seen = other.seen;
            return 0;
        }
        for failure in other.failures {
            let cost = failure.cost;
            if self.push(failure) == 0 {
                dropped += cost;
            }
        }
        dropped
    }

    /// Removes the errors, and returns their size.
    pub(super) fn forgive(&mut self) -> usize {
        self.has_more = false;
        self.seen.clear();
        self.failures.drain(..).map(|it| it.cost).sum()
    }

    fn push(&mut self, failure: Failure) -> usize {
        let text = failure.text();
        if self.failures.len() < FEW {
            if self.failures.iter().any(|it| it.text() == text) {
                return 0;
            }
        } else {
            if self.seen.is_empty() {
                self.seen = self
                    .failures
                    .iter()
                    .map(|it| it.text().to_owned())
                    .collect();
            }
            if !self.seen.insert(text.to_owned()) {
                return 0;
            }
        }
        let cost = failure.cost;
        self.failures.push(failure);
        cost
    }
}
