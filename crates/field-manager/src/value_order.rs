//! The order and the text of JSON values in field sets.
//!
//! As upstream's `value` package: numbers come first and compare by value, whether they are
//! integers or not; then strings, booleans, lists, maps and null. `serde_json`'s own equality is
//! not this one: it tells `1` from `1.0`.

use kubist_apimachinery::go_text;
use kubist_codec::patch::go_print;
use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::fmt;

/// Compares two values.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            let differing = left.iter().zip(right).map(|(l, r)| compare(l, r));
            first_difference(differing).then_with(|| left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => {
            let differing = left.iter().zip(right);
            let differing = differing.map(|(l, r)| l.0.cmp(r.0).then_with(|| compare(l.1, r.1)));
            first_difference(differing).then_with(|| left.len().cmp(&right.len()))
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Reports whether two values are equal in this order.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    compare(left, right) == Ordering::Equal
}

fn first_difference(mut all: impl Iterator<Item = Ordering>) -> Ordering {
    all.find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
        return left.cmp(&right);
    }
    // Go's decoder turns integers beyond 64 bits into floats as well.
    let float = |it: &Number| it.as_f64().unwrap_or_default();
    let order = float(left).partial_cmp(&float(right));
    order.unwrap_or(Ordering::Equal)
}

/// Shows a value as upstream's messages do: strings quoted, lists in brackets.
pub(crate) struct Shown<'a>(pub(crate) &'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(_) => f.write_str(&go_print(self.0)),
            Value::String(text) => f.write_str(&go_text::quote(text)),
            Value::Array(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{}", Shown(item))?;
                }
                f.write_str("]")
            }
            Value::Object(members) => {
                let mut members = members.iter();
                members.try_for_each(|(name, value)| write!(f, "{name}={}", Shown(value)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_of_different_types_have_upstreams_order() {
        let ascending = [
            json!(-1),
            json!(0.5),
            json!(1),
            json!("a"),
            json!("b"),
            json!(false),
            json!(true),
            json!([]),
            json!([1]),
            json!([1, 2]),
            json!({}),
            json!({"a": 1}),
            json!({"a": 2}),
            json!({"b": 0}),
            json!(null),
        ];
        for pair in ascending.windows(2) {
            assert_eq!(compare(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(compare(&pair[1], &pair[0]), Ordering::Greater, "{pair:?}");
        }
        assert!(equal(&json!(1), &json!(1.0)));
    }

    #[test]
    fn messages_quote_strings() {
        assert_eq!(Shown(&json!("a\"b")).to_string(), r#""a\"b""#);
        assert_eq!(Shown(&json!([1, "x", null])).to_string(), r#"[1,"x",null]"#);
    }
}
