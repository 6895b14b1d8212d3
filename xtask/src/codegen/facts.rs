//! The facts of types and fields as text: the line below a sentence, or the line instead of one.

use super::kinds::{Kinds, api_version, capitalised};
use super::rustdoc;
use super::schema::{Field, Message, Scalar, Schema};
use serde_json::Value;

/// The maximal number of values of an open set that are all listed. Of more, some are listed.
const OPEN_MAX: usize = 10;
const OPEN_SHOWN: usize = 6;
/// The maximal number of values of a closed set that are all listed. Of more, the first and the
/// last are listed.
const CLOSED_MAX: usize = 24;

/// Returns the facts of a field with the Rust name `rust`, except those that its sentence states.
pub(crate) fn of_field(
    schema: &Schema,
    message: &Message,
    field: &Field,
    rust: &str,
    sentence: Option<&str>,
) -> String {
    if field.json.is_empty() {
        return if message.item.is_empty() {
            "One of the alternatives. In JSON, the type is this value itself.".to_owned()
        } else {
            "The items. In JSON, the type is this list itself.".to_owned()
        };
    }
    let sentence = sentence.unwrap_or_default();
    let names_values = names_values(schema, field, sentence);
    let mut parts = vec![presence(schema, field, rust, (sentence, names_values))];
    if !names_values {
        parts.extend(values(schema, field));
    }
    parts.extend(keys(schema, field));
    parts.extend(merging(field));
    parts.extend(membership(message, field));
    parts.join(" ")
}

/// Returns the facts of a field that `OpenAPI` schemas have no keyword for.
pub(crate) fn beyond_openapi_of_field(schema: &Schema, message: &Message, field: &Field) -> String {
    let is_open = scalar(schema, &field.named).is_some_and(|it| !it.is_closed);
    let values = is_open.then(|| values(schema, field)).flatten();
    let all = [values, keys(schema, field), membership(message, field)];
    all.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Returns the facts of a type.
pub(crate) fn of_type(
    full_name: &str,
    message: &Message,
    registered: &[[String; 3]],
    kinds: &Kinds,
) -> String {
    let mut text = match full_name.rsplit_once('.') {
        // The full name is longer than a line.
        Some((package, name)) if full_name.len() > rustdoc::WORD_MAX => {
            format!("`{name}` of `{package}`")
        }
        _ => format!("`{full_name}`"),
    };
    if let Some([group, version, kind]) = registered.first() {
        text.extend([
            ": kind `",
            kind,
            "` of `",
            &api_version(group, version),
            "`",
        ]);
    }
    for [group, version, _] in registered.iter().skip(1) {
        text.extend([" and `", &api_version(group, version), "`"]);
    }
    let facts = registered.first().and_then(|kind| kinds.of(kind));
    if facts.is_some_and(|it| !it.namespaced) {
        text.push_str(", cluster-scoped");
    } else if facts.is_some_and(|it| !it.plural.is_empty()) {
        text.push_str(", namespaced");
    }
    text.push('.');
    if message.map_type == "atomic" {
        text.push_str(" Map type `atomic`.");
    }
    if !message.item.is_empty() {
        text.push_str(" In JSON, a plain list.");
    }
    let more = beyond_openapi_of_type(message, registered, kinds);
    if !more.is_empty() {
        text.push(' ');
        text.push_str(&more);
    }
    text
}

/// Returns the facts of a type that `OpenAPI` schemas have no keyword for.
pub(crate) fn beyond_openapi_of_type(
    message: &Message,
    registered: &[[String; 3]],
    kinds: &Kinds,
) -> String {
    let mut parts = Vec::new();
    if message.union {
        parts.push("Union: at most one member is set.");
    }
    let facts = registered.first().and_then(|kind| kinds.of(kind));
    parts.extend(facts.map(|it| it.lifetime.as_str()));
    parts.retain(|it| !it.is_empty());
    parts.join(" ")
}

/// Returns whether the field is required, its JSON name, unit, type and default.
fn presence(
    schema: &Schema,
    field: &Field,
    rust: &str,
    (sentence, names_values): (&str, bool),
) -> String {
    let presence = if field.required {
        "Required"
    } else {
        "Optional"
    };
    let mut parts = vec![presence.to_owned()];
    if lower_camel(rust) != field.json {
        parts.push(format!("`{}` in JSON", field.json));
    }
    let unit = unit(field).filter(|unit| !has_unit(sentence, unit));
    parts.extend(unit.map(str::to_owned));
    let has_values = scalar(schema, &field.named).is_some();
    if !field.named.is_empty() && !has_values {
        let name = field.named.rsplit('.').next().unwrap_or_default();
        let many = if is_list(field) {
            "items of type"
        } else {
            "type"
        };
        parts.push(format!("{many} `{name}`"));
    }
    if !has_values || names_values {
        parts.extend(default(field));
    }
    format!("{}.", parts.join("; "))
}

/// Reports whether a sentence names all values of a field.
fn names_values(schema: &Schema, field: &Field, sentence: &str) -> bool {
    scalar(schema, &field.named).is_some_and(|scalar| {
        let mut values = scalar.values.iter();
        values.all(|value| sentence.contains(&format!("`{}`", quoted(value))))
    })
}

/// Reports whether a sentence contains the last word of a unit: `Seconds until it ends.`
fn has_unit(sentence: &str, unit: &str) -> bool {
    let word = unit.rsplit(' ').next().unwrap_or_default();
    sentence.to_lowercase().contains(word)
}

/// Returns the unit of a number, by the name of its field, and the encoding of bytes.
fn unit(field: &Field) -> Option<&'static str> {
    let type_ = field.type_.trim_start_matches('*');
    match type_ {
        "int32" | "int64" => [
            ("Seconds", "in seconds"),
            ("Minutes", "in minutes"),
            ("Bytes", "in bytes"),
            ("Percentage", "in percent"),
            ("Percent", "in percent"),
        ]
        .into_iter()
        .find_map(|(end, unit)| field.json.ends_with(end).then_some(unit)),
        "bytes" | "[]bytes" | "map[string]bytes" => Some("in JSON as base64"),
        _ => None,
    }
}

