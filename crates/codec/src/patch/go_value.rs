//! JSON values formatted like Go's `%v`, `%s` and `%T`, for error texts.

use crate::go_float::go_float;
use serde_json::Value;

/// Formats a tree like Go's `%v`: `map[a:1 b:[x y]]`, keys sorted.
pub fn print(value: &Value) -> String {
    let mut out = String::new();
    push(value, &mut out);
    out
}

/// Formats like `%s`, which marks values that are not strings.
pub(super) fn print_as_text(value: &Value) -> String {
    match value {
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Bool(_) | Value::Number(_) => {
            format!("%!s({}={})", type_name(value), print(value))
        }
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(print_as_text).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            let members = entries
                .into_iter()
                .map(|(key, value)| format!("{key}:{}", print_as_text(value)));
            format!("map[{}]", members.collect::<Vec<_>>().join(" "))
        }
    }
}

/// Formats a list like `%v`.
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

/// Returns the type like `%T`.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => LIST,
        Value::Object(_) => MAP,
    }
}

/// The Go type of JSON arrays.
pub(super) const LIST: &str = "[]interface {}";
/// The Go type of JSON objects.
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
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => match number.as_f64().filter(|_| !number.is_i64()) {
            Some(float) => out.push_str(&go_float(float)),
            None => out.push_str(&number.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn trees_are_printed_as_go_does() {
        let tree = json!({"b": [1, "x", null], "a": {"c": 1e30, "d": true, "e": 2.0}});
        assert_eq!(print(&tree), "map[a:map[c:1e+30 d:true e:2] b:[1 x <nil>]]");
        let large = json!(12_345_678_901_234_567_890_u64);
        assert_eq!(print(&large), "1.2345678901234567e+19");
    }

    #[test]
    fn a_value_that_is_not_a_string_is_shown_with_its_type() {
        let tree = json!({"b": [1, "x", null], "a": 1.5});
        assert_eq!(
            print_as_text(&tree),
            "map[a:%!s(float64=1.5) b:[%!s(int64=1) x %!s(<nil>)]]"
        );
    }
}
