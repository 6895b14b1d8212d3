//! Facts of types and fields in words: what stands below, or in place of, a sentence about them.

use serde_json::Value;

use super::kinds::{Kinds, api_version, capitalised};
use super::rustdoc;
use super::schema::{Field, Message, Scalar, Schema};

/// Of an open set with more values than this only some are told: they are examples.
const OPEN_MAX: usize = 10;
const OPEN_SHOWN: usize = 6;
/// Of a closed set with more values than this only the first and the last are told.
const CLOSED_MAX: usize = 24;

/// What is known of a field, which Rust knows as `rust`, beside what a sentence has said.
pub(crate) fn of_field(
    schema: &Schema,
    message: &Message,
    field: &Field,
    rust: &str,
    sentence: Option<&str>,
) -> String {
    if field.json.is_empty() {
        return if message.item.is_empty() {
            "One of the forms; the JSON is this value itself.".to_owned()
        } else {
            "The items; the JSON is the bare list.".to_owned()
        };
    }
    let sentence = sentence.unwrap_or_default();
    let names_values = names_values(schema, field, sentence);
    let mut said = vec![presence(schema, field, rust, (sentence, names_values))];
    if !names_values {
        said.extend(values(schema, field));
    }
    said.extend(keys(schema, field));
    said.extend(merging(field));
    said.extend(membership(message, field));
    said.join(" ")
}

/// What is known of a field and has no place of its own in the schemas of `OpenAPI`.
pub(crate) fn untold_of_field(schema: &Schema, message: &Message, field: &Field) -> String {
    let is_open = scalar(schema, &field.named).is_some_and(|it| !it.is_closed);
    let values = is_open.then(|| values(schema, field)).flatten();
    let all = [values, keys(schema, field), membership(message, field)];
    all.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// What is known of a type.
pub(crate) fn of_type(
    full_name: &str,
    message: &Message,
    registered: &[[String; 3]],
    kinds: &Kinds,
) -> String {
    let mut said = match full_name.rsplit_once('.') {
        // It would fit no line.
        Some((package, name)) if full_name.len() > rustdoc::WORD_MAX => {
            format!("`{name}` of `{package}`")
        }
        _ => format!("`{full_name}`"),
    };
    if let Some([group, version, kind]) = registered.first() {
        said.extend([
            ": kind `",
            kind,
            "` of `",
            &api_version(group, version),
            "`",
        ]);
    }
    for [group, version, _] in registered.iter().skip(1) {
        said.extend([" and `", &api_version(group, version), "`"]);
    }
    let facts = registered.first().and_then(|kind| kinds.of(kind));
    if facts.is_some_and(|it| !it.namespaced) {
        said.push_str(", cluster-scoped");
    } else if facts.is_some_and(|it| !it.plural.is_empty()) {
        said.push_str(", namespaced");
    }
    said.push('.');
    if message.map_type == "atomic" {
        said.push_str(" Map type `atomic`.");
    }
    if !message.item.is_empty() {
        said.push_str(" A bare list in JSON.");
    }
    let untold = untold_of_type(message, registered, kinds);
    if !untold.is_empty() {
        said.push(' ');
        said.push_str(&untold);
    }
    said
}

/// What is known of a type and has no place of its own in the schemas of `OpenAPI`.
pub(crate) fn untold_of_type(
    message: &Message,
    registered: &[[String; 3]],
    kinds: &Kinds,
) -> String {
    let mut said = Vec::new();
    if message.union {
        said.push("At most one of the members of the union is set.");
    }
    let facts = registered.first().and_then(|kind| kinds.of(kind));
    said.extend(facts.map(|it| it.lifetime.as_str()));
    said.retain(|it| !it.is_empty());
    said.join(" ")
}

/// Whether it is required, what it is called, and what it is if nobody says.
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
    let mut said = vec![presence.to_owned()];
    if lower_camel(rust) != field.json {
        said.push(format!("`{}` in JSON", field.json));
    }
    let unit = unit(field).filter(|unit| !says(sentence, unit));
    said.extend(unit.map(str::to_owned));
    let has_values = scalar(schema, &field.named).is_some();
    if !field.named.is_empty() && !has_values {
        let name = field.named.rsplit('.').next().unwrap_or_default();
        let many = if is_list(field) {
            "items of type"
        } else {
            "type"
        };
        said.push(format!("{many} `{name}`"));
    }
    if !has_values || names_values {
        said.extend(default(field));
    }
    format!("{}.", said.join("; "))
}

