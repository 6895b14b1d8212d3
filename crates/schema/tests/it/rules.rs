//! CEL rules of objects: what they see, when they apply, and what their errors say.

use crate::support::{schema, texts};
use kubist_apimachinery::FieldPath;
use kubist_schema::{CompiledRules, blocked_rules, validate_list_types, validate_rules};
use serde_json::{Value, json};

/// Evaluates the rules of a schema.
fn evaluate(of: &Value, new: &Value, old: Option<&Value>) -> Vec<String> {
    let schema = schema(of);
    let rules = CompiledRules::compile(&schema).expect("it has rules");
    texts(&validate_rules(new, old, &schema, &rules, &FieldPath::ROOT).errors)
}

fn with_spec(spec: Value) -> Value {
    json!({"type": "object", "properties": {"spec": spec}})
}

fn rules(texts: &[&str]) -> Value {
    texts.iter().map(|it| json!({"rule": it})).collect()
}

#[test]
fn a_schema_without_rules_compiles_to_none() {
    assert!(CompiledRules::compile(&schema(&with_spec(json!({"type": "object"})))).is_none());
}

#[test]
fn a_rule_that_fails_is_an_error_at_its_value() {
    let of = with_spec(json!({
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
        "x-kubernetes-validations": rules(&["self.x > self.y", "self.x < 100"]),
    }));
    let found = evaluate(&of, &json!({"spec": {"x": 1, "y": 2}}), None);
    assert_eq!(found, ["spec: Invalid value: failed rule: self.x > self.y"]);
    assert_eq!(
        evaluate(&of, &json!({"spec": {"x": 3, "y": 2}}), None),
        [""; 0]
    );
    assert_eq!(evaluate(&of, &json!({"spec": null}), None), [""; 0]);
    let found = evaluate(&of, &json!({"spec": {"x": 1}}), None);
    assert_eq!(
        found,
        ["spec: Invalid value: \"object\": no such key: y evaluating rule: self.x > self.y"]
    );
}

