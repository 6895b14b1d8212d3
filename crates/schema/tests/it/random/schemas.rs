//! Random structural schemas.

use super::Random;
use super::objects::value;
use super::rules::{add_rules, root_rules};
use serde_json::{Map, Value, json};

pub(super) const NAMES: [&str; 7] = ["a", "b", "c", "d", "e<", "name", "spec"];
pub(super) const FORMATS: [&str; 32] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8s-long-name",
    "k8s-short-name",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "int32",
    "int64",
    "float",
    "double",
    "unknown",
];
pub(super) const PATTERNS: [&str; 14] = [
    "^a",
    "^[a-z]+$",
    r"\d",
    r"^\w{2,3}$",
    "(?i)^ABC$",
    r"^\p{L}+$",
    "^(a|b)*$",
    r"\bfoo\b",
    "^[^x]*$",
    r"^.$",
    "[[:digit:]]",
    r"\.",
    "^a{2}$",
    "",
];
pub(super) const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "1.5",
    "2.0",
    "0.1",
    "1e6",
    "3e9",
    "-3e9",
    "1e21",
    "1e-7",
    "9007199254740993",
];

pub(super) fn number(random: &mut Random) -> Value {
    let text = *random.pick(&NUMBERS);
    serde_json::from_str(text).expect("a number")
}

/// Returns a schema of whole objects.
pub(crate) fn root_schema(random: &mut Random) -> Value {
    let mut root = object(random, 3, true);
    if random.one_in(4) {
        let mut metadata = json!({"type": "object"});
        if random.one_in(2) {
            metadata["properties"] = json!({"name": {"type": "string", "maxLength": 3}});
        }
        root["properties"]["metadata"] = metadata;
    }
    if random.one_in(4) {
        root["properties"]["kind"] = json!({"type": "string", "enum": ["Fig", "Date"]});
    }
    if random.one_in(4) {
        root["x-kubernetes-validations"] = root_rules(random);
    }
    root
}

/// Returns a structural schema of a value.
pub(super) fn structural(random: &mut Random, depth: usize) -> Value {
    let mut schema = match random.below(if depth == 0 { 5 } else { 10 }) {
        0 | 1 => text(random),
        2 => numeric(random, "integer"),
        3 => numeric(random, "number"),
        4 if random.one_in(3) => json!({"x-kubernetes-int-or-string": true}),
        4 => json!({"type": "boolean"}),
        5 | 6 => list(random, depth),
        7 => map(random, depth),
        8 if random.one_in(3) => embedded(random),
        _ => object(random, depth, false),
    };
    junctors(random, &mut schema);
    if random.one_in(6) {
        schema["nullable"] = true.into();
    }
    if random.one_in(8) {
        schema["enum"] = (0..=random.below(3))
            .map(|_| value(random, &schema))
            .collect();
    }
    if random.one_in(30) {
        schema["description"] = "text".into();
    }
    add_rules(random, &mut schema);
    if schema.get("default").is_none() && random.one_in(4) {
        let default = value(random, &schema);
        if !default.is_null() || random.one_in(8) {
            schema["default"] = default;
        }
    }
    if schema.get("x-kubernetes-int-or-string").is_some() && random.one_in(3) {
        let both = json!([{"type": "integer"}, {"type": "string"}]);
        if random.one_in(2) {
            schema["anyOf"] = both;
        } else {
            schema["allOf"] = json!([{"anyOf": both}, {"pattern": "^1"}]);
        }
    }
    if random.one_in(12) {
        schema["format"] = (*random.pick(&FORMATS)).into();
    }
    schema
}

fn text(random: &mut Random) -> Value {
    let mut schema = json!({"type": "string"});
    text_rules(random, &mut schema);
    schema
}

fn text_rules(random: &mut Random, schema: &mut Value) {
    if random.one_in(3) {
        schema["format"] = (*random.pick(&FORMATS)).into();
    }
    if random.one_in(5) {
        schema["minLength"] = random.below(4).into();
    }
    if random.one_in(5) {
        schema["maxLength"] = random.below(5).into();
    }
    if random.one_in(4) {
        schema["pattern"] = (*random.pick(&PATTERNS)).into();
    }
}

fn numeric(random: &mut Random, kind: &str) -> Value {
    let mut schema = json!({"type": kind});
    number_rules(random, &mut schema);
    if random.one_in(3) {
        schema["format"] = (*random.pick(&["int32", "int64", "float", "double", "date"])).into();
    }
    schema
}

fn number_rules(random: &mut Random, schema: &mut Value) {
    for (bound, exclusive) in [
        ("maximum", "exclusiveMaximum"),
        ("minimum", "exclusiveMinimum"),
    ] {
        if random.one_in(4) {
            schema[bound] = number(random);
        }
        if random.one_in(6) {
            schema[exclusive] = true.into();
        }
    }
    if random.one_in(4) {
        schema["multipleOf"] = number(random);
    }
}

fn list(random: &mut Random, depth: usize) -> Value {
    let mut schema = json!({"type": "array"});
    match random.below(5) {
        0 => {
            schema["x-kubernetes-list-type"] = "set".into();
            let mut items = structural(random, 0);
            if let Some(items) = items.as_object_mut() {
                items.remove("nullable");
            }
            schema["items"] = items;
        }
        1 | 2 => keyed_list(random, depth, &mut schema),
        3 => {
            schema["x-kubernetes-list-type"] = "atomic".into();
            schema["items"] = structural(random, depth - 1);
        }
        _ => schema["items"] = structural(random, depth - 1),
    }
    list_rules(random, &mut schema);
    schema
}

