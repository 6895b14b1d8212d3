//! What holds for all schemas and objects.

use crate::random::{Random, mutated_object, mutated_schema, root_schema, rubbish, value};
use crate::support::{object, props, schema, validate, validate_update};
use kubist_apimachinery::FieldPath;
use kubist_schema::{
    Malformed, Schema, SchemaOptions, UnknownFields, apply_defaults, check_schema, coerce_metadata,
    prune, remove_nulls, validate_embedded, validate_list_types,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns a valid definition's schema and an object, from a seed.
fn case(seed: u64) -> Option<(Value, Value)> {
    let random = &mut Random::new(seed);
    let of = root_schema(random);
    let create = SchemaOptions::CREATE;
    let errors = check_schema(&props(&of), false, create, None, &FieldPath::ROOT);
    if !errors.is_empty() {
        return None;
    }
    let mut object = value(random, &of);
    if random.one_in(3) {
        object = mutated_object(random, &object);
    }
    Some((
        of,
        if object.is_object() {
            object
        } else {
            json!({})
        },
    ))
}

fn stored(value: &Value, of: &Schema) -> Value {
    let mut members = object(value);
    prune(&mut members, Some(of), None);
    remove_nulls(&mut members, of);
    coerce_metadata(&mut members, of, Malformed::Drop, None).expect("metadata is dropped");
    apply_defaults(&mut members, of);
    members.into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn pruning_again_removes_nothing(seed in 1..u64::MAX) {
        let Some((of, value)) = case(seed) else { return Ok(()) };
        let of = schema(&of);
        let mut once = object(&value);
        prune(&mut once, Some(&of), None);
        let mut twice = once.clone();
        let mut unknown = UnknownFields::new();
        prune(&mut twice, Some(&of), Some(&mut unknown));
        prop_assert_eq!(&twice, &once);
        prop_assert!(unknown.into_paths().is_empty());
    }

    #[test]
    fn what_is_stored_stays_as_it_is(seed in 1..u64::MAX) {
        let Some((of, value)) = case(seed) else { return Ok(()) };
        let of = schema(&of).with_pruned_defaults().expect("they are pruned");
        let once = stored(&value, &of);
        prop_assert_eq!(stored(&once, &of), once);
    }

    #[test]
    fn an_update_has_no_error_that_a_create_has_not(seed in 1..u64::MAX) {
        let Some((of, value)) = case(seed) else { return Ok(()) };
        let of = schema(&of);
        let other = mutated_object(&mut Random::new(seed), &value);
        let created = validate(&value, &of);
        for error in validate_update(&value, &other, &of) {
            prop_assert!(created.contains(&error), "{}", error);
        }
    }

    #[test]
    fn any_schema_and_any_object_are_handled(seed in 1..u64::MAX) {
        let random = &mut Random::new(seed);
        let mut of = root_schema(random);
        for _ in 0..4 {
            of = mutated_schema(random, &of);
        }
        let of = props(&of);
        let root = &FieldPath::ROOT;
        check_schema(&of, true, SchemaOptions::update([&of], true), None, root);
        let Ok(of) = Schema::convert(&of) else { return Ok(()) };
        let value = json!({"a": rubbish(random, 4), "spec": rubbish(random, 4)});
        validate(&value, &of);
        validate_update(&value, &mutated_object(random, &value), &of);
        validate_embedded(&object(&value), &of, root);
        validate_list_types(&object(&value), &of, root);
        stored(&value, &of);
    }
}