#[test]
fn messages_reasons_and_paths_come_from_the_rule() {
    let of = with_spec(json!({
        "type": "object",
        "properties": {
            "x": {"type": "integer"},
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "x-kubernetes-validations": [
            {"rule": "self.x == 1", "message": " say ", "fieldPath": ".x",
             "reason": "FieldValueForbidden"},
            {"rule": "self.x == 2", "messageExpression": "'x is ' + string(self.x)",
             "reason": "FieldValueRequired"},
            {"rule": "self.x == 3", "messageExpression": "'a\\nb'", "message": "plain",
             "fieldPath": ".m['a.b']"},
            {"rule": "self.x == 4", "reason": "FieldValueDuplicate"},
        ],
    }));
    let found = evaluate(&of, &json!({"spec": {"x": 0}}), None);
    let expected = [
        "spec.x: Forbidden: say",
        "spec: Required value: x is 0",
        "spec.m[a.b]: Invalid value: plain",
        "spec: Duplicate value",
    ];
    assert_eq!(found, expected);
}

#[test]
fn scalars_are_shown_in_errors() {
    let of = with_spec(json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer", "x-kubernetes-validations": rules(&["self > 0"])},
            "s": {"type": "string", "x-kubernetes-validations": rules(&["self == ''"])},
        },
    }));
    let found = evaluate(&of, &json!({"spec": {"n": -1, "s": "q"}}), None);
    let expected = [
        "spec.n: Invalid value: -1: failed rule: self > 0",
        "spec.s: Invalid value: \"q\": failed rule: self == ''",
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_root_sees_its_metadata_and_nothing_more() {
    let mut of = with_spec(json!({"type": "object"}));
    of["x-kubernetes-validations"] = rules(&[
        "self.metadata.name.startsWith('a')",
        "self.kind == 'Fig' && self.apiVersion == 'example.com/v1'",
    ]);
    let new = json!({"kind": "Fig", "apiVersion": "example.com/v1", "metadata": {"name": "b"}});
    let found = evaluate(&of, &new, None);
    let expected = ["<nil>: Invalid value: failed rule: self.metadata.name.startsWith('a')"];
    assert_eq!(found, expected);
}

#[test]
fn names_are_escaped_and_unknown_data_can_only_be_compared() {
    let open = json!({"x-kubernetes-preserve-unknown-fields": true});
    let of = with_spec(json!({
        "type": "object",
        "properties": {
            "a-b.c/d": {"type": "string"}, "namespace": {"type": "string"}, "open": open,
            "p": {"x-kubernetes-int-or-string": true},
        },
        "x-kubernetes-validations": rules(&[
            "self.a__dash__b__dot__c__slash__d == self.__namespace__",
            "type(self.p) == int ? self.p > 1 : self.p == 'x'",
            "self == oldSelf",
        ]),
    }));
    let value =
        |open: Value| json!({"spec": {"a-b.c/d": "q", "namespace": "q", "p": 2, "open": open}});
    let same = evaluate(
        &of,
        &value(json!({"z": [1]})),
        Some(&value(json!({"z": [1]}))),
    );
    assert_eq!(same, [""; 0]);
    let found = evaluate(
        &of,
        &value(json!({"z": [1]})),
        Some(&value(json!({"z": [2]}))),
    );
    assert_eq!(found, ["spec: Invalid value: failed rule: self == oldSelf"]);
}

#[test]
fn transition_rules_apply_where_an_old_value_correlates() {
    let item = json!({
        "type": "object", "required": ["key"],
        "properties": {"key": {"type": "string"}, "v": {
            "type": "integer", "x-kubernetes-validations": rules(&["self >= oldSelf"]),
        }},
    });
    let of = json!({"type": "object", "properties": {
        "list": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["key"], "items": item},
        "map": {"type": "object", "additionalProperties": item},
    }});
    let new = json!({
        "list": [{"key": "b", "v": 1}, {"key": "a", "v": 1}],
        "map": {"p": {"key": "k", "v": 1}, "q": {"key": "k", "v": 1}},
    });
    assert_eq!(evaluate(&of, &new, None), [""; 0]);
    let old = json!({"list": [{"key": "a", "v": 2}], "map": {"q": {"key": "k", "v": 2}}});
    let failed = "Invalid value: 1: failed rule: self >= oldSelf";
    assert_eq!(
        evaluate(&of, &new, Some(&old)),
        [
            format!("list[1].v: {failed}"),
            format!("map[q].v: {failed}")
        ]
    );
}

#[test]
fn a_rule_with_an_optional_old_value_applies_to_new_values_too() {
    let rule = json!({"rule": "oldSelf.hasValue() ? self >= oldSelf.value() : self == 1",
        "optionalOldSelf": true});
    let of = with_spec(json!({"type": "integer", "x-kubernetes-validations": [rule]}));
    let is_valid = |new: i64, old: Option<Value>| {
        let old = old.map(|it| json!({"spec": it}));
        evaluate(&of, &json!({"spec": new}), old.as_ref()).is_empty()
    };
    assert!(is_valid(1, None) && !is_valid(2, None) && is_valid(1, Some(Value::Null)));
    assert!(is_valid(3, Some(json!(2))) && !is_valid(1, Some(json!(2))));
}

#[test]
fn rules_of_unchanged_values_pass_but_transition_rules_do_not() {
    let of = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "a": {"type": "integer", "x-kubernetes-validations": rules(&["self > 5", "oldSelf > 5"])},
        "b": {"type": "integer", "x-kubernetes-validations": rules(&["self > 5"])},
    }}}});
    let old = json!({"spec": {"a": 1, "b": 1}});
    let new = json!({"spec": {"a": 1, "b": 2}});
    let expected = [
        "spec.a: Invalid value: 1: failed rule: oldSelf > 5",
        "spec.b: Invalid value: 2: failed rule: self > 5",
    ];
    assert_eq!(evaluate(&of, &new, Some(&old)), expected);
    let schema = schema(&of);
    let rules = CompiledRules::compile(&schema).expect("it has rules");
    let found = validate_rules(&new, Some(&old), &schema, &rules, &FieldPath::ROOT);
    let passed = ["spec.a: Invalid value: 1: failed rule: self > 5"];
    assert_eq!(texts(&found.passed), passed);
}

