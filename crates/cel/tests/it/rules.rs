//! Declared types of structural schemas, as custom resources have them.

use kubist_cel::declared::{Declared, Field, Kind, ListKind, Object};
use serde_json::{Value as Json, json};
use std::sync::Arc;

const REQUEST: i64 = 3 * 1024 * 1024;

fn size(json: &Json) -> Option<u64> {
    json.as_i64().map(|it| u64::try_from(it).unwrap_or(0))
}

fn largest(bytes: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}

/// Converts a structural schema; none if expressions cannot use it.
pub(crate) fn declare(schema: &Json, name: &str, is_root: bool) -> Option<Declared> {
    let mut declared = converted(schema, name, is_root)?;
    declared.nullable = schema["nullable"] == true;
    Some(declared)
}

fn converted(schema: &Json, name: &str, is_root: bool) -> Option<Declared> {
    let max_length = size(&schema["maxLength"]);
    if schema["x-kubernetes-int-or-string"] == true {
        let max = max_length.map_or_else(|| largest(REQUEST - 2), |it| it * 4);
        return Some(Declared::new(Kind::IntOrString, max, 1));
    }
    let kind = if is_root {
        "object"
    } else {
        schema["type"].as_str()?
    };
    Some(match kind {
        "array" => {
            let items = Arc::new(declare(
                &schema["items"],
                &format!("{name}.@idx"),
                schema["items"]["x-kubernetes-embedded-resource"] == true,
            )?);
            let fits = (REQUEST - 2) / (i64::try_from(items.min_serialized_size).ok()? + 1);
            let list_kind = match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => ListKind::Set,
                Some("map") => {
                    let keys = schema["x-kubernetes-list-map-keys"].as_array()?;
                    ListKind::Map(
                        keys.iter()
                            .filter_map(|it| kubist_cel::escape(it.as_str()?).map(Into::into))
                            .collect(),
                    )
                }
                _ => ListKind::Atomic,
            };
            let max = size(&schema["maxItems"]).unwrap_or_else(|| largest(fits));
            Declared::new(Kind::List(items, list_kind), max, 2)
        }
        "object" => match &schema["additionalProperties"] {
            Json::Object(_) => {
                let values = Arc::new(declare(
                    &schema["additionalProperties"],
                    &format!("{name}.@elem"),
                    false,
                )?);
                let fits = (REQUEST - 2) / (i64::try_from(values.min_serialized_size).ok()? + 6);
                let max = size(&schema["maxProperties"]).unwrap_or_else(|| largest(fits));
                Declared::new(Kind::Map(values), max, 2)
            }
            _ => object(schema, name, is_root),
        },
        "string" => string(schema, max_length),
        "boolean" => Declared::new(Kind::Bool, 0, 4),
        "number" => Declared::new(Kind::Double, 0, 1),
        "integer" => Declared::new(Kind::Int, 0, 1),
        _ => return None,
    })
}

fn string(schema: &Json, max_length: Option<u64>) -> Declared {
    match schema["format"].as_str() {
        Some("byte") => Declared::new(
            Kind::Bytes,
            max_length.unwrap_or_else(|| largest(REQUEST - 2)),
            2,
        ),
        Some("duration") => Declared::new(Kind::Duration, 32, 3),
        Some("date") => Declared::new(Kind::Date, 12, 12),
        Some("date-time") => Declared::new(Kind::DateTime, 32, 21),
        _ => {
            let values = schema["enum"].as_array().into_iter().flatten();
            let longest = values
                .filter_map(|it| Some(it.as_str()?.len() as u64))
                .max();
            let max = max_length
                .map(|it| it * 4)
                .or(longest)
                .unwrap_or_else(|| largest(REQUEST - 2));
            Declared::new(Kind::String, max, 2)
        }
    }
}

fn object(schema: &Json, name: &str, is_root: bool) -> Declared {
    let mut properties = schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    if is_root {
        let text = json!({"type": "string"});
        properties.insert("kind".into(), text.clone());
        properties.insert("apiVersion".into(), text.clone());
        let metadata =
            json!({"type": "object", "properties": {"name": text, "generateName": text}});
        properties.insert("metadata".into(), metadata);
    }
    let required = |name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|it| it.iter().any(|it| it == name))
    };
    let (mut fields, mut smallest) = (Vec::new(), 2);
    for (key, property) in &properties {
        let is_embedded = property["x-kubernetes-embedded-resource"] == true;
        let Some(declared) = declare(property, &format!("{name}.{key}"), is_embedded) else {
            let preserved = Declared::new(Kind::Preserved, 0, 1);
            fields.push(Field::hidden(
                key,
                Arc::new(Declared {
                    nullable: property["nullable"] == true,
                    ..preserved
                }),
            ));
            continue;
        };
        if required(key) && property.get("default").is_none() {
            smallest += key.len() as u64 + declared.min_serialized_size + 4;
        }
        fields.push(Field::new(key, Arc::new(declared)));
    }
    Declared::new(
        Kind::Object(Arc::new(Object::new(name, fields))),
        0,
        smallest,
    )
}
