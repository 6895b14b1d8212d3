//! Views of JSON.

use crate::rules::declare;
use kubist_cel::cost::DeclaredSizes;
use kubist_cel::{Activation, Budget, Environment, Value, Version};
use serde_json::{Value as Json, json};
use std::sync::Arc;

fn schema() -> Json {
    let text = json!({"type": "string"});
    json!({"type": "object", "properties": {
        "name": text, "count": {"type": "integer"}, "ratio": {"type": "number"}, "maybe": {"type": "string", "nullable": true},
        "namespace": text, "with-dash": text, "under__score": text,
        "at": {"type": "string", "format": "date-time"}, "for": {"type": "string", "format": "duration"},
        "raw": {"type": "string", "format": "byte"}, "port": {"x-kubernetes-int-or-string": true},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
        "named": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
            "type": "object", "properties": {"name": text, "value": {"type": "integer"}}}},
        "labels": {"type": "object", "additionalProperties": text},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": text}},
    }})
}

fn evaluate(expression: &str, object: &Json) -> Result<bool, String> {
    let declared = Arc::new(declare(&schema(), "T", false).expect("it has a type"));
    let kind = declared.cel_type();
    let environment =
        Environment::new(Version::minor(36)).extend([("self", kind.clone()), ("oldSelf", kind)]);
    let environment = environment.with_sizes(DeclaredSizes(Arc::clone(&declared)));
    let program = environment
        .compile(expression)
        .map_err(|error| error.to_string())?;
    let reordered =
        json!({"set": ["b", "a"], "named": [{"name": "y", "value": 2}, {"name": "x", "value": 1}]});
    let activation = Activation::new()
        .bind_result("self", Value::view(object, &declared))
        .bind_result("oldSelf", Value::view(&reordered, &declared));
    match program.evaluate(&activation, Budget::default()).value {
        Ok(value) => Ok(matches!(value, Value::Bool(true))),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn fields_are_read_as_their_types_declare() {
    let object = json!({"name": "a", "count": 3, "ratio": 2, "at": "2024-05-06T07:08:09Z", "for": "90s", "raw": "YWI=", "port": "http", "labels": {"k": "v"}});
    for expression in [
        "self.name == 'a' && self.count == 3 && self.ratio == 2.0",
        "self.at.getFullYear() == 2024 && self.__for__ == duration('1m30s') && self.raw == b'ab'",
        "self.port == 'http' && type(self.port) == string",
        "self.labels.k == 'v' && 'k' in self.labels && self.labels.all(k, self.labels[k] == 'v')",
        "has(self.name) && !has(self.maybe) && !has(self.labels.other)",
        "self.?maybe.orValue('none') == 'none'",
    ] {
        assert_eq!(evaluate(expression, &object), Ok(true), "{expression}");
    }
}

#[test]
fn a_null_of_a_nullable_field_is_absent() {
    assert_eq!(
        evaluate("has(self.maybe)", &json!({"maybe": null})),
        Ok(false)
    );
    assert_eq!(
        evaluate("self.name == 'a'", &json!({"name": null})),
        Err("no such key: name".to_owned())
    );
}

#[test]
fn names_that_are_no_identifiers_are_escaped() {
    let object = json!({"namespace": "n", "with-dash": "d", "under__score": "u"});
    assert_eq!(
        evaluate(
            "self.__namespace__ == 'n' && self.namespace == 'n'",
            &object
        ),
        Ok(true)
    );
    assert_eq!(
        evaluate(
            "self.with__dash__dash == 'd' && self.under__underscores__score == 'u'",
            &object
        ),
        Ok(true)
    );
}

#[test]
fn sets_and_maps_compare_without_order() {
    let object =
        json!({"set": ["a", "b"], "named": [{"name": "x", "value": 1}, {"name": "y", "value": 2}]});
    assert_eq!(
        evaluate(
            "self.set == oldSelf.set && self.named == oldSelf.named",
            &object
        ),
        Ok(true)
    );
    assert_eq!(
        evaluate(
            "self.set != ['a', 'c'] && (self.set + ['b', 'c']).size() == 3",
            &object
        ),
        Ok(true)
    );
    assert_eq!(
        evaluate("(self.named + oldSelf.named).size() == 2", &object),
        Ok(true)
    );
}

#[test]
fn fields_without_a_schema_cannot_be_named() {
    let error = evaluate("self.any.other == 'a'", &json!({})).expect_err("it does not compile");
    assert!(error.contains("undefined field 'other'"), "{error}");
}

#[test]
fn sizes_of_a_schema_bound_the_estimate() {
    let estimate = |limit: Option<u64>| {
        let mut schema = json!({"type": "object", "properties": {"items": {"type": "array", "items": {"type": "string", "maxLength": 10}}}});
        if let Some(limit) = limit {
            schema["properties"]["items"]["maxItems"] = limit.into();
        }
        let declared = Arc::new(declare(&schema, "T", false).expect("it has a type"));
        let environment =
            Environment::new(Version::minor(36)).extend([("self", declared.cel_type())]);
        let environment = environment.with_sizes(DeclaredSizes(declared));
        environment
            .compile("self.items.all(e, e.startsWith('a'))")
            .expect("it compiles")
            .cost_estimate()
            .max
    };
    assert!(estimate(Some(10)) < 100 && estimate(None) > 1_000_000);
}
