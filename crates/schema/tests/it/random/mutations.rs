//! Small changes of schemas and objects.

use super::Random;
use super::objects::rubbish;
use super::schemas::{NAMES, structural};
use serde_json::{Value, json};

/// Returns a schema with a keyword somewhere that may not fit.
pub(crate) fn mutated_schema(random: &mut Random, schema: &Value) -> Value {
    let mut schema = schema.clone();
    let count = 1 + random.below(2);
    for _ in 0..count {
        let place = schema_within(random, &mut schema);
        let keywords = keywords(random);
        let (name, value) = random.pick(&keywords);
        if value.is_null() {
            place.as_object_mut().expect("a schema").remove(*name);
        } else {
            place[*name] = value.clone();
        }
    }
    schema
}

/// Returns a schema at a random place.
fn schema_within<'a>(random: &mut Random, schema: &'a mut Value) -> &'a mut Value {
    let mut places: Vec<String> = Vec::new();
    for name in ["items", "not", "additionalProperties"] {
        if schema[name].is_object() {
            places.push(format!("/{name}"));
        }
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        let count = schema[name].as_array().map_or(0, Vec::len);
        places.extend((0..count).map(|index| format!("/{name}/{index}")));
    }
    if let Some(properties) = schema["properties"].as_object() {
        places.extend(properties.keys().map(|it| format!("/properties/{it}")));
    }
    // Indexing adds nulls.
    let members = schema.as_object_mut().expect("a schema");
    members.retain(|_, it| !it.is_null());
    if places.is_empty() || random.one_in(3) {
        return schema;
    }
    let place = random.pick(&places).clone();
    schema_within(random, schema.pointer_mut(&place).expect("it is there"))
}

fn keywords(random: &mut Random) -> Vec<(&'static str, Value)> {
    let one = structural(random, 0);
    let mut all = vec![
        ("type", json!(null)),
        ("type", json!("object")),
        ("type", json!("array")),
        ("type", json!("string")),
        ("type", json!("null")),
        ("type", json!("odd")),
        ("nullable", json!(true)),
        ("default", rubbish(random, 2)),
        ("default", rubbish(random, 1)),
        ("items", json!(null)),
        ("items", one.clone()),
        ("items", json!([one])),
        ("items", json!([])),
        ("properties", json!({"a": one})),
        (
            "properties",
            json!({"metadata": {"type": "object", "nullable": true}}),
        ),
        (
            "properties",
            json!({"metadata": {"type": "string"}, "kind": {"type": "object"}}),
        ),
        ("additionalProperties", json!(true)),
        ("additionalProperties", json!(false)),
        ("additionalProperties", one.clone()),
        ("pattern", json!("(")),
        ("pattern", json!("a{1001}")),
        ("uniqueItems", json!(true)),
        ("id", json!("x")),
        ("$schema", json!("x")),
        ("$ref", json!("#/x")),
        ("definitions", json!({"a": one})),
        ("dependencies", json!({"a": ["b"]})),
        ("dependencies", json!({"a": one})),
        ("patternProperties", json!({"a": one})),
        ("additionalItems", json!(true)),
        ("title", json!("t")),
        ("description", json!("d<")),
        ("example", json!({"a": 1})),
        ("externalDocs", json!({"url": "u"})),
        ("not", json!({"type": "string"})),
        ("not", json!({"properties": {"zz": {"minLength": 1}}})),
        (
            "allOf",
            json!([{"items": {"maxLength": 1}}, {"default": 1, "title": "t"}]),
        ),
        ("anyOf", json!([{"type": "integer"}, {"type": "string"}])),
        (
            "oneOf",
            json!([{"properties": {"metadata": {}}, "nullable": true}]),
        ),
    ];
    all.extend(extensions());
    all
}

fn extensions() -> Vec<(&'static str, Value)> {
    vec![
        ("x-kubernetes-preserve-unknown-fields", json!(true)),
        ("x-kubernetes-preserve-unknown-fields", json!(false)),
        ("x-kubernetes-embedded-resource", json!(true)),
        ("x-kubernetes-int-or-string", json!(true)),
        ("x-kubernetes-list-type", json!("set")),
        ("x-kubernetes-list-type", json!("map")),
        ("x-kubernetes-list-type", json!("odd")),
        ("x-kubernetes-list-map-keys", json!(["k"])),
        ("x-kubernetes-list-map-keys", json!(["a", "a"])),
        ("x-kubernetes-map-type", json!("atomic")),
        ("x-kubernetes-map-type", json!("odd")),
        ("maxLength", json!(-1)),
        ("maxItems", json!(-1)),
        ("multipleOf", json!(-1)),
        ("required", json!(["a", "a", "zz"])),
        ("enum", json!([null, 1, "a", 2.5, {"a": [1]}])),
        ("enum", json!([97, 1.0])),
    ]
}

/// Returns an object with a changed value somewhere.
pub(crate) fn mutated_object(random: &mut Random, object: &Value) -> Value {
    let mut object = object.clone();
    let place = value_within(random, &mut object);
    match place {
        Value::Object(members) if !random.one_in(3) => {
            let name = *random.pick(&NAMES);
            if random.one_in(3) {
                members.remove(name);
            } else {
                members.insert(name.to_owned(), rubbish(random, 1));
            }
        }
        Value::Array(items) if !random.one_in(3) => match random.below(3) {
            0 => items.reverse(),
            1 => items.push(rubbish(random, 1)),
            _ => {
                let copy = items.first().cloned();
                items.extend(copy);
            }
        },
        other => *other = rubbish(random, 1),
    }
    if object.is_object() {
        object
    } else {
        json!({})
    }
}

fn value_within<'a>(random: &mut Random, value: &'a mut Value) -> &'a mut Value {
    let count = match value {
        Value::Object(members) => members.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    if count == 0 || random.one_in(3) {
        return value;
    }
    let index = random.below(count);
    match value {
        Value::Object(members) => {
            let member = members.values_mut().nth(index).expect("it is there");
            value_within(random, member)
        }
        Value::Array(items) => value_within(random, &mut items[index]),
        _ => unreachable!("it has values"),
    }
}
