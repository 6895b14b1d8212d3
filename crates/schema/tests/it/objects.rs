//! Pruning, defaulting, nulls, and the metadata of embedded resources.

use crate::support::{object, schema, texts};
use kubist_apimachinery::FieldPath;
use kubist_schema::{
    Malformed, UnknownFields, apply_defaults, coerce_metadata, prune, remove_nulls,
    validate_embedded,
};
use serde_json::{Value, json};

#[track_caller]
fn pruned(of: &Value, value: &Value) -> (Value, Vec<String>) {
    let mut members = object(value);
    let mut unknown = UnknownFields::new();
    prune(&mut members, Some(&schema(of)), Some(&mut unknown));
    (members.into(), unknown.into_messages())
}

#[test]
fn fields_that_the_schema_does_not_specify_are_removed_and_reported() {
    let of = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "a": {"type": "string"},
        "l": {"type": "array", "items": {"type": "object", "properties": {"x": {}}}},
        "m": {"type": "object", "additionalProperties": {"type": "object"}},
        "any": {"type": "object", "additionalProperties": true},
    }}}});
    let value = json!({
        "apiVersion": "v1", "kind": "K", "metadata": {"odd": 1}, "other": 1,
        "spec": {"a": "1", "b": 2, "l": [{"x": 1, "y": 2}], "m": {"k": {"z": 1}},
            "any": {"k": {"z": 1}}},
    });
    let expected = json!({
        "apiVersion": "v1", "kind": "K", "metadata": {"odd": 1},
        "spec": {"a": "1", "l": [{"x": 1}], "m": {"k": {}}, "any": {"k": {}}},
    });
    let (found, unknown) = pruned(&of, &value);
    assert_eq!(found, expected);
    assert_eq!(
        unknown,
        [
            r#"unknown field "other""#,
            r#"unknown field "spec.any.k.z""#,
            r#"unknown field "spec.b""#,
            r#"unknown field "spec.l[0].y""#,
            r#"unknown field "spec.m.k.z""#,
        ]
    );
}

#[test]
fn preserved_fields_stay_and_what_is_specified_below_is_pruned() {
    let of = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"p": {"type": "object", "properties": {"a": {}}}}});
    let value = json!({"free": {"x": [{}]}, "p": {"a": 1, "b": 2}});
    let (found, unknown) = pruned(&of, &value);
    assert_eq!(found, json!({"free": {"x": [{}]}, "p": {"a": 1}}));
    assert_eq!(unknown, [r#"unknown field "p.b""#]);
}

#[test]
fn metadata_is_pruned_only_where_it_is_not_that_of_a_resource() {
    let of = json!({"type": "object", "properties": {
        "plain": {"type": "object"},
        "whole": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"a": {}}},
    }});
    let value = json!({
        "plain": {"kind": "K", "metadata": {}},
        "whole": {"kind": "K", "metadata": {"odd": 1}, "b": 1},
    });
    let (found, _) = pruned(&of, &value);
    assert_eq!(
        found,
        json!({"plain": {}, "whole": {"kind": "K", "metadata": {"odd": 1}}})
    );
}

#[test]
fn without_a_schema_only_metadata_stays() {
    let mut members = object(&json!({"kind": "K", "spec": {}, "metadata": {}}));
    prune(&mut members, None, None);
    assert_eq!(Value::Object(members), json!({"kind": "K", "metadata": {}}));
}

#[test]
fn the_paths_of_unknown_fields_are_limited_in_size() {
    let name = "n".repeat(1 << 18);
    let members: Vec<String> = (0..1_000).map(|it| format!("\"u{it}\":1")).collect();
    let text = format!("{{\"{name}\":{{{}}}}}", members.join(","));
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let of = json!({"type": "object", "properties": {(name.as_str()): {"type": "object"}}});
    let mut members = object(&value);
    let mut unknown = UnknownFields::new();
    prune(&mut members, Some(&schema(&of)), Some(&mut unknown));
    assert!((1..5).contains(&unknown.into_paths().len()));
}

