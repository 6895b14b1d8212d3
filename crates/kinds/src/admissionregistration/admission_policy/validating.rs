//! Checks of validating policies.

use crate::admissionregistration::expressions::{Expressions, May};
use crate::admissionregistration::matching::{check_constraints, check_param_kind};
use crate::shared::rules::{self, Errors};
use kubist_api::admissionregistration::v1::{
    AuditAnnotation, ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec, Validation,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_name};
use kubist_cel::Type;

/// The maximum number of audit annotations of a policy.
const ANNOTATIONS_MAX: usize = 20;
/// The maximum length of the expression of an audit annotation in bytes.
const ANNOTATION_BYTES_MAX: usize = 5 << 10;
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

/// Checks a policy. What an update leaves as it was may use what a newer server had.
pub(super) fn check(
    new: &ValidatingAdmissionPolicy,
    old: Option<&ValidatingAdmissionPolicy>,
) -> Errors {
    let (mut errors, path) = (Errors::new(), FieldPath::new("spec"));
    let (spec, of_old) = (&new.spec, old.map(|it| &it.spec));
    let at = path.child("failurePolicy");
    rules::word(
        &mut errors,
        spec.failure_policy.as_deref().unwrap_or_default(),
        &["Fail", "Ignore"],
        &at,
    );
    if let Some(kind) = &spec.param_kind {
        check_param_kind(&mut errors, kind, &path.child("paramKind"));
    }
    let constraints = spec.match_constraints.as_deref();
    check_constraints(&mut errors, constraints, &path.child("matchConstraints"));
    let known = of_old.into_iter().flat_map(texts);
    let mut expressions = Expressions::new(spec.param_kind.is_some(), known);
    let is_same = |old: &ValidatingAdmissionPolicySpec| {
        old.param_kind == spec.param_kind && old.match_conditions == spec.match_conditions
    };
    if !of_old.is_some_and(is_same) {
        let at = path.child("matchConditions");
        expressions.conditions(&mut errors, &spec.match_conditions, &at);
    }
    if !spec.variables.is_empty() {
        expressions = expressions.with_variables();
        expressions.variables(&mut errors, &spec.variables, &path.child("variables"));
    }
    if spec.validations.is_empty() && spec.audit_annotations.is_empty() {
        for name in ["validations", "auditAnnotations"] {
            let detail = "validations or auditAnnotations must contain at least one item";
            errors.push(FieldError::required(&path.child(name), detail));
        }
    }
    for (index, validation) in spec.validations.iter().enumerate() {
        let path = path.child("validations").index(index);
        check_validation(&mut errors, &expressions, validation, &path);
    }
    check_annotations(
        &mut errors,
        &expressions,
        new,
        &path.child("auditAnnotations"),
    );
    errors
}

/// Returns all expressions.
fn texts(spec: &ValidatingAdmissionPolicySpec) -> impl Iterator<Item = &str> {
    let conditions = spec.match_conditions.iter().map(|it| it.expression.trim());
    let variables = spec.variables.iter().map(|it| &*it.expression);
    let validations = spec.validations.iter();
    let validations = validations.flat_map(|it| [&*it.expression, &*it.message_expression]);
    let annotations = spec.audit_annotations.iter();
    let annotations = annotations.map(|it| it.value_expression.trim());
    conditions
        .chain(variables)
        .chain(validations)
        .chain(annotations)
}

fn check_validation(
    errors: &mut Errors,
    expressions: &Expressions<'_>,
    of: &Validation,
    path: &FieldPath,
) {
    let at = path.child("expression");
    if of.expression.trim().is_empty() {
        errors.push(FieldError::required(&at, "expression is not specified"));
    } else {
        let wanted = (&[Type::Bool][..], May::CONDITION);
        expressions.check(errors, &of.expression, wanted, &at);
    }
    let empty = "must be non-empty if specified";
    let (text, at) = (&of.message_expression, path.child("messageExpression"));
    if !text.is_empty() && text.trim().is_empty() {
        errors.push(FieldError::invalid(&at, text, empty));
    } else if !text.is_empty() {
        expressions.check(errors, text, (&[Type::String], May::MESSAGE), &at);
    }
    let (text, at) = (&of.message, path.child("message"));
    if !text.is_empty() && text.trim().is_empty() {
        errors.push(FieldError::invalid(&at, text, empty));
    } else if text.trim().contains(['\n', '\r']) {
        errors.push(FieldError::invalid(
            &at,
            text,
            "must not contain line breaks",
        ));
    }
    if let Some(reason) = &of.reason {
        rules::one_of(errors, reason, &REASONS, &path.child("reason"));
    }
}