/// Whether a sentence names each of the values that a field may have.
fn names_values(schema: &Schema, field: &Field, sentence: &str) -> bool {
    scalar(schema, &field.named).is_some_and(|scalar| {
        let mut values = scalar.values.iter();
        values.all(|value| sentence.contains(&format!("`{}`", quoted(value))))
    })
}

/// Whether a sentence has the last word of a unit, in either case: `Seconds until it ends.`
fn says(sentence: &str, unit: &str) -> bool {
    let word = unit.rsplit(' ').next().unwrap_or_default();
    sentence.to_lowercase().contains(word)
}

/// In what a number counts, by its name, and how bytes are written.
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

/// The values that it may have, or that are known.
fn values(schema: &Schema, field: &Field) -> Option<String> {
    let scalar = scalar(schema, &field.named)?;
    let list = listing(scalar);
    let mut said = match (scalar.is_closed, is_list(field)) {
        _ if scalar.is_closed && scalar.values.len() == 1 => format!("Only {list}"),
        (true, false) => format!("One of {list}"),
        (true, true) => format!("Each one of {list}"),
        (false, _) => format!("Known values: {list}"),
    };
    if let Some(default) = default(field) {
        said.push_str("; ");
        said.push_str(&default);
    }
    said.push('.');
    Some(said)
}

fn keys(schema: &Schema, field: &Field) -> Option<String> {
    let list = listing(scalar(schema, &field.key)?);
    Some(format!("Known keys: {list}."))
}

/// How server-side apply and patches treat what it holds.
fn merging(field: &Field) -> Option<String> {
    let mut said = Vec::new();
    if !field.list_type.is_empty() {
        let by = by(&field.list_map_keys);
        said.push(format!("list type `{}`{by}", field.list_type));
    }
    if !field.map_type.is_empty() {
        said.push(format!("map type `{}`", field.map_type));
    }
    let key = field.patch_merge_key.clone();
    let key: Vec<String> = Some(key).filter(|it| !it.is_empty()).into_iter().collect();
    match (field.patch_strategy.as_str(), by(&key)) {
        ("", by) if by.is_empty() => {}
        ("", by) => said.push(format!("patches merge{by}")),
        (strategy, by) => said.push(format!("patch strategy `{strategy}`{by}")),
    }
    (!said.is_empty()).then(|| format!("{}.", capitalised(&said.join("; "))))
}

/// Its part in a union.
fn membership(message: &Message, field: &Field) -> Option<String> {
    if !message.union || field.inline {
        return None;
    }
    if field.discriminator {
        return Some("Tells which member of the union is set.".to_owned());
    }
    let teller = message.fields.iter().find(|it| it.discriminator);
    (!field.required).then(|| match teller {
        Some(teller) => format!("Member of the union that `{}` tells.", teller.json),
        None => "Member of the union.".to_owned(),
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

/// The default. That of a field which is always there is nothing, as in Go.
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

/// A named scalar of which values are known.
fn scalar<'a>(schema: &'a Schema, name: &str) -> Option<&'a Scalar> {
    let scalar = schema.types.get(name)?;
    (!scalar.values.is_empty()).then_some(scalar)
}

fn is_list(field: &Field) -> bool {
    field.type_.trim_start_matches('*').starts_with("[]")
}

/// A value as code; nothing is told as `""`.
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

/// What serde would make of a Rust name.
fn lower_camel(rust: &str) -> String {
    let mut words = rust.trim_end_matches('_').split('_');
    let mut name = words.next().unwrap_or_default().to_owned();
    name.extend(words.map(capitalised));
    name
}

#[cfg(test)]
mod tests;