#[test]
fn a_set_of_numbers_is_equal_to_itself() {
    let rule = json!({"rule": "oldSelf.hasValue() ? self == oldSelf.value() : true",
        "optionalOldSelf": true});
    let of = with_spec(json!({
        "type": "array", "items": {"type": "number"}, "x-kubernetes-list-type": "set",
        "x-kubernetes-validations":
            [{"rule": "self == self"}, {"rule": "self + self == self"}, rule],
    }));
    let set = json!({"spec": [3, 2.0, 0.5, -3_000_000_000.0]});
    assert_eq!(evaluate(&of, &set, None), [""; 0]);
    assert_eq!(evaluate(&of, &set, Some(&set)), [""; 0]);
    let other = json!({"spec": [3, 2.0, 0.5, 4]});
    assert_eq!(evaluate(&of, &set, Some(&other)).len(), 1);
}

#[test]
fn a_call_has_a_cost_limit() {
    let of = with_spec(json!({
        "type": "array", "items": {"type": "integer"},
        "x-kubernetes-validations": rules(&["self.all(x, self.all(y, self.all(z, z == x || y > 0)))"]),
    }));
    let many: Vec<i64> = (1..200).collect();
    let found = evaluate(&of, &json!({"spec": many}), None);
    let expected = "spec: Invalid value: \"array\": 'operation cancelled: actual cost limit \
                    exceeded': no further validation rules will be run due to call cost exceeds \
                    limit for rule: self.all(x, self.all(y, self.all(z, z == x || y > 0)))";
    assert_eq!(found, [expected]);
}

#[test]
fn an_object_has_a_cost_limit() {
    let rule = "self.all(x, self.all(y, x + y > 0))";
    let item = json!({"type": "array", "items": {"type": "integer"},
        "x-kubernetes-validations": rules(&[rule])});
    let of = with_spec(json!({"type": "array", "items": item}));
    let row: Vec<i64> = (1..200).collect();
    let found = evaluate(&of, &json!({"spec": vec![row; 100]}), None);
    let [error] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert!(
        error.ends_with(
            "Invalid value: \"array\": validation failed due to running out of cost budget, no \
             further validation rules will be run"
        ),
        "{error}"
    );
}

#[test]
fn other_errors_block_rules() {
    let of = json!({"type": "object", "properties": {"s": {
        "type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}});
    let schema = schema(&of);
    let root = &FieldPath::ROOT;
    let new = json!({"s": ["a", "a"]});
    let content = new.as_object().expect("an object");
    let duplicate = validate_list_types(content, &schema, root);
    assert_eq!((duplicate.len(), blocked_rules(&duplicate)), (1, None));
    let required = [kubist_apimachinery::FieldError::required(root, "")];
    let blocked = blocked_rules(&required).map(|it| it.to_string());
    let expected = "<nil>: Invalid value: null: some validation rules were not checked because the \
                    object was invalid; correct the existing errors to complete validation";
    assert_eq!(blocked.as_deref(), Some(expected));
}

#[test]
fn equal_schemas_share_their_compiled_rules() {
    let part = json!({"type": "object", "properties": {"x": {"type": "integer"}},
        "x-kubernetes-validations": rules(&["self.x > 0"])});
    let of = json!({"type": "object", "properties": {"a": part, "b": part}});
    let found = evaluate(&of, &json!({"a": {"x": 0}, "b": {"x": 0}}), None);
    assert_eq!(found.len(), 2);
}
