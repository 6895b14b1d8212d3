//! The keywords, and upstream's words for what violates them.

use crate::support::{object, schema, texts, validate};
use kubist_apimachinery::FieldPath;
use kubist_schema::{Steps, validate_list_types};
use serde_json::{Value, json};

/// Validates `{"v": value}` by the schema of `v`.
#[track_caller]
fn check(of: Value, value: Value, expected: &[&str]) {
    let schema = schema(&json!({"type": "object", "properties": {"v": of}}));
    assert_eq!(
        validate(&json!({"v": value}), &schema),
        expected,
        "{of} {value}"
    );
}

#[test]
fn types_are_checked() {
    check(
        json!({"type": "string"}),
        json!(1),
        &[r#"v: Invalid value: "integer": v in body must be of type string: "integer""#],
    );
    check(
        json!({"type": "integer"}),
        json!(null),
        &[r#"v: Invalid value: "null": v in body must be of type integer: "null""#],
    );
    check(
        json!({"type": "integer", "nullable": true}),
        json!(null),
        &[],
    );
    check(json!({"type": "integer"}), json!(1.0), &[]);
    check(json!({"type": "number"}), json!(1), &[]);
    check(
        json!({"x-kubernetes-int-or-string": true}),
        json!(true),
        &[r#"v: Invalid value: "boolean": v in body must be of type integer,string: "boolean""#],
    );
}

#[test]
fn texts_are_checked() {
    check(
        json!({"type": "string", "maxLength": 1}),
        json!("aé"),
        &["v: Too long: may not be more than 1 byte"],
    );
    check(
        json!({"type": "string", "minLength": 2, "pattern": "^b"}),
        json!("a"),
        &[r#"v: Invalid value: "a": v in body should be at least 2 chars long"#],
    );
    check(
        json!({"type": "string", "pattern": "^b"}),
        json!("a"),
        &[r#"v: Invalid value: "a": v in body should match '^b'"#],
    );
    check(
        json!({"type": "string", "format": "date"}),
        json!("a"),
        &[r#"v: Invalid value: "a": v in body must be of type date: "a""#],
    );
    check(
        json!({"type": "string", "format": "no-such"}),
        json!("a"),
        &[],
    );
}

#[test]
fn numbers_are_checked() {
    check(
        json!({"type": "integer", "format": "int32"}),
        json!(3_000_000_000_u64),
        &[
            "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in v",
        ],
    );
    check(
        json!({"type": "number", "maximum": 2.5, "exclusiveMaximum": true, "multipleOf": 2}),
        json!(3.5),
        &[
            "v: Invalid value: 3.5: v in body should be a multiple of 2",
            "v: Invalid value: 3.5: v in body should be less than 2.5",
        ],
    );
    check(
        json!({"type": "integer", "minimum": 2}),
        json!(1),
        &["v: Invalid value: 1: v in body should be greater than or equal to 2"],
    );
}

#[test]
fn lists_and_objects_are_checked() {
    check(
        json!({"type": "array", "maxItems": 1, "items": {"type": "boolean"}}),
        json!([true, 1]),
        &[
            r#"v[1]: Invalid value: "integer": v[1] in body must be of type boolean: "integer""#,
            "v: Too many: 2: must have at most 1 item",
        ],
    );
    check(
        json!({"type": "object", "minProperties": 2, "required": ["a"], "additionalProperties": false}),
        json!({"b": 1}),
        &[
            "v: Invalid value: 1: v in body should have at least 2 properties",
            r#"v: Invalid value: "b": v.b in body is a forbidden property"#,
            "v.a: Required value",
        ],
    );
}

#[test]
fn enumerated_values_are_shown() {
    check(
        json!({"type": "string", "enum": ["a", "b"]}),
        json!("c"),
        &[r#"v: Unsupported value: "c": supported values: "a", "b""#],
    );
    check(json!({"type": "number", "enum": [1]}), json!(1.5), &[]);
    check(
        json!({"type": "object", "enum": [{"a": 1}]}),
        json!({"a": 2}),
        &[r#"v: Unsupported value: {"a":2}: supported values: "{\"a\":1}""#],
    );
}

#[test]
fn the_best_alternative_is_reported() {
    check(
        json!({"type": "string", "anyOf": [{"maxLength": 1}, {"pattern": "^b"}]}),
        json!("aa"),
        &[
            r#"<nil>: Invalid value: "": "v" must validate at least one schema (anyOf)"#,
            "v: Too long: may not be more than 1 byte",
        ],
    );
    check(
        json!({"type": "string", "oneOf": [{"maxLength": 3}, {"pattern": "^a"}]}),
        json!("aa"),
        &[
            "<nil>: Invalid value: \"\": \"v\" must validate one and only one schema (oneOf). \
             Found 2 valid alternatives",
        ],
    );
    check(
        json!({"type": "string", "allOf": [{"maxLength": 1}], "not": {"pattern": "a"}}),
        json!("aa"),
        &[
            "v: Too long: may not be more than 1 byte",
            "<nil>: Invalid value: \"\": \"v\" must validate all the schemas (allOf). None validated",
            r#"<nil>: Invalid value: "": "v" must not validate the schema (not)"#,
        ],
    );
}

#[test]
fn items_of_sets_and_keys_of_maps_are_unique() {
    let schema = schema(&json!({"type": "object", "properties": {
        "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
        "m": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["a", "b"], "items": {"type": "object"}},
        "k": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["a"], "items": {"type": "object"}},
    }}));
    let value = object(&json!({
        "s": [1, 2, 1, 1],
        "m": [{"a": 1, "c": 1}, {"a": 1}, {"a": 1, "b": 2}],
        "k": [{}, {"b": 1}, {"a": 1}, {"a": 1.0}],
    }));
    let errors = validate_list_types(&value, &schema, &FieldPath::ROOT);
    assert_eq!(
        texts(&errors),
        [
            "k[1]: Duplicate value: {}",
            r#"m[1]: Duplicate value: {"a":1}"#,
            "s[2]: Duplicate value: 1",
        ]
    );
}

#[test]
fn a_validation_that_takes_too_long_ends() {
    let mut of = json!({"type": "object"});
    for _ in 0..8 {
        of = json!({"type": "object", "properties": {"a": of.clone()}, "anyOf": [of.clone(), of]});
    }
    let mut value = json!({});
    for _ in 0..8 {
        value = json!({"a": value});
    }
    let mut steps = Steps::new(100);
    let schema = schema(&of);
    let errors = kubist_schema::validate(&value, &schema, &FieldPath::ROOT, &mut steps);
    assert_eq!(
        texts(&errors),
        ["<nil>: Forbidden: validation takes more than 100 steps"]
    );
}

#[test]
fn errors_are_limited_in_size() {
    let schema = schema(
        &json!({"type": "object", "additionalProperties": {"type": "object",
        "additionalProperties": {"type": "string"}}}),
    );
    let inner: Vec<String> = (0..20_000).map(|it| format!("\"k{it}\":1")).collect();
    let name = "n".repeat(1 << 18);
    let text = format!("{{\"{name}\":{{{}}}}}", inner.join(","));
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert!((1..5).contains(&validate(&value, &schema).len()));
}
