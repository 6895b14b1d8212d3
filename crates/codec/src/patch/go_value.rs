//! JSON values as Go's `%v` and `%T` show them: error texts contain them.

use std::fmt::Write as _;

use serde_json::Value;

/// `%v`: `map[a:1 b:[x y]]`, keys sorted.
pub(super) fn print(value: &Value) -> String {
    let mut out = String::new();
    push(value, &mut out);
    out
}

/// `%v` of a list.
pub(super) fn print_list(list: &[Value]) -> String {
    let mut out = String::from("[");
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        push(item, &mut out);
    }
    out.push(']');
    out
}

/// `%T`.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => LIST,
        Value::Object(_) => MAP,
    }
}

/// The type of JSON arrays.
pub(super) const LIST: &str = "[]interface {}";
/// The type of JSON objects.
pub(super) const MAP: &str = "map[string]interface {}";

fn push(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::String(text) => out.push_str(text),
        Value::Array(list) => out.push_str(&print_list(list)),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push_str("map[");
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                push(value, out);
            }
            out.push(']');
        }
        Value::Bool(_) | Value::Number(_) => {
            let _ = write!(out, "{value}");
        }
    }
}
