//! CEL rules in definitions: compilation, costs and defaults.

use crate::support::{props, texts};
use kubist_apimachinery::FieldPath;
use kubist_schema::{KnownExpressions, RuleChecker, SchemaOptions, check_schema};
use serde_json::{Value, json};

fn check(schema: &Value, is_unchanged: bool) -> Vec<String> {
    let known = KnownExpressions::default();
    let mut rules = RuleChecker::new(&known, is_unchanged);
    let (options, path) = (SchemaOptions::CREATE, FieldPath::new("s"));
    let errors = check_schema(&props(schema), false, options, Some(&mut rules), &path);
    texts(&errors)
}

fn with(spec: Value) -> Value {
    json!({"type": "object", "properties": {"spec": spec}})
}

#[track_caller]
fn refused(spec: Value, expected: &[&str]) {
    let found = check(&with(spec), false);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}\nlacks\n{expected}");
    }
}

const PATH: &str = "s.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]";

#[test]
fn a_syntax_error_is_refused() {
    let rules = json!([{"rule": "self = 42"}]);
    refused(
        json!({"type": "integer", "x-kubernetes-validations": rules}),
        &[&format!(
            "{PATH}.rule: Invalid value: {{\"Rule\":\"self = 42\",\"Message\":\"\",\
             \"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\
             \"OptionalOldSelf\":null}}: compilation failed: ERROR: <input>:1:6: Syntax error"
        )],
    );
}

#[test]
fn an_unknown_field_and_a_wrong_type_are_refused() {
    let object = json!({"type": "object", "properties": {"x": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "self.z == 1"}, {"rule": "self.x"},
            {"rule": "self.x == 'a'"}]});
    refused(
        object,
        &[
            "undefined field 'z'",
            "cel expression must evaluate to a bool",
            "found no matching overload for '_==_' applied to '(int, string)'",
        ],
    );
}

#[test]
fn message_expressions_are_compiled() {
    let rules = json!([
        {"rule": "self > 0", "messageExpression": "self"},
        {"rule": "self > 0", "messageExpression": "'a' +"},
    ]);
    refused(
        json!({"type": "integer", "x-kubernetes-validations": rules}),
        &[
            "messageExpression must evaluate to a string",
            "messageExpression compilation failed: ERROR: <input>:1:6: Syntax error",
        ],
    );
}

#[test]
fn the_old_value_is_only_used_where_it_correlates() {
    let item = json!({"type": "string", "maxLength": 5,
        "x-kubernetes-validations": [{"rule": "self == oldSelf"}]});
    refused(
        json!({"type": "array", "maxItems": 5, "items": item}),
        &[
            "oldSelf cannot be used on the uncorrelatable portion of the schema within \
           s.openAPIV3Schema.properties[spec]",
        ],
    );
    let rules = json!([{"rule": "self > 0", "optionalOldSelf": true}]);
    refused(
        json!({"type": "integer", "x-kubernetes-validations": rules}),
        &["optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"],
    );
}

#[test]
fn an_expensive_rule_is_refused_unless_it_is_stored() {
    let spec = json!({
        "type": "array", "items": {"type": "array", "items": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "self.all(x, x.all(y, y.contains(y)))"}],
    });
    let hint = "exceeds budget by factor of more than 100x (try simplifying the rule, or adding \
                maxItems, maxProperties, and maxLength where arrays, maps, and strings are \
                declared)";
    let total = format!(
        "s.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for \
         entire OpenAPIv3 schema {hint}"
    );
    let expected = [
        format!("{PATH}.rule: Forbidden: estimated rule cost {hint}"),
        format!(
            "{PATH}.rule: Forbidden: contributed to estimated rule cost total exceeding cost \
             limit for entire OpenAPIv3 schema"
        ),
        total,
    ];
    assert_eq!(check(&with(spec.clone()), false), expected);
    assert_eq!(check(&with(spec), true), expected[1..]);
}

#[test]
fn limits_of_the_schema_make_rules_cheap() {
    let spec = json!({
        "type": "array", "maxItems": 10,
        "items": {"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 10}},
        "x-kubernetes-validations": [{"rule": "self.all(x, x.all(y, y.contains(y)))"}],
    });
    assert_eq!(check(&with(spec), false), [""; 0]);
}

#[test]
fn defaults_fit_their_rules() {
    let spec = json!({"type": "integer", "default": 1,
        "x-kubernetes-validations": [{"rule": "self > 1"}]});
    refused(
        spec,
        &["s.openAPIV3Schema.properties[spec].default: Invalid value: 1: failed rule: self > 1"],
    );
}
