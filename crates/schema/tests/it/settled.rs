//! Objects that a read leaves alone, found out from their text.

use crate::support::schema;
use kubist_schema::{
    Malformed, Schema, apply_defaults, coerce_metadata, is_settled, prune, remove_nulls,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn example() -> Arc<Schema> {
    schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer", "default": 3},
            "name": {"type": "string"},
            "maybe": {"type": "string", "nullable": true},
            "usual": {"type": "string", "nullable": true, "default": "a"},
            "list": {"type": "array", "items": {"type": "object", "properties": {
                "protocol": {"type": "string", "default": "TCP"},
            }}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "any": {"type": "object", "additionalProperties": true},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"port": {"type": "integer", "default": 80}}},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
        }},
    }}))
}

/// Reports whether the steps of a read leave an object as it is.
fn is_unchanged(object: &Value, schema: &Schema) -> bool {
    let mut read = object.as_object().expect("an object").clone();
    prune(&mut read, Some(schema), None);
    remove_nulls(&mut read, schema);
    coerce_metadata(&mut read, schema, Malformed::Drop, None).expect("it drops them");
    apply_defaults(&mut read, schema);
    Value::Object(read) == *object
}

fn object(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Example", "metadata": {"name": "a"}, "spec": spec})
}

#[test]
fn objects_that_a_read_leaves_alone_are_settled() {
    let schema = example();
    for spec in [
        json!({"size": 1, "usual": "b"}),
        json!({"size": 1, "usual": null, "maybe": null, "name": "\u{e9}<"}),
        json!({"size": 1, "usual": "b", "list": [{"protocol": "UDP"}], "labels": {"a": "b"}}),
        json!({"size": 1, "usual": "b", "free": {"any": {"z": [null, {"a": 1}]}, "port": 1}}),
    ] {
        let object = object(&spec);
        assert!(is_unchanged(&object, &schema), "{spec}");
        assert!(
            is_settled(object.to_string().as_bytes(), &schema, false),
            "{spec}"
        );
    }
}

#[test]
fn objects_that_a_read_changes_are_not_settled() {
    let schema = example();
    for spec in [
        json!({"usual": "b"}),
        json!({"size": 1}),
        json!({"size": 1, "usual": "b", "unknown": 1}),
        json!({"size": 1, "usual": "b", "name": null}),
        json!({"size": null, "usual": "b"}),
        json!({"size": 1, "usual": "b", "list": [{}]}),
        json!({"size": 1, "usual": "b", "list": [{"protocol": "UDP", "zone": 1}]}),
        json!({"size": 1, "usual": "b", "any": {"a": {"b": 1}}}),
        json!({"size": 1, "usual": "b", "free": {"other": 1}}),
        json!({"size": 1, "usual": "b", "labels": {"a": null}}),
    ] {
        let object = object(&spec);
        assert!(!is_unchanged(&object, &schema), "{spec}");
        assert!(
            !is_settled(object.to_string().as_bytes(), &schema, false),
            "{spec}"
        );
    }
}

#[test]
fn what_is_rare_is_not_settled() {
    let schema = example();
    let deep = format!("{}1{}", r#"{"a":"#.repeat(100), "}".repeat(100));
    for text in [
        r#"{"spec":{"size":1,"size":2,"usual":"b"}}"#.to_owned(),
        r#"{"spec":{"usual":"b","size":1}}"#.to_owned(),
        r#"{"spec":{"size":1,"template":{"metadata":{}},"usual":"b"}}"#.to_owned(),
        r#"{"spec":{"size":1,"usual":"b"}} 1"#.to_owned(),
        format!(r#"{{"spec":{{"free":{deep},"size":1,"usual":"b"}}}}"#),
    ] {
        assert!(!is_settled(text.as_bytes(), &schema, false), "{text}");
    }
    let unknown = r#"{"spec":{"size":1,"unknown":{"a":1},"usual":"b"}}"#;
    assert!(is_settled(unknown.as_bytes(), &schema, true));
}
