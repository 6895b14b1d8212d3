//! JSON values as Go's decoder and formatter treat them: integers and floats, and their text in
//! messages.
//!
//! Upstream decodes a number into an `int64` if it is written as one and fits, and otherwise into a
//! `float64`. It is not a general formatter.

use kubist_apimachinery::BadValue;
use serde_json::value::RawValue;
use serde_json::{Number, Value};

/// A number as Go's decoder keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GoNumber {
    Int(i64),
    Float(f64),
}

impl From<&Number> for GoNumber {
    fn from(number: &Number) -> Self {
        match number.as_i64() {
            Some(int) => Self::Int(int),
            None => Self::Float(number.as_f64().unwrap_or_default()),
        }
    }
}

impl GoNumber {
    #[expect(clippy::cast_precision_loss, reason = "as Go converts it")]
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    /// Formats the number with the verb `%v`.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Int(int) => int.to_string(),
            Self::Float(float) => float_text(float),
        }
    }

    pub(crate) fn bad_value(self) -> BadValue {
        match self {
            Self::Int(int) => int.into(),
            Self::Float(float) => raw(float_text(float)),
        }
    }
}

/// Converts a float to an integer as Go does on amd64: what does not fit becomes the smallest.
#[expect(clippy::cast_possible_truncation, reason = "as Go converts it")]
pub(crate) fn float_to_int(float: f64) -> i64 {
    if float >= 9_223_372_036_854_775_808.0 || float.is_nan() {
        i64::MIN
    } else {
        float as i64
    }
}

/// Formats a float with the verb `%v`.
pub(crate) fn float_text(float: f64) -> String {
    let (digits, exponent) = shortest(float);
    if (-4..6).contains(&exponent) || float == 0.0 {
        return plain(float);
    }
    with_exponent(float, &digits, exponent, 2)
}

/// Formats a float as Go's JSON encoder does.
pub(crate) fn float_json(float: f64) -> String {
    let magnitude = float.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let (digits, exponent) = shortest(float);
        // The encoder removes the zero from e-09, but not from e+09.
        let width = if exponent < 0 { 1 } else { 2 };
        return with_exponent(float, &digits, exponent, width);
    }
    plain(float)
}

/// Formats a float without an exponent.
pub(crate) fn plain(float: f64) -> String {
    format!("{float}")
}

/// Returns the fewest digits that identify the float, and its decimal exponent.
fn shortest(float: f64) -> (String, i32) {
    let text = format!("{:e}", float.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or_default())
}

fn with_exponent(float: f64, digits: &str, exponent: i32, width: usize) -> String {
    let minus = if float.is_sign_negative() { "-" } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    let exponent = exponent.unsigned_abs();
    format!("{minus}{digits}e{sign}{exponent:0width$}")
}

/// Writes JSON text as Go's encoder does, except for the escapes of HTML.
pub(crate) fn json_text(value: &Value) -> String {
    let mut out = String::new();
    write_json(&mut out, value);
    out
}

fn write_json(out: &mut String, value: &Value) {
    match value {
        Value::Number(number) => match GoNumber::from(number) {
            GoNumber::Int(int) => out.push_str(&int.to_string()),
            GoNumber::Float(float) => out.push_str(&float_json(float)),
        },
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_json(out, member);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Formats a value with the verb `%v`.
pub(crate) fn plain_text(value: &Value) -> String {
    let mut out = String::new();
    write_plain(&mut out, value);
    out
}

fn write_plain(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&GoNumber::from(number).text()),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                write_plain(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push_str("map[");
            for (index, (key, member)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                write_plain(out, member);
            }
            out.push(']');
        }
    }
}

/// Returns a value as messages show it.
pub(crate) fn bad_value(value: &Value) -> BadValue {
    match value {
        Value::Bool(it) => (*it).into(),
        Value::String(text) => text.into(),
        Value::Number(number) => GoNumber::from(number).bad_value(),
        Value::Null => BadValue::null(),
        Value::Array(_) | Value::Object(_) => raw(json_text(value)),
    }
}

/// Returns a bad value with this text, which is JSON.
pub(crate) fn raw(text: String) -> BadValue {
    match RawValue::from_string(text) {
        Ok(raw) => BadValue::json(&raw),
        Err(_) => BadValue::omitted(),
    }
}

/// The maximum depth of an object that is validated or pruned. The server's parser accepts less.
pub const DEPTH_MAX: usize = 500;

/// Reports whether a value nests more than [`DEPTH_MAX`] levels. It uses no recursion.
pub(crate) fn is_too_deep(value: &Value) -> bool {
    are_too_deep(std::iter::once(value))
}

/// Reports whether one of the values nests too deeply.
pub(crate) fn are_too_deep<'a>(values: impl Iterator<Item = &'a Value>) -> bool {
    let mut level: Vec<&Value> = values.filter(|it| holds_values(it)).collect();
    for _ in 0..=DEPTH_MAX {
        let mut next = Vec::new();
        for it in level {
            match it {
                Value::Array(items) => next.extend(items.iter().filter(|it| holds_values(it))),
                Value::Object(members) => {
                    next.extend(members.values().filter(|it| holds_values(it)));
                }
                _ => {}
            }
        }
        if next.is_empty() {
            return false;
        }
        level = next;
    }
    true
}

fn holds_values(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn floats_have_the_text_of_go() {
        for (float, text, json) in [
            (1.0, "1", "1"),
            (1.5, "1.5", "1.5"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001, "1e-05", "0.00001"),
            (123_456.0, "123456", "123456"),
            (1_234_567.0, "1.234567e+06", "1234567"),
            (1e20, "1e+20", "100000000000000000000"),
            (1e21, "1e+21", "1e+21"),
            (-2.5e-9, "-2.5e-09", "-2.5e-9"),
            (1e100, "1e+100", "1e+100"),
            (0.0, "0", "0"),
        ] {
            assert_eq!(float_text(float), text);
            assert_eq!(float_json(float), json);
        }
    }

    #[test]
    fn values_have_the_text_of_go() {
        let value = json!({"a": [1, 2.0, null, "x<"], "b": {"c": true}});
        assert_eq!(plain_text(&value), "map[a:[1 2 <nil> x<] b:map[c:true]]");
        assert_eq!(json_text(&value), r#"{"a":[1,2,null,"x<"],"b":{"c":true}}"#);
    }
}
