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

/// What is known of a field, which Rust knows as `rust`.
pub(crate) fn of_field(schema: &Schema, message: &Message, field: &Field, rust: &str) -> String {
    if field.json.is_empty() {
        return if message.item.is_empty() {
            "One of the forms; the JSON is this value itself.".to_owned()
        } else {
            "The items; the JSON is the bare list.".to_owned()
        };
    }
    let mut said = vec![presence(schema, field, rust)];
    said.extend(values(schema, field));
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
        said.push_str(&format!(
            ": kind `{kind}` of `{}`",
            api_version(group, version)
        ));
    }
    for [group, version, _] in registered.iter().skip(1) {
        said.push_str(&format!(" and `{}`", api_version(group, version)));
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
fn presence(schema: &Schema, field: &Field, rust: &str) -> String {
    let presence = if field.required {
        "Required"
    } else {
        "Optional"
    };
    let mut said = vec![presence.to_owned()];
    if lower_camel(rust) != field.json {
        said.push(format!("`{}` in JSON", field.json));
    }
    said.extend(unit(field).map(str::to_owned));
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
    if !has_values {
        said.extend(default(field));
    }
    format!("{}.", said.join("; "))
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
        "bytes" | "[]bytes" | "map[string]bytes" => Some("base64 in JSON"),
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
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        let many: Vec<String> = (0..30).map(|it| format!("v{it}")).collect();
        let schema = json!({
            "version": "1", "commonKinds": {}, "groups": [], "messages": {},
            "types": {
                "io.a.Closed": {"enum": true, "values": ["A", ""]},
                "io.a.One": {"enum": true, "values": ["A"]},
                "io.a.Signal": {"enum": true, "values": many},
                "io.a.Open": {"values": many},
                "io.a.UID": {},
            },
        });
        serde_json::from_value(schema).expect("it is a schema")
    }

    fn told(rust: &str, field: Value) -> String {
        let message = json!({"go": "k8s.io/a.A", "union": field["union"] == true, "fields": [
            {"json": "type", "type": "string", "discriminator": true},
        ]});
        let message: Message = serde_json::from_value(message).expect("it is a message");
        let field: Field = serde_json::from_value(field).expect("it is a field");
        of_field(&schema(), &message, &field, rust)
    }

    #[test]
    fn a_field_tells_names_types_and_defaults_that_are_not_to_be_seen() {
        for (rust, field, expected) in [
            (
                "type_",
                json!({"json": "type", "type": "string"}),
                "Optional.",
            ),
            (
                "pod_ips",
                json!({"json": "podIPs", "type": "[]string", "required": true}),
                "Required; `podIPs` in JSON.",
            ),
            (
                "uid",
                json!({"json": "uid", "type": "string", "named": "io.a.UID"}),
                "Optional; type `UID`.",
            ),
            (
                "limit_seconds",
                json!({"json": "limitSeconds", "type": "*int64"}),
                "Optional; in seconds.",
            ),
            (
                "mode",
                json!({"json": "mode", "type": "*int32", "default": 0}),
                "Optional; default `0`.",
            ),
            (
                "mode",
                json!({"json": "mode", "type": "int32", "default": 0}),
                "Optional.",
            ),
            (
                "schema",
                json!({"type": "bool"}),
                "One of the forms; the JSON is this value itself.",
            ),
        ] {
            assert_eq!(told(rust, field), expected);
        }
    }

    #[test]
    fn a_closed_set_is_told_whole_and_an_open_one_by_examples() {
        for (field, expected) in [
            (
                json!({"json": "p", "type": "string", "named": "io.a.Closed", "default": "A"}),
                "Optional. One of `A`, `\"\"`; default `A`.",
            ),
            (
                json!({"json": "p", "type": "[]string", "named": "io.a.Closed"}),
                "Optional. Each one of `A`, `\"\"`.",
            ),
            (
                json!({"json": "p", "type": "string", "named": "io.a.One"}),
                "Optional. Only `A`.",
            ),
            (
                json!({"json": "p", "type": "string", "named": "io.a.Signal"}),
                "Optional. One of 30 values, `v0` to `v29`.",
            ),
            (
                json!({"json": "p", "type": "map[string]string", "key": "io.a.Open"}),
                "Optional. Known keys: `v0`, `v1`, `v2`, `v3`, `v4`, `v5` and 24 more.",
            ),
        ] {
            assert_eq!(told("p", field), expected);
        }
    }

    #[test]
    fn lists_say_how_they_are_merged_and_unions_what_tells_their_member() {
        for (field, expected) in [
            (
                json!({"json": "p", "type": "[]a.B", "listType": "map", "listMapKeys": ["a", "b"],
                    "patchStrategy": "merge", "patchMergeKey": "a"}),
                "Optional. List type `map` by `a`, `b`; patch strategy `merge` by `a`.",
            ),
            (
                json!({"json": "p", "type": "*a.B", "patchStrategy": "retainKeys"}),
                "Optional. Patch strategy `retainKeys`.",
            ),
            (
                json!({"json": "p", "type": "*a.B", "union": true}),
                "Optional. Member of the union that `type` tells.",
            ),
        ] {
            assert_eq!(told("p", field), expected);
        }
    }
}
