//! Schemas of definitions and objects of them: any JSON is checked, converted and validated without
//! a panic and within the limits, and what is stored stays as it is.

#![no_main]

use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::FieldPath;
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_schema::{
    Malformed, Schema, SchemaOptions, Steps, UnknownFields, apply_defaults, check_schema,
    coerce_metadata, prune, remove_nulls, validate, validate_embedded, validate_list_types,
    validate_update,
};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fn stored(mut object: Map<String, Value>, schema: &Schema) -> Map<String, Value> {
    prune(&mut object, Some(schema), Some(&mut UnknownFields::new()));
    remove_nulls(&mut object, schema);
    // Malformed metadata is dropped, so this cannot fail but for an object that is too deep.
    let _ = coerce_metadata(&mut object, schema, Malformed::Drop, None);
    apply_defaults(&mut object, schema);
    object
}

// The input has up to three parts, separated by `\n---\n`: the schema, the new object and the old
// one.
fuzz_target!(|text: &str| {
    let mut parts = text.split("\n---\n");
    let schema = parts.next().unwrap_or_default();
    let Ok(props) = JSONSchemaProps::from_json(schema.as_bytes(), &mut DecodeContext::new()) else {
        return;
    };
    let root = &FieldPath::ROOT;
    let create = SchemaOptions::CREATE;
    let is_valid = check_schema(&props, true, create, None, root).is_empty();
    check_schema(
        &props,
        false,
        SchemaOptions::update([&props], true),
        None,
        root,
    );
    let Ok(schema) = Schema::convert(&props) else {
        return;
    };
    let Ok(schema) = schema.with_pruned_defaults() else {
        return;
    };
    let mut object = || -> Map<String, Value> {
        let part = parts.next().unwrap_or("{}");
        serde_json::from_str(part).unwrap_or_default()
    };
    let (new, old) = (object(), object());
    validate_embedded(&new, &schema, root);
    validate_list_types(&new, &schema, root);
    let once = stored(new.clone(), &schema);
    let (new, old) = (Value::Object(new), Value::Object(old));
    let steps = || Steps::new(100_000);
    let created = validate(&new, &schema, root, &mut steps());
    let updated = validate_update(&new, &old, &schema, root, &mut steps());
    assert!(updated.len() <= created.len(), "{created:?} {updated:?}");
    if is_valid {
        assert_eq!(stored(once.clone(), &schema), once);
    }
});
