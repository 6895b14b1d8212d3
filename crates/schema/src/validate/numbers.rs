//! Numbers: ranges of formats, `maximum`, `minimum` and `multipleOf`.
//!
//! Bounds of integers are compared as integers, without their fraction, as by upstream.

use super::Validator;
use super::location::At;
use super::outcome::Outcome;
use super::value_type::{Types, is_json_integer};
use crate::go_value::{GoNumber, float_text, float_to_int};
use crate::schema::{Bound, Kind, SchemaFormat, ValueRules};
use kubist_apimachinery::FieldError;

/// The type and the format that restrict the range of a number.
#[derive(Clone, Copy)]
struct Range<'a> {
    kind: &'static str,
    format: &'a str,
}

impl<'a> Range<'a> {
    fn of(types: Types<'_>, format: Option<&'a SchemaFormat>) -> Self {
        let format = format.map_or("", |it| it.name.as_str());
        let (kind, known) = match types {
            Types::One(Kind::Integer) => ("integer", ["int32", "int64"]),
            Types::One(Kind::Number) => ("number", ["float", "double"]),
            _ => ("", [""; 2]),
        };
        let format = if known.contains(&format) { format } else { "" };
        Self { kind, format }
    }

    fn holds(self, number: GoNumber) -> bool {
        match (self.kind, self.format) {
            ("integer", format) => {
                let int = match number {
                    GoNumber::Int(int) => Some(int),
                    GoNumber::Float(float) => exact_int(float),
                };
                int.is_some_and(|it| format != "int32" || i32::try_from(it).is_ok())
            }
            #[expect(clippy::cast_possible_truncation, reason = "it tests for that")]
            (_, "float") => (number.as_f64() as f32).is_finite(),
            _ => true,
        }
    }

    fn text(self, what: &str, name: &str) -> String {
        let Self { kind, format } = self;
        if format.is_empty() {
            format!("{what} value must be of type {kind} (default format) in {name}")
        } else {
            format!("{what} value must be of type {kind} with format {format} in {name}")
        }
    }
}

fn exact_int(float: f64) -> Option<i64> {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float);
    (fits && float.fract() == 0.0).then(|| float_to_int(float))
}

/// Which of the two bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Maximum,
    Minimum,
}

impl Side {
    fn is_exceeded<T: PartialOrd>(self, number: T, bound: T, is_exclusive: bool) -> bool {
        match self {
            Self::Maximum => number > bound || is_exclusive && number >= bound,
            Self::Minimum => number < bound || is_exclusive && number <= bound,
        }
    }

    fn text(self, name: &str, bound: &str, is_exclusive: bool) -> String {
        let relation = match (self, is_exclusive) {
            (Self::Maximum, false) => "less than or equal to",
            (Self::Maximum, true) => "less than",
            (Self::Minimum, false) => "greater than or equal to",
            (Self::Minimum, true) => "greater than",
        };
        format!("{name} in body should be {relation} {bound}")
    }
}

impl Validator<'_> {
    pub(super) fn number(
        &mut self,
        out: &mut Outcome,
        number: GoNumber,
        values: Option<&ValueRules>,
        (types, format): (Types<'_>, Option<&SchemaFormat>),
        at: At<'_>,
    ) {
        let range = Range::of(types, format);
        if !range.holds(number) {
            self.fail_plainly(out, || range.text("Checked", &at.text()));
        }
        let Some(values) = values else {
            return;
        };
        if let Some(factor) = values.multiple_of() {
            let number = self.native(out, number, factor, range, ("MultipleOf", at));
            self.multiple_of(out, number, factor, at);
        }
        if let Some(bound) = values.minimum() {
            let what = ("Minimum boundary", at);
            let number = self.native(out, number, bound.value, range, what);
            self.bound(out, number, bound, Side::Minimum, at);
        }
        if let Some(bound) = values.maximum() {
            let what = ("Maximum boundary", at);
            let number = self.native(out, number, bound.value, range, what);
            self.bound(out, number, bound, Side::Maximum, at);
        }
    }

    /// Returns the number for a comparison with a value of the schema. If the type does not hold
    /// that value, which is an error, floats are compared.
    fn native(
        &mut self,
        out: &mut Outcome,
        number: GoNumber,
        value: f64,
        range: Range<'_>,
        (what, at): (&str, At<'_>),
    ) -> GoNumber {
        if range.holds(GoNumber::Float(value)) {
            return number;
        }
        self.fail_plainly(out, || range.text(what, &at.text()));
        GoNumber::Float(number.as_f64())
    }

    fn multiple_of(&mut self, out: &mut Outcome, number: GoNumber, factor: f64, at: At<'_>) {
        let (is_positive, is_multiple, shown) = match number {
            GoNumber::Int(int) => {
                let factor = float_to_int(factor);
                let is_multiple = int.checked_rem(factor) == Some(0);
                (factor > 0, is_multiple, GoNumber::Int(factor))
            }
            GoNumber::Float(float) => {
                let quotient = if factor < 1.0 {
                    1.0 / factor * float
                } else {
                    float / factor
                };
                let is_multiple = is_json_integer(quotient);
                (factor > 0.0, is_multiple, GoNumber::Float(factor))
            }
        };
        if is_positive && is_multiple {
            return;
        }
        self.fail(out, at, |path, name| {
            let text = shown.text();
            let (value, detail) = if is_positive {
                let detail = format!("{name} in body should be a multiple of {text}");
                (number, detail)
            } else {
                let detail =
                    format!("factor MultipleOf declared for {name} must be positive: {text}");
                (shown, detail)
            };
            (FieldError::invalid(path, value.bad_value(), detail), None)
        });
    }

    fn bound(&mut self, out: &mut Outcome, number: GoNumber, bound: Bound, side: Side, at: At<'_>) {
        let is_exclusive = bound.is_exclusive;
        let (is_exceeded, shown) = match number {
            GoNumber::Int(int) => {
                let max = float_to_int(bound.value);
                (side.is_exceeded(int, max, is_exclusive), max.to_string())
            }
            GoNumber::Float(float) => (
                side.is_exceeded(float, bound.value, is_exclusive),
                float_text(bound.value),
            ),
        };
        if is_exceeded {
            self.fail(out, at, |path, name| {
                let detail = side.text(&name, &shown, is_exclusive);
                (FieldError::invalid(path, number.bad_value(), detail), None)
            });
        }
    }
}
