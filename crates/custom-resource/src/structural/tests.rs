//! Each Rust type gives a schema that Kubernetes accepts, and its values pass it.

use super::*;
use crate::{ListType, MapType, Rule};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

fn try_of<T: JsonSchema>() -> Result<Value, SchemaError> {
    let settings = SchemaSettings::draft2020_12().with(|it| it.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    structural(schema.as_value(), "spec").map(Value::Object)
}

fn of<T: JsonSchema>() -> Value {
    try_of::<T>().expect("it has a schema")
}

/// Returns the schema of a field.
fn field<T: JsonSchema>(name: &str) -> Value {
    of::<T>()["properties"][name].clone()
}

#[derive(JsonSchema, Serialize, Deserialize)]
struct Numbers {
    small: u8,
    negative: i16,
    half: u32,
    whole: u64,
    size: usize,
    float: f32,
    #[schemars(range(min = 1, max = 5))]
    bounded: i32,
}

#[test]
fn integers_have_the_formats_of_kubernetes_and_bounds() {
    let of = of::<Numbers>();
    let field = |name: &str| of["properties"][name].clone();
    let small = json!({"type": "integer", "format": "int32", "minimum": 0, "maximum": 255});
    assert_eq!(field("small"), small);
    assert_eq!(field("negative")["format"], "int32");
    let half =
        json!({"type": "integer", "format": "int64", "minimum": 0, "maximum": 4_294_967_295_u32});
    assert_eq!(field("half"), half);
    let whole = json!({"type": "integer", "format": "int64", "minimum": 0});
    assert_eq!((field("whole"), field("size")), (whole.clone(), whole));
    assert_eq!(field("float"), json!({"type": "number", "format": "float"}));
    let bounded = json!({"type": "integer", "format": "int32", "minimum": 1, "maximum": 5});
    assert_eq!(field("bounded"), bounded);
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
enum Unit {
    /// The first.
    First,
    Second,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
struct Options {
    text: Option<String>,
    unit: Option<Unit>,
    part: Option<Small>,
    required: Unit,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
struct Small {
    a: i32,
}

#[test]
fn options_are_nullable_and_not_required_also_of_enums() {
    let of = of::<Options>();
    assert_eq!(of["required"], json!(["required"]));
    let field = |name: &str| of["properties"][name].clone();
    assert_eq!(field("text"), json!({"type": "string", "nullable": true}));
    let unit = json!({"type": "string", "enum": ["Second", "First"]});
    assert_eq!(field("required"), unit);
    let optional =
        json!({"type": "string", "allOf": [{"enum": ["Second", "First"]}], "nullable": true});
    assert_eq!(field("unit"), optional);
    assert_eq!(field("part")["nullable"], true);
    assert_eq!(field("part")["type"], "object");
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "its schema alone is read")]
enum External {
    File { path: String },
    Url(String),
}

#[derive(JsonSchema)]
#[serde(tag = "type")]
#[expect(dead_code, reason = "its schema alone is read")]
enum Internal {
    A { size: i32 },
    B { size: i32, name: String },
    C,
}

#[derive(JsonSchema)]
#[serde(tag = "t", content = "c")]
#[expect(dead_code, reason = "its schema alone is read")]
enum Adjacent {
    Text(String),
    Part(Small),
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "its schema alone is read")]
enum Untagged {
    Short { a: i32 },
    Long { b: String },
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "its schema alone is read")]
enum Port {
    Number(i32),
    Name(String),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
enum Mixed {
    Nothing,
    Something { a: i32 },
}

#[test]
fn variants_with_data_become_properties_and_one_of_them_is_required() {
    let expected = json!({
        "type": "object",
        "properties": {
            "file": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
            "url": {"type": "string"},
        },
        "oneOf": [{"required": ["file"]}, {"required": ["url"]}],
    });
    assert_eq!(of::<External>(), expected);
}

#[test]
fn tags_become_one_enum_and_each_variant_keeps_what_it_requires() {
    let expected = json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["A", "B", "C"]},
            "size": {"type": "integer", "format": "int32"},
            "name": {"type": "string"},
        },
        "required": ["type"],
        "oneOf": [
            {"required": ["size"], "properties": {"type": {"enum": ["A"]}}},
            {"required": ["size", "name"], "properties": {"type": {"enum": ["B"]}}},
            {"properties": {"type": {"enum": ["C"]}}},
        ],
    });
    assert_eq!(sorted(of::<Internal>()), sorted(expected));
    let adjacent = of::<Adjacent>();
    assert_eq!(adjacent["properties"]["c"], json!({PRESERVE: true}));
    assert_eq!(adjacent["properties"]["t"]["enum"], json!(["Text", "Part"]));
}

/// Sorts the lists of names.
fn sorted(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            for (name, part) in map.iter_mut() {
                *part = sorted(part.take());
                if let ("required", Value::Array(names)) = (&**name, part) {
                    names.sort_by_key(ToString::to_string);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|it| *it = sorted(it.take())),
        _ => {}
    }
    value
}