fn check_annotations(
    errors: &mut Errors,
    expressions: &Expressions<'_>,
    policy: &ValidatingAdmissionPolicy,
    path: &FieldPath,
) {
    let all = &policy.spec.audit_annotations;
    if all.len() > ANNOTATIONS_MAX {
        let detail = format!("must not have more than {ANNOTATIONS_MAX} auditAnnotations");
        errors.push(FieldError::invalid(path, BadValue::json(all), detail));
    }
    let twice = rules::repeats(all.iter().map(|it| &it.key));
    for ((index, annotation), twice) in all.iter().enumerate().zip(twice) {
        let path = path.index(index);
        check_annotation(
            errors,
            expressions,
            (&policy.metadata.name, annotation),
            &path,
        );
        if twice {
            errors.push(FieldError::duplicate(&path.child("key"), &annotation.key));
        }
    }
}

fn check_annotation(
    errors: &mut Errors,
    expressions: &Expressions<'_>,
    (policy, of): (&str, &AuditAnnotation),
    path: &FieldPath,
) {
    let at = path.child("key");
    if policy.is_empty() {
        let detail = "requires metadata.name be non-empty";
        errors.push(FieldError::invalid(&at, &of.key, detail));
    } else {
        let name = format!("{policy}/{}", of.key);
        rules::text(errors, &name, &at, validate_name::qualified_name);
    }
    let (text, at) = (of.value_expression.trim(), path.child("valueExpression"));
    if text.is_empty() {
        errors.push(FieldError::required(
            &at,
            "valueExpression is not specified",
        ));
    } else if text.len() > ANNOTATION_BYTES_MAX {
        let detail = format!("must not exceed {ANNOTATION_BYTES_MAX} bytes in length");
        errors.push(FieldError::required(&at, detail));
    } else {
        let wanted = (&[Type::String, Type::Null][..], May::CONDITION);
        expressions.check(errors, text, wanted, &at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admissionregistration::admission_policy::ValidatingPolicies;
    use kubist_registry::KindStrategy as _;
    use serde_json::{Value, json};

    fn policy(members: &Value) -> ValidatingAdmissionPolicy {
        let mut spec = json!({
            "matchConstraints": {"resourceRules": [{
                "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["pods"],
            }]},
            "validations": [{"expression": "true"}],
        });
        for (name, value) in members.as_object().expect("it has members") {
            spec[name] = value.clone();
        }
        let policy = json!({"metadata": {"name": "p"}, "spec": spec});
        let mut policy = serde_json::from_value(policy).expect("it is a policy");
        ValidatingPolicies.apply_defaults(&mut policy);
        policy
    }

    fn problems(members: &Value) -> Vec<String> {
        let errors = check(&policy(members), None);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn expressions_compile_to_their_types() {
        assert_eq!(problems(&json!({})), [""; 0]);
        let rules = json!({
            "variables": [{"name": "a", "expression": "object.metadata.name"}],
            "validations": [
                {"expression": "variables.a == 'x'", "messageExpression": "string(variables.a)"},
                {"expression": "'text'", "messageExpression": "'no ' + string(1)"},
                {"expression": "authorizer.group('').resource('pods').check('get').allowed()",
                    "messageExpression": "authorizer.group('').resource('pods').check('get')\
                        .reason()"},
            ],
        });
        assert_eq!(
            problems(&rules)
                .iter()
                .map(|it| it.lines().next().unwrap_or_default())
                .collect::<Vec<_>>(),
            [
                "spec.validations[1].expression: Invalid value: \"'text'\": must evaluate to bool \
                 but got string",
                "spec.validations[2].messageExpression: Invalid value: \
                 \"authorizer.group('').resource('pods').check('get').reason()\": compilation \
                 failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container \
                 '')",
            ]
        );
    }

    #[test]
    fn conditions_cannot_use_variables_and_parameters_need_a_kind() {
        let rules = json!({
            "variables": [{"name": "a", "expression": "1"}],
            "matchConditions": [
                {"name": "v", "expression": "variables.a == 1"},
                {"name": "p", "expression": "params == null"},
            ],
        });
        let found = problems(&rules);
        assert_eq!(found.len(), 2);
        assert!(
            found[0].contains("undeclared reference to 'variables'"),
            "{found:?}"
        );
        assert!(
            found[1].contains("undeclared reference to 'params'"),
            "{found:?}"
        );
        let rules = json!({
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConditions": [{"name": "p", "expression": "params == null"}],
        });
        assert_eq!(problems(&rules), [""; 0]);
    }

    #[test]
    fn what_an_update_leaves_is_not_checked_again() {
        let rules = json!({"matchConditions": [{"name": "v", "expression": "nope"}]});
        let stored = policy(&rules);
        assert_eq!(check(&stored, Some(&stored)), []);
        assert_eq!(check(&stored, Some(&policy(&json!({})))).len(), 1);
    }

    #[test]
    fn a_policy_has_rules_and_says_what_it_is_about() {
        let rules = json!({"validations": [], "matchConstraints": {}});
        assert_eq!(
            problems(&rules),
            [
                "spec.matchConstraints.resourceRules: Required value",
                "spec.validations: Required value: validations or auditAnnotations must contain \
                 at least one item",
                "spec.auditAnnotations: Required value: validations or auditAnnotations must \
                 contain at least one item",
            ]
        );
    }
}
