//! `enum`: the value equals one of several.
//!
//! Upstream converts the value to the type of each of them first, by the rules of Go: a float
//! loses its fraction, and an integer becomes the text of one character.

use super::Validator;
use super::location::At;
use super::outcome::Outcome;
use crate::go_value::{GoNumber, bad_value, float_to_int, json_text, plain_text};
use crate::schema::ValueRules;
use kubist_apimachinery::FieldError;
use kubist_apimachinery::go_text::escape_html;
use serde_json::Value;

impl Validator<'_> {
    pub(super) fn enumerated(
        &mut self,
        out: &mut Outcome,
        value: &Value,
        values: Option<&ValueRules>,
        at: At<'_>,
    ) {
        let Some(values) = values.filter(|it| !it.enumerated.is_empty()) else {
            return;
        };
        let all = &values.enumerated;
        self.steps
            .take(u64::try_from(all.len()).unwrap_or(u64::MAX) / 16);
        if all.iter().any(|it| is_equal(value, it)) {
            return;
        }
        self.fail(out, at, |path, name| {
            let supported: Vec<String> = all.iter().map(shown).collect();
            let error = match value {
                Value::String(text) => FieldError::not_supported_text(path, text, &supported),
                other => FieldError::not_supported(path, bad_value(other), &supported),
            };
            let texts: Vec<String> = all.iter().map(plain_text).collect();
            let text = format!("{name} in body should be one of [{}]", texts.join(" "));
            (error, Some(text))
        });
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => escape_html(&json_text(other)),
    }
}

#[expect(clippy::float_cmp, reason = "as upstream compares")]
fn is_equal(value: &Value, one: &Value) -> bool {
    match (value, one) {
        // Upstream never finds a null.
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Number(value), Value::Number(one)) => {
            match (GoNumber::from(value), GoNumber::from(one)) {
                (GoNumber::Int(value), GoNumber::Int(one)) => value == one,
                (GoNumber::Float(value), GoNumber::Int(one)) => float_to_int(value) == one,
                (value, GoNumber::Float(one)) => value.as_f64() == one,
            }
        }
        (Value::Number(value), Value::String(one)) => match GoNumber::from(value) {
            GoNumber::Int(value) => {
                let c = u32::try_from(value).ok().and_then(char::from_u32);
                let mut characters = one.chars();
                characters.next() == Some(c.unwrap_or(char::REPLACEMENT_CHARACTER))
                    && characters.next().is_none()
            }
            GoNumber::Float(_) => false,
        },
        (value, one) => value == one,
    }
}
