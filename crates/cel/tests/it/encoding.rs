//! Values and types as the program of `tests/interop/cel` encodes them: `{"int": "5"}`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubist_cel::{Blob, Duration, Key, Map, Timestamp, Type, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Parses a type as CEL formats it.
pub(crate) fn parse_type(text: &str) -> Option<Type> {
    let text = text.trim();
    if let Some(open) = text.find('(') {
        let inner = text[open + 1..].strip_suffix(')')?;
        let mut parts = split(inner)
            .into_iter()
            .map(parse_type)
            .collect::<Option<Vec<_>>>()?;
        return Some(match (&text[..open], parts.len()) {
            ("list", 1) => Type::list(parts.remove(0)),
            ("optional_type", 1) => Type::optional(parts.remove(0)),
            ("type", 1) => Type::of(parts.remove(0)),
            ("wrapper", 1) => Type::Wrapper(parts.remove(0).into()),
            ("map", 2) => {
                let value = parts.remove(1);
                Type::map(parts.remove(0), value)
            }
            _ => return None,
        });
    }
    Some(match text {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "null" | "null_type" => Type::Null,
        "dyn" => Type::Dyn,
        "any" | "google.protobuf.Any" => Type::Any,
        "timestamp" | "google.protobuf.Timestamp" => Type::Timestamp,
        "duration" | "google.protobuf.Duration" => Type::Duration,
        "type" => Type::Type(None),
        _ => return None,
    })
}

fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// Decodes a value.
pub(crate) fn decode(json: &Json) -> Option<Value<'static>> {
    let (tag, it) = json.as_object()?.iter().next()?;
    Some(match tag.as_str() {
        "null" => Value::Null,
        "bool" => Value::Bool(it.as_bool()?),
        "int" => Value::Int(it.as_str()?.parse().ok()?),
        "uint" => Value::Uint(it.as_str()?.parse().ok()?),
        "double" => Value::Double(it.as_str()?.replace("Inf", "inf").parse().ok()?),
        "string" => Value::string(it.as_str()?.to_owned()),
        "bytes" => Value::Bytes(Blob::from(STANDARD.decode(it.as_str()?).ok()?)),
        "timestamp" => timestamp(it.as_str()?)?,
        "duration" => Value::Duration(Duration::from_nanoseconds(it.as_str()?.parse().ok()?)),
        "type" => Value::Type(
            parse_type(it.as_str()?)
                .unwrap_or_else(|| Type::object(it.as_str().unwrap_or_default()))
                .into(),
        ),
        "list" => Value::list(it.as_array()?.iter().map(decode).collect::<Option<_>>()?),
        "map" => {
            let mut entries = BTreeMap::new();
            for entry in it.as_array()? {
                entries.insert(Key::new(&decode(&entry[0])?)?, decode(&entry[1])?);
            }
            Value::Map(Map::from(entries))
        }
        "optional" => Value::optional(if it.is_null() {
            None
        } else {
            Some(decode(it)?)
        }),
        _ => return None,
    })
}

fn timestamp(text: &str) -> Option<Value<'static>> {
    let environment = kubist_cel::Environment::new(kubist_cel::Version::minor(36));
    let program = environment.compile(&format!("timestamp({text:?})")).ok()?;
    let evaluated = program.evaluate(
        &kubist_cel::Activation::new(),
        kubist_cel::Budget::default(),
    );
    match evaluated.value.ok()? {
        Value::Timestamp(at) => Some(Value::Timestamp(Timestamp::new(
            at.seconds(),
            at.nanoseconds(),
        )?)),
        _ => None,
    }
}

/// Encodes a value.
pub(crate) fn encode(value: &Value<'_>) -> Json {
    match value {
        Value::Null => json!({"null": true}),
        Value::Bool(it) => json!({"bool": it}),
        Value::Int(it) => json!({"int": it.to_string()}),
        Value::Uint(it) => json!({"uint": it.to_string()}),
        Value::Double(it) => json!({"double": double(*it)}),
        Value::String(it) => json!({"string": it.as_str()}),
        Value::Bytes(it) => json!({"bytes": STANDARD.encode(it.as_slice())}),
        Value::Timestamp(it) => {
            json!({"timestamp": Timestamp::new(it.seconds(), it.nanoseconds()).expect("in range").to_string()})
        }
        Value::Duration(it) => json!({"duration": it.nanoseconds().to_string()}),
        Value::Type(it) => json!({"type": &*it.name()}),
        Value::Optional(None) => json!({"optional": null}),
        Value::Optional(Some(it)) => json!({"optional": encode(it)}),
        Value::List(list) => {
            json!({"list": list.iter().map(|it| it.map_or_else(|it| json!({"error": it.to_string()}), |it| encode(&it))).collect::<Vec<_>>()})
        }
        Value::Map(map) => {
            let mut entries: Vec<Json> = Vec::new();
            for key in map.keys() {
                let value = map.find(&key);
                let value = value.map_or_else(
                    |it| json!({"error": it.to_string()}),
                    |it| encode(&it.unwrap_or_default()),
                );
                entries.push(json!([encode(&key), value]));
            }
            entries.sort_by_key(|it| it[0].to_string());
            json!({"map": entries})
        }
        other => json!({"opaque": &*other.type_name()}),
    }
}

/// Formats the doubles in a value again: more than one text can be the shortest for a number.
pub(crate) fn normalize(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(normalize),
        Json::Object(members) => {
            for (key, it) in members {
                match it
                    .as_str()
                    .map(|text| text.replace("Inf", "inf").parse::<f64>())
                {
                    Some(Ok(number)) if key == "double" => *it = double(number).into(),
                    _ => normalize(it),
                }
            }
        }
        _ => {}
    }
}

/// Formats a double as Go's `%e` with the fewest digits.
fn double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').expect("it has an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
