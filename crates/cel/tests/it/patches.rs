//! The messages of mutating policies.

use kubist_cel::{Activation, Budget, Environment, Type, Value, Version};
use serde_json::json;

fn environment() -> Environment {
    let environment = Environment::new(Version::minor(36)).extend([("x", Type::Dyn)]);
    environment.with_patches()
}

fn evaluated(expression: &str) -> serde_json::Value {
    let program = environment().compile(expression).expect("it compiles");
    let activation = Activation::new().bind("x", Value::string("a/b~c"));
    let value = program.evaluate(&activation, Budget::default()).value;
    value
        .expect("it has a value")
        .to_json()
        .expect("it has JSON")
}

fn error(expression: &str) -> String {
    let error = environment()
        .compile(expression)
        .expect_err("it does not compile");
    error.issues()[0].message.clone()
}

#[test]
fn an_object_has_any_field() {
    let object = evaluated(
        "Object{metadata: Object.metadata{labels: {'a': x}}, spec: Object.spec{replicas: 1 + 2, \
         items: [Object.spec.items{name: 'n'}], ?none: optional.none()}}",
    );
    let expected = json!({
        "metadata": {"labels": {"a": "a/b~c"}},
        "spec": {"replicas": 3, "items": [{"name": "n"}]},
    });
    assert_eq!(object, expected);
}

#[test]
fn an_operation_has_its_fields_only() {
    let operations = evaluated(
        "[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey(x), value: {'a': true}}]",
    );
    let path = "/data/a~1b~0c";
    assert_eq!(
        operations,
        json!([{"op": "add", "path": path, "value": {"a": true}}])
    );
    assert_eq!(error("JSONPatch{wrong: 1}"), "undefined field 'wrong'");
    assert_eq!(
        error("JSONPatch{op: 1}"),
        "expected type of field 'op' is 'string' but provided type is 'int'"
    );
}

#[test]
fn types_are_named_as_they_are_written() {
    let type_of = |expression: &str| {
        let program = environment().compile(expression).expect("it compiles");
        program.output_type().to_string()
    };
    assert_eq!(type_of("Object{}"), "Object");
    assert_eq!(type_of("Object.spec{}"), "Object.spec");
    assert_eq!(type_of("[JSONPatch{}]"), "list(JSONPatch)");
    assert_eq!(
        type_of("true ? [JSONPatch{op: 'test'}] : []"),
        "list(JSONPatch)"
    );
}

#[test]
fn other_expressions_have_no_messages() {
    let environment = Environment::new(Version::minor(36));
    let error = environment
        .compile("Object{}")
        .expect_err("it does not compile");
    let message = "undeclared reference to 'Object' (in container '')";
    assert_eq!(error.issues()[0].message, message);
}
