//! Validation of objects by a schema, with upstream's errors.
//!
//! The order of keywords is upstream's; where upstream iterates a map in random order, names are in
//! order here. [`validate_update`] lets errors pass in values that do not change (ratcheting).

mod containers;
mod enumerated;
mod junctors;
mod location;
mod numbers;
mod outcome;
mod texts;
mod value_type;

use crate::correlate::{Comparisons, Correlation};
use crate::go_value::{DEPTH_MAX, is_too_deep};
use crate::schema::{Schema, ValueRules};
use crate::steps::Steps;
use kubist_apimachinery::{FieldError, FieldPath};
use location::At;
use outcome::Outcome;
use serde_json::Value;
use value_type::Types;

/// The maximum size of all errors together, in bytes. An error shows the value and the path.
const ERRORS_BYTES_MAX: usize = 1 << 20;

/// Validates a value: a new object, or the status of one. `path` is the path of the value, the
/// root for an object.
///
/// A value that nests too deeply or that takes more than `steps` has a single error that says so.
pub fn validate(
    value: &Value,
    schema: &Schema,
    path: &FieldPath,
    steps: &mut Steps,
) -> Vec<FieldError> {
    run(value, schema, path, steps, Purpose::Object)
}

/// Validates a changed value. Errors in a part of `new` that equals the same part of `old` pass.
pub fn validate_update(
    new: &Value,
    old: &Value,
    schema: &Schema,
    path: &FieldPath,
    steps: &mut Steps,
) -> Vec<FieldError> {
    if is_too_deep(old) {
        return run(new, schema, path, steps, Purpose::Object);
    }
    let correlation = Correlation { new, old, schema };
    run(new, schema, path, steps, Purpose::Update(correlation))
}

/// Validates a default. Formats that the type does not support count, and the type of an
/// int-or-string does not.
pub(crate) fn validate_default(
    value: &Value,
    schema: &Schema,
    path: &FieldPath,
    steps: &mut Steps,
) -> Vec<FieldError> {
    run(value, schema, path, steps, Purpose::Default)
}

/// What a value is validated for.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    Object,
    Update(Correlation<'a>),
    Default,
}

fn run(
    value: &Value,
    schema: &Schema,
    path: &FieldPath,
    steps: &mut Steps,
    purpose: Purpose<'_>,
) -> Vec<FieldError> {
    if is_too_deep(value) {
        let detail = format!("must not nest more than {DEPTH_MAX} levels");
        return vec![FieldError::forbidden(path, detail)];
    }
    let max = steps.max();
    let mut validator = Validator {
        base: path,
        steps,
        is_default: matches!(purpose, Purpose::Default),
        bytes_left: ERRORS_BYTES_MAX,
        comparisons: Comparisons::default(),
    };
    let correlation = match purpose {
        Purpose::Update(correlation) => Some(correlation),
        _ => None,
    };
    let outcome = validator.value(value, schema, At::Root, correlation);
    if validator.steps.is_exhausted() {
        let detail = format!("validation takes more than {max} steps");
        return vec![FieldError::forbidden(path, detail)];
    }
    outcome.into_errors()
}

struct Validator<'a> {
    base: &'a FieldPath,
    steps: &'a mut Steps,
    is_default: bool,
    /// How many bytes of errors are still reported.
    bytes_left: usize,
    comparisons: Comparisons,
}

impl Validator<'_> {
    /// Validates one value, and everything in it.
    fn value(
        &mut self,
        value: &Value,
        schema: &Schema,
        at: At<'_>,
        correlation: Option<Correlation<'_>>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        if !self.steps.take(1) {
            return outcome;
        }
        self.keywords(&mut outcome, value, schema, at, correlation);
        if let Some(correlation) = correlation
            && !outcome.is_valid()
            && self.comparisons.are_equal(correlation)
        {
            self.bytes_left += outcome.forgive();
        }
        outcome
    }

    fn keywords(
        &mut self,
        out: &mut Outcome,
        value: &Value,
        schema: &Schema,
        at: At<'_>,
        correlation: Option<Correlation<'_>>,
    ) {
        let values = schema.values.as_deref();
        if value.is_null() {
            self.null_type(out, schema, at);
            self.enumerated(out, value, values, at);
            return;
        }
        let types = Types::of(schema, self.is_default);
        let format = values.and_then(|it| it.format.as_ref());
        let format = format.filter(|it| it.is_supported || self.is_default);
        if !types.is_empty() || format.is_some() {
            self.value_type(out, value, types, format, at);
            out.matched += 1;
        }
        if let Some(junctors) = values.and_then(|it| it.junctors.as_deref()) {
            self.junctors(out, value, junctors, at);
        }
        out.matched += 2;
        match value {
            Value::String(text) => {
                self.text(out, text, values, at);
                out.matched += 1;
                if let Some(format) = format
                    && let Some(known) = format.known
                {
                    self.text_format(out, text, &format.name, known, at);
                    out.matched += 1;
                }
            }
            Value::Number(number) => {
                self.number(out, number.into(), values, (types, format), at);
                out.matched += 2;
            }
            Value::Array(items) => {
                self.list(out, items, schema, at, correlation);
                out.matched += 2;
            }
            _ => {}
        }
        self.enumerated(out, value, values, at);
        out.matched += 1;
        if let Value::Object(members) = value {
            self.object(out, members, schema, at, correlation);
            out.matched += 1;
        }
        out.matched += 1;
    }

    /// Adds an error of a value. `text` is upstream's text of the error, which identifies it.
    fn fail(
        &mut self,
        out: &mut Outcome,
        at: At<'_>,
        make: impl FnOnce(&FieldPath, String) -> (FieldError, Option<String>),
    ) {
        if self.bytes_left == 0 {
            out.suppress();
            return;
        }
        let name = at.text();
        let path = match name.strip_prefix('.').unwrap_or(&name) {
            "" => self.base.clone(),
            name => self.base.child(name),
        };
        let (error, text) = make(&path, name);
        let cost = out.add(error, text);
        self.bytes_left = self.bytes_left.saturating_sub(cost);
    }

    /// Adds an error about a value that names no field.
    fn fail_plainly(&mut self, out: &mut Outcome, detail: impl FnOnce() -> String) {
        if self.bytes_left == 0 {
            out.suppress();
            return;
        }
        let error = FieldError::invalid(self.base, "", detail());
        let cost = out.add(error, None);
        self.bytes_left = self.bytes_left.saturating_sub(cost);
    }

    /// Merges the errors of a part.
    fn merge(&mut self, out: &mut Outcome, part: Outcome) {
        let refunded = out.merge(part);
        self.bytes_left += refunded;
    }

    /// Drops the errors of a part.
    fn drop_errors(&mut self, mut part: Outcome) {
        self.bytes_left += part.forgive();
    }
}

/// Returns the rules, or none of them.
fn rule<T: Copy>(
    values: Option<&ValueRules>,
    rule: impl FnOnce(&ValueRules) -> Option<T>,
) -> Option<T> {
    values.and_then(rule)
}