#[track_caller]
fn defaulted(of: &Value, value: &Value) -> Value {
    let (mut members, schema) = (object(value), schema(of));
    remove_nulls(&mut members, &schema);
    apply_defaults(&mut members, &schema);
    members.into()
}

#[test]
fn absent_fields_have_their_defaults() {
    let of = json!({"type": "object", "properties": {
        "a": {"type": "string", "default": "x"},
        "o": {"type": "object", "default": {"p": 1}, "properties": {
            "p": {"type": "integer"}, "q": {"type": "integer", "default": 2}}},
        "l": {"type": "array", "items": {"type": "object", "properties": {
            "n": {"type": "string", "default": "y"}}}},
        "m": {"type": "object", "additionalProperties": {"type": "object", "properties": {
            "n": {"type": "string", "default": "z"}}}},
    }});
    assert_eq!(
        defaulted(&of, &json!({"l": [{}, {"n": "k"}], "m": {"k": {}}})),
        json!({"a": "x", "o": {"p": 1, "q": 2}, "l": [{"n": "y"}, {"n": "k"}],
            "m": {"k": {"n": "z"}}})
    );
}

#[test]
fn nulls_become_defaults_or_are_removed_unless_null_is_valid() {
    let of = json!({"type": "object", "properties": {
        "a": {"type": "string", "default": "x"},
        "b": {"type": "string"},
        "c": {"type": "string", "nullable": true, "default": "x"},
        "l": {"type": "array", "items": {"type": "string"}},
    }});
    let value = json!({"a": null, "b": null, "c": null, "l": [null], "free": null});
    assert_eq!(
        defaulted(&of, &value),
        json!({"a": "x", "c": null, "l": [null], "free": null})
    );
}

fn embedded() -> Value {
    json!({"type": "object", "properties": {"t": {"type": "object",
        "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}})
}

#[test]
fn embedded_metadata_keeps_what_an_object_has() {
    let schema = schema(&embedded());
    let value = json!({"t": {"kind": "K", "metadata": {
        "name": "n", "labels": {}, "creationTimestamp": null, "odd": 1}}});
    let mut members = object(&value);
    let mut unknown = UnknownFields::new();
    let result = coerce_metadata(&mut members, &schema, Malformed::Refuse, Some(&mut unknown));
    assert_eq!(result, Ok(()));
    assert_eq!(
        Value::Object(members),
        json!({"t": {"kind": "K", "metadata": {"name": "n"}}})
    );
    assert_eq!(unknown.into_paths(), ["t.metadata.odd"]);
}

#[test]
fn malformed_embedded_metadata_is_refused_or_dropped() {
    let schema = schema(&embedded());
    let value = json!({"t": {"kind": 1, "metadata": {"name": 1, "uid": "u"}}});
    let mut members = object(&value);
    let error = coerce_metadata(&mut members, &schema, Malformed::Refuse, None);
    let error = error.expect_err("the kind is a number").to_string();
    assert_eq!(error, "t.kind: Invalid value: 1: must be a string");
    let mut members = object(&json!({"t": {"metadata": {"name": 1}}}));
    let error = coerce_metadata(&mut members, &schema, Malformed::Refuse, None);
    let error = error.expect_err("the name is a number").to_string();
    assert_eq!(
        error,
        "t.metadata: Invalid value: {\"name\":1}: json: cannot unmarshal number into Go struct \
         field ObjectMeta.name of type string"
    );
    let mut members = object(&value);
    let result = coerce_metadata(&mut members, &schema, Malformed::Drop, None);
    assert_eq!(result, Ok(()));
    assert_eq!(
        Value::Object(members),
        json!({"t": {"metadata": {"uid": "u"}}})
    );
}

#[test]
fn embedded_resources_have_a_type_and_valid_metadata() {
    let value = object(&json!({"t": {"apiVersion": "a/b/c", "metadata": {"name": "a/b"}}}));
    let errors = validate_embedded(&value, &schema(&embedded()), &FieldPath::ROOT);
    assert_eq!(
        texts(&errors),
        [
            "t.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
            "t.kind: Required value",
            "t.metadata.name: Invalid value: \"a/b\": may not contain '/'",
        ]
    );
}
