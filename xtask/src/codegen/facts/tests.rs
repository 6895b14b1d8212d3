//! The facts of a small schema as text.

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

fn facts_alone(rust: &str, field: Value) -> String {
    beside(None, rust, field)
}

fn beside(sentence: Option<&str>, rust: &str, field: Value) -> String {
    let message = json!({"go": "k8s.io/a.A", "union": field["union"] == true, "fields": [
        {"json": "type", "type": "string", "discriminator": true},
    ]});
    let message: Message = serde_json::from_value(message).expect("it is a message");
    let field: Field = serde_json::from_value(field).expect("it is a field");
    of_field(&schema(), &message, &field, rust, sentence)
}

#[test]
fn a_field_has_its_json_name_unit_type_and_default() {
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
            "One of the alternatives. In JSON, the type is this value itself.",
        ),
    ] {
        assert_eq!(facts_alone(rust, field), expected);
    }
}

#[test]
fn a_closed_set_is_listed_whole_and_an_open_one_by_examples() {
    for (field, expected) in [
        (
            json!({"json": "p", "type": "string", "named": "io.a.Closed", "default": "A"}),
            "Optional. One of `A`, `\"\"`; default `A`.",
        ),
        (
            json!({"json": "p", "type": "[]string", "named": "io.a.Closed"}),
            "Optional. Each item is one of `A`, `\"\"`.",
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
        assert_eq!(facts_alone("p", field), expected);
    }
}

#[test]
fn lists_have_their_merge_rules_and_union_members_their_discriminator() {
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
            "Optional. Union member, selected by `type`.",
        ),
    ] {
        assert_eq!(facts_alone("p", field), expected);
    }
}

#[test]
fn facts_that_the_sentence_states_are_left_out() {
    let protocol = json!({"json": "p", "type": "string", "named": "io.a.Closed", "default": "A"});
    let sentence = Some("Either `A` or `\"\"`.");
    let text = beside(sentence, "p", protocol.clone());
    assert_eq!(text, "Optional; default `A`.");
    let text = beside(Some("Such as `A`."), "p", protocol);
    assert_eq!(text, "Optional. One of `A`, `\"\"`; default `A`.");
    let limit = json!({"json": "limitSeconds", "type": "*int64"});
    let text = beside(Some("Seconds until it ends."), "limit_seconds", limit);
    assert_eq!(text, "Optional.");
}
