//! Text of values: Go's `%g` for doubles, quoted strings, and what error messages show.

use super::Value;
use std::fmt::Write as _;

/// Formats a double as Go's `%g` with the fewest digits that are exact.
pub(crate) fn shortest(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = even(number, format!("{number:e}"));
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        // Few digits before the point leave so many behind it that none is a tie.
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Rounds the last of the fewest digits that are exact to even, as Go does, if the number is in the
/// middle between two.
fn even(number: f64, scientific: String) -> String {
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let Some((head, last)) = digits.split_at_checked(digits.len() - 1) else {
        return scientific;
    };
    let is_odd = last.bytes().all(|it| (it - b'0') % 2 == 1);
    let exact = format!("{number:.60e}");
    let rounded = last
        .bytes()
        .map(|it| char::from(it - 1))
        .next()
        .filter(|_| is_odd);
    let Some(rounded) = rounded.filter(|_| digits.len() > 16) else {
        return scientific;
    };
    let candidate = format!("{head}{rounded}");
    let rest = exact
        .strip_prefix(&candidate)
        .and_then(|it| it.split('e').next());
    let is_tie = rest.is_some_and(|it| it.starts_with('5') && it[1..].bytes().all(|it| it == b'0'));
    let candidate = format!("{candidate}e{exponent}");
    if is_tie && candidate.parse() == Ok(number) {
        candidate
    } else {
        scientific
    }
}

/// Quotes a string as Go's `%q`.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            it if it.is_ascii_control() => _ = write!(quoted, "\\x{:02x}", u32::from(it)),
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

/// Formats a value as Go's `%v`, which error messages have.
pub(crate) fn debug(value: &Value<'_>) -> String {
    match value {
        Value::Null => "NULL_VALUE".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Int(it) => it.to_string(),
        Value::Uint(it) => it.to_string(),
        Value::Double(it) => shortest(*it),
        Value::String(it) => it.as_str().to_owned(),
        Value::Bytes(it) => format!("{:?}", it.as_slice()).replace(", ", " "),
        Value::Timestamp(it) => it.to_string(),
        Value::Duration(it) => it.seconds_text(),
        Value::Type(it) => it.to_string(),
        Value::Optional(None) => "optional.none()".to_owned(),
        Value::Optional(Some(it)) => format!("optional({})", debug(it)),
        Value::List(list) => {
            let texts: Vec<String> = list
                .iter()
                .map(|it| it.map_or_else(|it| it.to_string(), |it| debug(&it)))
                .collect();
            format!("[{}]", texts.join(", "))
        }
        Value::Map(map) => {
            let entry = |key: Value<'_>| {
                let value = map.find(&key).ok().flatten().unwrap_or_default();
                format!("{}: {}", debug(&key), debug(&value))
            };
            let texts: Vec<String> = map.keys().into_iter().map(entry).collect();
            format!("{{{}}}", texts.join(", "))
        }
        Value::Opaque(it) => it.text().unwrap_or_else(|| it.runtime_type().to_string()),
        Value::Preserved(it) => it.to_string(),
    }
}

/// Returns the name of the Go type that upstream has for a value; some of its errors show it.
pub(crate) fn go_type(value: &Value<'_>) -> String {
    let name = match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Duration(_) => "types.Duration",
        Value::List(_) => "*types.baseList",
        Value::Map(_) => "*types.baseMap",
        Value::Type(_) => "*types.Type",
        Value::Optional(_) => "*types.Optional",
        Value::Opaque(_) | Value::Preserved(_) => return value.type_name().to_string(),
    };
    name.to_owned()
}