fn keyed_list(random: &mut Random, depth: usize, schema: &mut Value) {
    schema["x-kubernetes-list-type"] = "map".into();
    let mut items = object(random, depth - 1, false);
    let keys: &[&str] = if random.one_in(3) {
        &["k", "l"]
    } else {
        &["k"]
    };
    schema["x-kubernetes-list-map-keys"] = json!(keys);
    let mut required = Vec::new();
    for key in keys {
        let mut property = match random.below(3) {
            0 => json!({"type": "integer"}),
            1 => json!({"type": "number"}),
            _ => json!({"type": "string"}),
        };
        if random.one_in(2) {
            required.push(*key);
        } else {
            property["default"] = value(random, &property);
        }
        items["properties"][*key] = property;
    }
    if !required.is_empty() {
        items["required"] = json!(required);
    }
    if let Some(items) = items.as_object_mut() {
        items.remove("nullable");
        items.remove("additionalProperties");
    }
    schema["items"] = items;
}

fn list_rules(random: &mut Random, schema: &mut Value) {
    if random.one_in(5) {
        schema["minItems"] = random.below(3).into();
    }
    if random.one_in(5) {
        schema["maxItems"] = random.below(3).into();
    }
}

fn map(random: &mut Random, depth: usize) -> Value {
    let additional = if random.one_in(5) {
        random.one_in(2).into()
    } else {
        let mut schema = structural(random, depth - 1);
        if random.one_in(2) {
            schema.as_object_mut().expect("a schema").remove("default");
        }
        schema
    };
    let mut schema = json!({"type": "object", "additionalProperties": additional});
    map_rules(random, &mut schema);
    schema
}

fn map_rules(random: &mut Random, schema: &mut Value) {
    if random.one_in(6) {
        schema["minProperties"] = random.below(3).into();
    }
    if random.one_in(6) {
        schema["maxProperties"] = random.below(4).into();
    }
}

fn object(random: &mut Random, depth: usize, is_root: bool) -> Value {
    let mut properties = Map::new();
    for name in NAMES {
        if random.one_in(2) {
            let property = structural(random, depth.saturating_sub(1));
            properties.insert(name.to_owned(), property);
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if random.one_in(4) {
        let required: Vec<&str> = NAMES.into_iter().filter(|_| random.one_in(4)).collect();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
    }
    if random.one_in(6) {
        schema["x-kubernetes-preserve-unknown-fields"] = true.into();
    }
    if random.one_in(8) {
        let kind = *random.pick(&["atomic", "granular"]);
        schema["x-kubernetes-map-type"] = kind.into();
    }
    map_rules(random, &mut schema);
    if is_root {
        junctors(random, &mut schema);
    }
    schema
}

fn embedded(random: &mut Random) -> Value {
    let mut schema = json!({
        "type": "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
    });
    if random.one_in(2) {
        schema["properties"] = json!({
            "a": structural(random, 0),
            "metadata": {"type": "object", "properties": {
                "name": {"type": "string", "maxLength": 4},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            }},
        });
        if random.one_in(2) {
            schema
                .as_object_mut()
                .expect("a schema")
                .remove("x-kubernetes-preserve-unknown-fields");
        }
        if random.one_in(4) {
            let default = *random.pick(&["x", "a/b", ""]);
            schema["properties"]["metadata"]["properties"]["name"]["default"] = default.into();
        }
    }
    schema
}

/// Adds junctors that restrict the values of a schema.
fn junctors(random: &mut Random, schema: &mut Value) {
    for name in ["allOf", "anyOf", "oneOf"] {
        if random.one_in(9) {
            let count = 1 + random.below(3);
            let all: Value = (0..count).map(|_| nested(random, schema)).collect();
            schema[name] = all;
        }
    }
    if random.one_in(14) {
        schema["not"] = nested(random, schema);
    }
}

/// Returns value rules for a schema, without structure.
fn nested(random: &mut Random, of: &Value) -> Value {
    let mut schema = json!({});
    match of["type"].as_str() {
        Some("string") => text_rules(random, &mut schema),
        Some("integer" | "number") => number_rules(random, &mut schema),
        Some("array") => {
            list_rules(random, &mut schema);
            if random.one_in(2) {
                schema["items"] = nested(random, &of["items"]);
            }
        }
        Some("object") => {
            map_rules(random, &mut schema);
            if random.one_in(2) {
                schema["required"] = json!([random.pick(&NAMES)]);
            }
            let properties = of["properties"].as_object().into_iter().flatten();
            for (name, property) in properties {
                if name != "metadata" && random.one_in(3) {
                    schema["properties"][name] = nested(random, property);
                }
            }
        }
        _ => {}
    }
    if random.one_in(6) {
        schema["enum"] = json!([value(random, of)]);
    }
    if random.one_in(10) {
        schema["not"] = nested(random, of);
    }
    if random.one_in(10) {
        schema["anyOf"] = json!([nested(random, of), nested(random, of)]);
    }
    schema
}
