//! The type of a value.

use super::Validator;
use super::location::At;
use super::outcome::Outcome;
use crate::go_value::{GoNumber, float_to_int};
use crate::schema::{Kind, Schema, SchemaFormat};
use kubist_apimachinery::FieldError;
use kubist_apimachinery::go_text::quote;
use serde_json::Value;

/// The types that a schema has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Types<'a> {
    Any,
    IntOrString,
    One(&'a Kind),
}

impl<'a> Types<'a> {
    pub(super) fn of(schema: &'a Schema, is_default: bool) -> Self {
        if schema.is_int_or_string && !is_default {
            Self::IntOrString
        } else if schema.kind == Kind::Any {
            Self::Any
        } else {
            Self::One(&schema.kind)
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::Any
    }

    fn has(self, name: &str) -> bool {
        match self {
            Self::Any => false,
            Self::IntOrString => matches!(name, "integer" | "string"),
            Self::One(kind) => kind.as_str() == name,
        }
    }

    fn text(self) -> &'a str {
        match self {
            Self::Any => "",
            Self::IntOrString => "integer,string",
            Self::One(kind) => kind.as_str(),
        }
    }
}

impl Validator<'_> {
    /// Checks that null is valid.
    pub(super) fn null_type(&mut self, out: &mut Outcome, schema: &Schema, at: At<'_>) {
        let types = Types::of(schema, self.is_default);
        if types.is_empty() || types.has("null") || schema.nullable {
            out.matched += 1;
        } else {
            self.wrong_type(out, types.text(), "null", at);
        }
    }

    /// Checks the type. The rules about formats are upstream's, with their surprises: a text or a
    /// list is not checked if there is a format that is not of numbers.
    pub(super) fn value_type(
        &mut self,
        out: &mut Outcome,
        value: &Value,
        types: Types<'_>,
        format: Option<&SchemaFormat>,
        at: At<'_>,
    ) {
        let (found, found_format) = type_of(value);
        let is_integer = match value {
            Value::Number(number) => match GoNumber::from(number) {
                GoNumber::Int(_) => types.has("number"),
                GoNumber::Float(float) => types.has("integer") && is_json_integer(float),
            },
            _ => false,
        };
        let fits = types.has(found) || is_integer;
        let is_text_or_list = matches!(value, Value::String(_) | Value::Array(_));
        if let Some(format) = format {
            if !is_text_or_list && !fits && found_format != format.name.as_str() {
                self.wrong_type(out, &format.name, found_format, at);
                return;
            }
            if is_text_or_list && !types.has("number") && !types.has("integer") {
                out.matched += 1;
                return;
            }
        }
        if fits {
            out.matched += 1;
        } else {
            self.wrong_type(out, types.text(), found, at);
        }
    }

    /// Adds an error that shows a text: the type found, or the value.
    pub(super) fn wrong_type(
        &mut self,
        out: &mut Outcome,
        expected: &str,
        found: &str,
        at: At<'_>,
    ) {
        self.fail(out, at, |path, name| {
            let detail = format!(
                "{name} in body must be of type {expected}: {}",
                quote(found)
            );
            (FieldError::type_invalid(path, found, detail), None)
        });
    }
}

/// Returns the type of a value and the format of its numbers, as upstream infers them.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
        Value::Number(number) => match GoNumber::from(number) {
            GoNumber::Int(_) => ("integer", "int64"),
            GoNumber::Float(_) => ("number", "float64"),
        },
    }
}

/// Reports whether a float is an integer, or so near that upstream takes it for one.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "as upstream computes it"
)]
pub(super) fn is_json_integer(float: f64) -> bool {
    const MAX: f64 = 9_007_199_254_740_991.0;
    if !(-MAX..=MAX).contains(&float) {
        return false;
    }
    let int = float_to_int(float);
    let unsigned = int as u64 as f64;
    if float == unsigned || float == int as f64 {
        return true;
    }
    if float == 0.0 || unsigned == 0.0 {
        return false;
    }
    (float - unsigned).abs() / (float.abs() + unsigned) < 1e-9
}
