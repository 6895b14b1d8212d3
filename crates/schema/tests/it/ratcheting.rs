//! Updates of objects that were invalid before: what does not change passes.

use crate::support::{schema, validate_update};
use serde_json::{Value, json};

fn of() -> Value {
    let short = json!({"type": "string", "maxLength": 1});
    json!({"type": "object", "properties": {
        "a": short, "b": short,
        "o": {"type": "object", "properties": {"x": short, "y": short}, "required": ["z"]},
        "m": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "properties": {
                "k": {"type": "string"}, "x": short, "y": {"type": "integer"}}}},
        "l": {"type": "array", "items": short},
        "d": {"type": "object", "additionalProperties": short},
        "kind": {"type": "string", "enum": ["K"]},
        "j": {"type": "string", "allOf": [{"maxLength": 1}]},
    }})
}

#[track_caller]
fn check(old: Value, new: Value, expected: &[&str]) {
    assert_eq!(validate_update(&new, &old, &schema(&of())), expected);
}

const A: &str = "a: Too long: may not be more than 1 byte";

#[test]
fn an_unchanged_field_passes_and_a_changed_one_does_not() {
    check(
        json!({"a": "xx", "b": "y"}),
        json!({"a": "xx", "b": "z"}),
        &[],
    );
    check(json!({"a": "xx"}), json!({"a": "yy"}), &[A]);
    check(json!({}), json!({"a": "xx"}), &[A]);
}

#[test]
fn an_object_passes_only_as_a_whole() {
    let old = json!({"o": {"x": "1"}});
    check(old.clone(), old.clone(), &[]);
    check(old, json!({"o": {"x": "2"}}), &["o.z: Required value"]);
}

#[test]
fn items_correlate_by_their_keys() {
    let old = json!({"m": [{"k": "1", "x": "xx"}, {"k": "2", "x": "yy"}]});
    let new = json!({"m": [{"k": "2", "x": "yy", "y": 1}, {"k": "1", "x": "xx"}]});
    check(old.clone(), new, &[]);
    let new = json!({"m": [{"k": "3", "x": "xx"}]});
    check(old, new, &["m[0].x: Too long: may not be more than 1 byte"]);
}

#[test]
fn items_of_other_lists_do_not_correlate() {
    let old = json!({"l": ["xx", "y"]});
    check(old.clone(), old.clone(), &[]);
    check(
        old,
        json!({"l": ["xx", "z"]}),
        &["l[0]: Too long: may not be more than 1 byte"],
    );
}

#[test]
fn members_of_maps_correlate_by_their_names() {
    check(
        json!({"d": {"p": "xx", "q": "yy"}}),
        json!({"d": {"p": "xx", "r": "yy"}}),
        &["d.r: Too long: may not be more than 1 byte"],
    );
}

#[test]
fn errors_of_junctors_pass_with_their_value() {
    let old = json!({"j": "xx"});
    check(old.clone(), json!({"j": "xx", "a": "1"}), &[]);
    let texts = validate_update(&json!({"j": "yy"}), &old, &schema(&of()));
    assert_eq!(texts.len(), 2, "{texts:?}");
}

#[test]
fn the_type_of_an_object_never_passes() {
    let old = json!({"kind": "Z", "a": "1"});
    let new = json!({"kind": "Z", "a": "2"});
    check(
        old,
        new,
        &[r#"kind: Unsupported value: "Z": supported values: "K""#],
    );
}