#[test]
fn untagged_variants_are_any_of_and_values_of_several_types_are_not_checked() {
    let untagged = of::<Untagged>();
    assert_eq!(
        untagged["anyOf"],
        json!([{"required": ["a"]}, {"required": ["b"]}])
    );
    assert_eq!(of::<Port>(), json!({INT_OR_STRING: true}));
    assert_eq!(of::<Mixed>(), json!({PRESERVE: true}));
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
struct Flat {
    own: String,
    #[serde(flatten)]
    part: Small,
    #[serde(flatten)]
    choice: External,
    #[serde(flatten)]
    again: Internal,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
struct Rest {
    own: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[test]
fn flattened_parts_enums_and_maps_are_members_of_the_object() {
    let flat = of::<Flat>();
    let names: BTreeSet<_> = flat["properties"]
        .as_object()
        .expect("it has some")
        .keys()
        .collect();
    let expected = ["own", "a", "file", "url", "type", "size", "name"].map(String::from);
    assert_eq!(names, expected.iter().collect());
    let text = flat.to_string();
    assert_eq!(text.matches("\"oneOf\"").count(), 2, "{text}");
    let rest = of::<Rest>();
    assert_eq!(rest[PRESERVE], true);
    assert!(rest.get("additionalProperties").is_none());
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
struct Collections {
    any: Value,
    map: BTreeMap<String, Small>,
    numbered: BTreeMap<u32, String>,
    open: BTreeMap<String, Value>,
    list: Vec<Value>,
    set: BTreeSet<String>,
    objects: BTreeSet<Pair>,
    pair: (i32, String),
    empty: Empty,
    #[schemars(length(min = 1, max = 3), regex(pattern = "^a"))]
    text: String,
}

#[derive(JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    a: i32,
}

#[derive(JsonSchema)]
struct Empty {}

#[test]
fn collections_and_free_values_keep_what_they_hold() {
    let of = of::<Collections>();
    let field = |name: &str| of["properties"][name].clone();
    assert_eq!(field("any"), json!({PRESERVE: true}));
    assert_eq!(field("map")["additionalProperties"]["type"], "object");
    let numbered = json!({"type": "object", "additionalProperties": {"type": "string"}});
    assert_eq!(field("numbered"), numbered);
    assert_eq!(field("open"), json!({"type": "object", PRESERVE: true}));
    assert_eq!(
        field("list"),
        json!({"type": "array", "items": {PRESERVE: true}})
    );
    assert_eq!(field("set")["x-kubernetes-list-type"], "set");
    assert!(field("objects").get("x-kubernetes-list-type").is_none());
    assert!(field("objects").get("uniqueItems").is_none());
    assert_eq!(field("pair")["items"], json!({INT_OR_STRING: true}));
    assert_eq!(field("pair")["maxItems"], 2);
    assert_eq!(field("empty"), json!({"type": "object"}));
    let text = json!({"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^a"});
    assert_eq!(field("text"), text);
}

#[derive(JsonSchema)]
#[schemars(transform = Rule::new("self.a > 0").message("a").reason("FieldValueRequired"))]
#[expect(dead_code, reason = "its schema alone is read")]
struct Marked {
    a: i32,
    #[serde(default = "five")]
    b: i32,
    #[schemars(transform = ListType::atomic())]
    list: Vec<String>,
    #[schemars(transform = MapType::Atomic)]
    map: BTreeMap<String, String>,
    #[schemars(extend("x-kubernetes-embedded-resource" = true))]
    object: Value,
}

fn five() -> i32 {
    5
}

#[test]
fn markers_defaults_and_extensions_are_kept() {
    let of = of::<Marked>();
    let rule = json!([{"rule": "self.a > 0", "message": "a", "reason": "FieldValueRequired"}]);
    assert_eq!(of["x-kubernetes-validations"], rule);
    assert_eq!(of["properties"]["b"]["default"], 5);
    assert_eq!(of["properties"]["list"]["x-kubernetes-list-type"], "atomic");
    assert_eq!(of["properties"]["map"]["x-kubernetes-map-type"], "atomic");
    assert_eq!(
        field::<Marked>("object")["x-kubernetes-embedded-resource"],
        true
    );
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
#[expect(clippy::use_self, reason = "the derive needs the name")]
struct Tree {
    children: Vec<Tree>,
}

#[test]
fn a_recursive_type_is_refused_with_its_path_and_a_way_out() {
    let error = try_of::<Tree>().expect_err("it contains itself");
    let text = error.to_string();
    assert!(
        text.starts_with("spec.children[]: the type Tree contains itself"),
        "{text}"
    );
    assert!(text.contains("schema_with"), "{text}");
}

#[test]
fn a_schema_that_is_too_deep_or_accepts_nothing_is_refused() {
    let mut deep = json!({"type": "string"});
    for _ in 0..80 {
        deep = json!({"type": "array", "items": deep});
    }
    assert!(matches!(
        structural(&deep, "spec"),
        Err(SchemaError::TooDeep { .. })
    ));
    let never = json!({"type": "object", "properties": {"a": false}});
    let error = structural(&never, "spec").expect_err("nothing is valid");
    assert_eq!(
        error,
        SchemaError::NeverValid {
            path: "spec.a".to_owned()
        }
    );
}