/// Returns the possible or known values.
fn values(schema: &Schema, field: &Field) -> Option<String> {
    let scalar = scalar(schema, &field.named)?;
    let list = listing(scalar);
    let mut text = match (scalar.is_closed, is_list(field)) {
        _ if scalar.is_closed && scalar.values.len() == 1 => format!("Only {list}"),
        (true, false) => format!("One of {list}"),
        (true, true) => format!("Each item is one of {list}"),
        (false, _) => format!("Known values: {list}"),
    };
    if let Some(default) = default(field) {
        text.push_str("; ");
        text.push_str(&default);
    }
    text.push('.');
    Some(text)
}

fn keys(schema: &Schema, field: &Field) -> Option<String> {
    let list = listing(scalar(schema, &field.key)?);
    Some(format!("Known keys: {list}."))
}

/// Returns how server-side apply and strategic merge patch merge the field.
fn merging(field: &Field) -> Option<String> {
    let mut parts = Vec::new();
    if !field.list_type.is_empty() {
        let by = by(&field.list_map_keys);
        parts.push(format!("list type `{}`{by}", field.list_type));
    }
    if !field.map_type.is_empty() {
        parts.push(format!("map type `{}`", field.map_type));
    }
    let key = field.patch_merge_key.clone();
    let key: Vec<String> = Some(key).filter(|it| !it.is_empty()).into_iter().collect();
    match (field.patch_strategy.as_str(), by(&key)) {
        ("", by) if by.is_empty() => {}
        ("", by) => parts.push(format!("patches merge{by}")),
        (strategy, by) => parts.push(format!("patch strategy `{strategy}`{by}")),
    }
    (!parts.is_empty()).then(|| format!("{}.", capitalised(&parts.join("; "))))
}

/// Returns the role of the field in a union.
fn membership(message: &Message, field: &Field) -> Option<String> {
    if !message.union || field.inline {
        return None;
    }
    if field.discriminator {
        return Some("Union discriminator.".to_owned());
    }
    let discriminator = message.fields.iter().find(|it| it.discriminator);
    (!field.required).then(|| match discriminator {
        Some(field) => format!("Union member, selected by `{}`.", field.json),
        None => "Union member.".to_owned(),
    })
}

fn by(keys: &[String]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    if keys.is_empty() {
        String::new()
    } else {
        format!(" by {}", keys.join(", "))
    }
}

/// Returns the default. A zero default is left out, except for Go pointers.
fn default(field: &Field) -> Option<String> {
    let default = field.default.as_ref()?;
    let is_zero = match default {
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        other => *other == Value::Bool(false),
    };
    if is_zero && !field.type_.starts_with('*') {
        return None;
    }
    let shown = default.as_str().map_or_else(|| default.to_string(), quoted);
    Some(format!("default `{shown}`"))
}

/// Returns the named scalar, if it has known values.
fn scalar<'a>(schema: &'a Schema, name: &str) -> Option<&'a Scalar> {
    let scalar = schema.types.get(name)?;
    (!scalar.values.is_empty()).then_some(scalar)
}

fn is_list(field: &Field) -> bool {
    field.type_.trim_start_matches('*').starts_with("[]")
}

/// Returns a value as it is shown in code: `""` if it is empty.
fn quoted(text: &str) -> String {
    if text.is_empty() {
        "\"\"".to_owned()
    } else {
        text.to_owned()
    }
}

fn listing(scalar: &Scalar) -> String {
    let all: Vec<String> = scalar
        .values
        .iter()
        .map(|value| format!("`{}`", quoted(value)))
        .collect();
    match &all[..] {
        [first, .., last] if scalar.is_closed && all.len() > CLOSED_MAX => {
            format!("{} values, {first} to {last}", all.len())
        }
        _ if !scalar.is_closed && all.len() > OPEN_MAX => {
            let more = all.len() - OPEN_SHOWN;
            format!("{} and {more} more", all[..OPEN_SHOWN].join(", "))
        }
        _ => all.join(", "),
    }
}

/// Returns the name in lower camel case, as serde would rename it.
fn lower_camel(rust: &str) -> String {
    let mut words = rust.trim_end_matches('_').split('_');
    let mut name = words.next().unwrap_or_default().to_owned();
    name.extend(words.map(capitalised));
    name
}

#[cfg(test)]
mod tests;
