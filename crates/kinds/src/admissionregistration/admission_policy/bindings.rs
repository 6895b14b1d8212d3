//! Checks of the bindings of policies.

use crate::admissionregistration::matching::{self, check_param_ref, check_resources};
use crate::shared::rules::{self, Errors};
use kubist_api::admissionregistration::v1::{
    MatchResources, MutatingAdmissionPolicyBindingSpec, ParamRef,
    ValidatingAdmissionPolicyBindingSpec,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

pub(super) fn check_validating(spec: &ValidatingAdmissionPolicyBindingSpec) -> Errors {
    let (mut errors, path) = (Errors::new(), FieldPath::new("spec"));
    let (params, matched) = (spec.param_ref.as_deref(), spec.match_resources.as_deref());
    check(&mut errors, &spec.policy_name, params, matched);
    check_actions(
        &mut errors,
        &spec.validation_actions,
        &path.child("validationActions"),
    );
    errors
}

pub(super) fn check_mutating(spec: &MutatingAdmissionPolicyBindingSpec) -> Errors {
    let (mut errors, path) = (Errors::new(), FieldPath::new("spec"));
    let (params, matched) = (spec.param_ref.as_deref(), spec.match_resources.as_deref());
    check(&mut errors, &spec.policy_name, params, matched);
    matching::check_mutating(&mut errors, matched, &path.child("matchResources"));
    errors
}

fn check(
    errors: &mut Errors,
    policy: &str,
    params: Option<&ParamRef>,
    matched: Option<&MatchResources>,
) {
    let path = FieldPath::new("spec");
    let at = path.child("policyName");
    if rules::required(errors, policy, &at) {
        rules::text(errors, policy, &at, validate_name::dns1123_subdomain);
    }
    check_param_ref(errors, params, &path.child("paramRef"));
    if let Some(matched) = matched {
        check_resources(errors, matched, &path.child("matchResources"));
    }
}

fn check_actions(errors: &mut Errors, actions: &[Str], path: &FieldPath) {
    let twice = rules::repeats(actions);
    for ((index, action), twice) in actions.iter().enumerate().zip(twice) {
        rules::one_of(errors, action, &ACTIONS, &path.index(index));
        if twice {
            errors.push(FieldError::duplicate(&path.index(index), action));
        }
    }
    let has = |name: &str| actions.iter().any(|it| *it == name);
    if has("Deny") && has("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure \
                      information in the API response and headers serves no purpose)";
        errors.push(FieldError::invalid(path, BadValue::json(actions), detail));
    }
    if actions.is_empty() {
        let detail = "at least one validation action is required";
        errors.push(FieldError::required(path, detail));
    }
}
