//! Objects and schemas that nest deeper than any stack: 10,000 levels.

use kubist_api::apiextensions::v1::{JSONSchemaProps, JSONSchemaPropsOrArray};
use kubist_apimachinery::FieldPath;
use kubist_schema::{
    ConvertError, Malformed, Schema, Steps, UnknownFields, apply_defaults, coerce_metadata, prune,
    remove_nulls, validate, validate_embedded, validate_list_types, validate_update,
};
use serde_json::{Map, Value, json};

const DEPTH: usize = 10_000;
/// Building and dropping a deep value takes a deep stack.
const STACK_OF_VALUES: usize = 256 << 20;
/// What a thread of the server has, in a build without optimisation.
const STACK: usize = 2 << 20;

/// Runs `test` on a thread with a small stack, within one with a large stack that owns the values.
fn run<T: Send + Sync>(make: impl FnOnce() -> T + Send, test: impl FnOnce(&T) + Send) {
    let large = std::thread::Builder::new().stack_size(STACK_OF_VALUES);
    std::thread::scope(|scope| {
        let values = large.spawn_scoped(scope, || {
            let value = make();
            std::thread::scope(|scope| {
                let small = std::thread::Builder::new().stack_size(STACK);
                let tested = small.spawn_scoped(scope, || test(&value));
                tested.expect("it starts").join().expect("it passes");
            });
        });
        values.expect("it starts").join().expect("it passes");
    });
}

// The macro for JSON would copy the value.
fn list(item: Value) -> Value {
    Value::Array(vec![item])
}

fn member(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}

fn nested(make: impl Fn(Value) -> Value) -> Value {
    let mut value = json!(1);
    for _ in 0..DEPTH {
        value = make(value);
    }
    value
}

fn recursive_props(depth: usize) -> JSONSchemaProps {
    let mut schema = JSONSchemaProps {
        type_: "string".into(),
        ..JSONSchemaProps::default()
    };
    for _ in 0..depth {
        schema = JSONSchemaProps {
            type_: "array".into(),
            x_kubernetes_list_type: Some("set".into()),
            items: Some(Box::new(JSONSchemaPropsOrArray {
                schema: Some(Box::new(schema)),
                ..JSONSchemaPropsOrArray::default()
            })),
            ..JSONSchemaProps::default()
        };
    }
    let mut root = JSONSchemaProps {
        type_: "object".into(),
        ..JSONSchemaProps::default()
    };
    root.properties.insert("v".into(), Box::new(schema));
    root
}

#[test]
fn deep_objects_are_refused_without_recursion() {
    for make in [
        list as fn(Value) -> Value,
        |it| member("a", it),
        |it| member("v", list(it)),
    ] {
        run(
            || Map::from_iter([("v".to_owned(), nested(make))]),
            |members: &Map<String, Value>| {
                let schema = Schema::convert(&recursive_props(100)).expect("it converts");
                // A clone would need the large stack.
                let value = members.get("v").expect("it is there");
                let (root, steps) = (&FieldPath::ROOT, &mut Steps::default());
                let errors = validate(value, &schema, root, steps);
                assert_eq!(errors.len(), 1, "{errors:?}");
                let errors = validate_update(value, value, &schema, root, steps);
                assert_eq!(errors.len(), 1);
                assert!(validate_embedded(members, &schema, root).is_empty());
                assert!(validate_list_types(members, &schema, root).is_empty());
            },
        );
    }
}

#[test]
fn deep_objects_are_changed_without_recursion() {
    run(
        || std::sync::Mutex::new(Map::from_iter([("v".to_owned(), nested(list))])),
        |members| {
            let schema = Schema::convert(&recursive_props(100)).expect("it converts");
            let members = &mut *members.lock().expect("it is free");
            prune(members, Some(&schema), Some(&mut UnknownFields::new()));
            remove_nulls(members, &schema);
            apply_defaults(members, &schema);
            coerce_metadata(members, &schema, Malformed::Drop, None).expect("it has none");
        },
    );
}

#[test]
fn deep_schemas_are_refused() {
    run(
        || recursive_props(DEPTH),
        |schema| {
            let error = Schema::convert(schema).expect_err("it is too deep");
            assert_eq!(error, ConvertError::TooDeep);
        },
    );
}
