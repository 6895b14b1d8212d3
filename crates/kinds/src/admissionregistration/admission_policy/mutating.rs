//! Checks of mutating policies.

use crate::admissionregistration::expressions::{Expressions, May};
use crate::admissionregistration::matching::{self, check_constraints, check_param_kind};
use crate::shared::rules::{self, Errors};
use kubist_api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicySpec, Mutation,
};
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_cel::{Type, admission};

const PATCH_TYPES: [&str; 2] = ["ApplyConfiguration", "JSONPatch"];

/// Checks a policy. What an update leaves as it was may use what a newer server had.
pub(super) fn check(
    new: &MutatingAdmissionPolicy,
    old: Option<&MutatingAdmissionPolicy>,
) -> Errors {
    let (mut errors, path) = (Errors::new(), FieldPath::new("spec"));
    let (spec, of_old) = (&new.spec, old.map(|it| &it.spec));
    let failure_policy = spec.failure_policy.as_deref().unwrap_or_default();
    let at = path.child("failurePolicy");
    rules::word(&mut errors, failure_policy, &["Fail", "Ignore"], &at);
    if let Some(kind) = &spec.param_kind {
        check_param_kind(&mut errors, kind, &path.child("paramKind"));
    }
    let (constraints, at) = (
        spec.match_constraints.as_deref(),
        path.child("matchConstraints"),
    );
    check_constraints(&mut errors, constraints, &at);
    matching::check_mutating(&mut errors, constraints, &at);
    let known = of_old.into_iter().flat_map(texts);
    let expressions = Expressions::new(spec.param_kind.is_some(), known);
    let is_same = |old: &MutatingAdmissionPolicySpec| {
        old.param_kind == spec.param_kind && old.match_conditions == spec.match_conditions
    };
    if !of_old.is_some_and(is_same) {
        let at = path.child("matchConditions");
        expressions.conditions(&mut errors, &spec.match_conditions, &at);
    }
    let mut expressions = expressions.with_variables();
    expressions.variables(&mut errors, &spec.variables, &path.child("variables"));
    if spec.mutations.is_empty() {
        let detail = "mutations must contain at least one item";
        errors.push(FieldError::required(&path.child("mutations"), detail));
    }
    for (index, mutation) in spec.mutations.iter().enumerate() {
        let path = path.child("mutations").index(index);
        check_mutation(&mut errors, &expressions, mutation, &path);
    }
    let at = path.child("reinvocationPolicy");
    rules::word(
        &mut errors,
        &spec.reinvocation_policy,
        &["IfNeeded", "Never"],
        &at,
    );
    errors
}

/// Returns all expressions.
fn texts(spec: &MutatingAdmissionPolicySpec) -> impl Iterator<Item = &str> {
    let conditions = spec.match_conditions.iter().map(|it| it.expression.trim());
    let variables = spec.variables.iter().map(|it| &*it.expression);
    let mutations = spec.mutations.iter().flat_map(|it| {
        let patch = it.json_patch.iter().map(|it| it.expression.trim());
        let config = it.apply_configuration.iter();
        patch.chain(config.map(|it| it.expression.trim()))
    });
    conditions.chain(variables).chain(mutations)
}

fn check_mutation(
    errors: &mut Errors,
    expressions: &Expressions<'_>,
    of: &Mutation,
    path: &FieldPath,
) {
    let patch = of.json_patch.as_deref().map(|it| it.expression.trim());
    let config = of
        .apply_configuration
        .as_deref()
        .map(|it| it.expression.trim());
    let (patch, config) = (("jsonPatch", patch), ("applyConfiguration", config));
    let (own, other, wanted) = match of.patch_type.as_str() {
        "JSONPatch" => (patch, config, admission::json_patch_type()),
        "ApplyConfiguration" => (config, patch, admission::apply_configuration_type()),
        _ => {
            rules::word(
                errors,
                &of.patch_type,
                &PATCH_TYPES,
                &path.child("patchType"),
            );
            return;
        }
    };
    check_patch(errors, expressions, (own, &of.patch_type, wanted), path);
    if other.1.is_some() {
        let detail = format!("must not be specified when patchType is {}", of.patch_type);
        let shown = format!("{{{}}}", other.0);
        errors.push(FieldError::invalid(
            &path.child(other.0),
            shown.as_str(),
            detail,
        ));
    }
}

fn check_patch(
    errors: &mut Errors,
    expressions: &Expressions<'_>,
    ((name, text), patch_type, wanted): ((&str, Option<&str>), &str, Type),
    path: &FieldPath,
) {
    let path = path.child(name);
    let Some(text) = text else {
        let detail = format!("must be specified when patchType is {patch_type}");
        errors.push(FieldError::required(&path, detail));
        return;
    };
    let at = path.child("expression");
    if rules::required(errors, text, &at) {
        expressions.check(errors, text, (&[wanted], May::PATCH), &at);
    }
}
