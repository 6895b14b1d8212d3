//! Texts: length, pattern and format.

use super::location::At;
use super::outcome::Outcome;
use super::{Validator, rule};
use crate::format::KnownFormat;
use crate::schema::ValueRules;
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::{FieldError, FieldPath, Str};

/// How many bytes of a text count as one step.
const BYTES_PER_STEP: u64 = 64;

impl Validator<'_> {
    /// Checks length and pattern: the first of them that fails is the error.
    pub(super) fn text(
        &mut self,
        out: &mut Outcome,
        text: &str,
        values: Option<&ValueRules>,
        at: At<'_>,
    ) {
        let (max, min) = (
            rule(values, ValueRules::length_max),
            rule(values, ValueRules::length_min),
        );
        let length = if max.is_some() || min.is_some() {
            i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
        } else {
            0
        };
        if let Some(max) = max
            && length > max
        {
            self.fail(out, at, |path, name| {
                let text = format!("{name} in body should be at most {max} chars long");
                (too_long(path, max), Some(text))
            });
            return;
        }
        if let Some(min) = min
            && length < min
        {
            self.fail(out, at, |path, name| {
                let detail = format!("{name} in body should be at least {min} chars long");
                (FieldError::invalid(path, text, detail), None)
            });
            return;
        }
        self.pattern(out, text, values, at);
    }

    fn pattern(&mut self, out: &mut Outcome, text: &str, values: Option<&ValueRules>, at: At<'_>) {
        let Some(pattern) = values.and_then(|it| it.pattern.as_ref()) else {
            return;
        };
        self.take_steps(text);
        let problem = match pattern.is_match(text) {
            Ok(true) => return,
            Ok(false) => None,
            Err(error) => Some(error),
        };
        self.fail(out, at, |path, name| {
            let pattern = pattern.text();
            let detail = match problem {
                None => format!("{name} in body should match '{pattern}'"),
                Some(error) => format!(
                    "{name} in body should match '{pattern}, but pattern is invalid: {error}'"
                ),
            };
            (FieldError::invalid(path, text, detail), None)
        });
    }

    pub(super) fn text_format(
        &mut self,
        out: &mut Outcome,
        text: &str,
        format: &Str,
        known: KnownFormat,
        at: At<'_>,
    ) {
        self.take_steps(text);
        if !known.accepts(text) {
            self.fail(out, at, |path, name| {
                let detail = format!("{name} in body must be of type {format}: {}", quote(text));
                (FieldError::type_invalid(path, text, detail), None)
            });
        }
    }

    fn take_steps(&mut self, text: &str) {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.steps.take(length / BYTES_PER_STEP);
    }
}

/// Returns the error of a text that is too long. A negative maximum is not shown.
fn too_long(path: &FieldPath, max: i64) -> FieldError {
    if let Ok(max) = usize::try_from(max) {
        return FieldError::too_long(path, max);
    }
    let mut error = FieldError::too_long(path, 0);
    error.detail = "value is too long".into();
    error
}
