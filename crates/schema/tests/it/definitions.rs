//! The schemas of definitions: what they may say, and what an update may keep.

use crate::support::{props, texts};
use kubist_apimachinery::FieldPath;
use kubist_schema::{Schema, SchemaOptions, check_schema, check_structural};
use serde_json::{Value, json};
use std::sync::Arc;

fn check(schema: &Value, options: SchemaOptions) -> Vec<String> {
    let path = FieldPath::new("s");
    texts(&check_schema(&props(schema), false, options, None, &path))
}

#[track_caller]
fn refused(schema: Value, expected: &[&str]) {
    let found = check(&schema, SchemaOptions::CREATE);
    let found: Vec<&str> = found
        .iter()
        .map(|it| it.strip_prefix("s.openAPIV3Schema").unwrap_or(it))
        .collect();
    assert_eq!(found, expected, "{schema}");
}

/// A root with one property.
fn with(property: Value) -> Value {
    json!({"type": "object", "properties": {"p": property}})
}

#[test]
fn a_structural_schema_is_accepted() {
    refused(
        with(json!({"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"],
                "properties": {"k": {"type": "string"}, "i": {"x-kubernetes-int-or-string": true,
                    "anyOf": [{"type": "integer"}, {"type": "string"}]}}}})),
        &[],
    );
}

#[test]
fn everything_has_a_type_and_junctors_have_none() {
    refused(
        with(json!({"allOf": [{"type": "string", "nullable": true}]})),
        &[
            ".properties[p].allOf[0].nullable: Forbidden: must be false to be structural",
            ".properties[p].allOf[0].type: Forbidden: must be empty to be structural",
            ".properties[p].type: Required value: must not be empty for specified object fields",
        ],
    );
    refused(
        json!({"type": "object", "anyOf": [{"properties": {"q": {}}}]}),
        &[".properties[q]: Required value: because it is defined in \
           s.openAPIV3Schema.anyOf[0].properties[q]"],
    );
}

#[test]
fn metadata_is_restricted_by_name_only() {
    refused(
        json!({"type": "object", "properties": {"metadata": {"type": "object",
            "properties": {"name": {"type": "string"}, "labels": {"type": "object"}}}}}),
        &[
            ".properties[metadata]: Forbidden: must not specify anything other than name and \
           generateName, but metadata is implicitly specified",
        ],
    );
}

#[test]
fn unsupported_keywords_are_named() {
    refused(
        with(json!({"type": "string", "id": "x"})),
        &[".properties[p].id: Forbidden: id is not supported"],
    );
    refused(
        with(json!({"type": "string", "$schema": "x"})),
        &[": Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"],
    );
    refused(
        with(json!({"type": "string", "pattern": "a**"})),
        &[
            ".properties[p].pattern: Invalid value: \"a**\": must be a valid regular expression, \
           but isn't: error parsing regexp: invalid nested repetition operator: `**`",
        ],
    );
}

#[test]
fn defaults_are_valid_and_pruned() {
    refused(
        with(
            json!({"type": "object", "properties": {"a": {"type": "string"}},
            "default": {"a": 1, "b": 2}}),
        ),
        &[
            ".properties[p].default: Invalid value: {\"a\":1,\"b\":2}: must not have unknown fields",
            ".properties[p].default.a: Invalid value: \"integer\": a in body must be of type \
             string: \"integer\"",
        ],
    );
}

#[test]
fn an_update_keeps_what_was_invalid_before() {
    let set = json!({"type": "array", "x-kubernetes-list-type": "set",
        "items": {"type": "object", "nullable": true}});
    let old = with(set.clone());
    assert_eq!(check(&old, SchemaOptions::CREATE).len(), 2);
    let options = SchemaOptions::update([&props(&old)], false);
    assert!(!options.requires_atomic_sets && !options.requires_list_keys);
    assert!(options.requires_structural_schema && options.requires_pruned_defaults);
    let new = json!({"type": "object", "properties": {"p": set, "q": {"type": "string"}}});
    assert_eq!(check(&new, options), [""; 0]);
}

#[test]
fn unpruned_defaults_of_an_old_definition_are_pruned_for_serving() {
    let old = with(json!({"type": "object", "default": {"a": 1}, "properties": {}}));
    let options = SchemaOptions::update([&props(&old)], false);
    assert!(!options.requires_pruned_defaults);
    let schema = Schema::convert(&props(&old)).expect("it converts");
    let pruned = schema
        .with_pruned_defaults()
        .expect("its default is an object");
    let default = pruned.property("p").and_then(|it| it.default_value());
    assert_eq!(default, Some(&json!({})));
}

#[test]
fn equal_parts_of_a_schema_are_shared() {
    let part = json!({"type": "object", "properties": {"x": {"type": "string", "pattern": "^a"}}});
    let schema = json!({"type": "object", "properties": {"a": part, "b": part}});
    let schema = Schema::convert(&props(&schema)).expect("it converts");
    let (a, b) = (schema.property("a"), schema.property("b"));
    assert!(a.zip(b).is_some_and(|(a, b)| Arc::ptr_eq(a, b)));
}

#[test]
fn errors_of_structure_are_in_order() {
    let schema = json!({"properties": {"b": {}, "a": {"type": "array"}}});
    let errors = texts(&check_structural(&props(&schema), &FieldPath::new("s")));
    let mut sorted = errors.clone();
    sorted.sort();
    assert_eq!((errors.len(), &errors), (3, &sorted));
}
