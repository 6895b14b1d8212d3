//! ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings. Their expressions are
//! compiled when they are written, with the environments that they are evaluated in.

mod bindings;
mod mutating;
mod validating;

use super::FACTS;
use crate::shared::fill;
use kubist_api::admissionregistration::v1::{
    MatchResources, MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ParamRef,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kubist_apimachinery::{FieldError, Str};
use kubist_registry::{KindStrategy, StatusKeeps, StrategyFacts};

#[derive(Debug)]
pub(crate) struct ValidatingPolicies;

#[derive(Debug)]
pub(crate) struct ValidatingBindings;

#[derive(Debug)]
pub(crate) struct MutatingPolicies;

#[derive(Debug)]
pub(crate) struct MutatingBindings;

impl KindStrategy for ValidatingPolicies {
    type Kind = ValidatingAdmissionPolicy;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        status_keeps: StatusKeeps::Everything,
        ..*FACTS
    };

    fn apply_defaults(&self, object: &mut ValidatingAdmissionPolicy) {
        let spec = &mut object.spec;
        default_policy(&mut spec.failure_policy, &mut spec.match_constraints);
    }
    fn validate(&self, new: &ValidatingAdmissionPolicy) -> Vec<FieldError> {
        validating::check(new, None)
    }
    fn validate_update(
        &self,
        new: &ValidatingAdmissionPolicy,
        old: &ValidatingAdmissionPolicy,
    ) -> Vec<FieldError> {
        validating::check(new, Some(old))
    }
}

impl KindStrategy for ValidatingBindings {
    type Kind = ValidatingAdmissionPolicyBinding;
    const FACTS: &'static StrategyFacts = FACTS;

    fn apply_defaults(&self, object: &mut ValidatingAdmissionPolicyBinding) {
        let spec = &mut object.spec;
        default_binding(&mut spec.param_ref, &mut spec.match_resources);
    }
    fn validate(&self, new: &ValidatingAdmissionPolicyBinding) -> Vec<FieldError> {
        bindings::check_validating(&new.spec)
    }
}

impl KindStrategy for MutatingPolicies {
    type Kind = MutatingAdmissionPolicy;
    const FACTS: &'static StrategyFacts = FACTS;

    fn apply_defaults(&self, object: &mut MutatingAdmissionPolicy) {
        let spec = &mut object.spec;
        default_policy(&mut spec.failure_policy, &mut spec.match_constraints);
    }
    fn validate(&self, new: &MutatingAdmissionPolicy) -> Vec<FieldError> {
        mutating::check(new, None)
    }
    fn validate_update(
        &self,
        new: &MutatingAdmissionPolicy,
        old: &MutatingAdmissionPolicy,
    ) -> Vec<FieldError> {
        mutating::check(new, Some(old))
    }
}

impl KindStrategy for MutatingBindings {
    type Kind = MutatingAdmissionPolicyBinding;
    const FACTS: &'static StrategyFacts = FACTS;

    fn apply_defaults(&self, object: &mut MutatingAdmissionPolicyBinding) {
        let spec = &mut object.spec;
        default_binding(&mut spec.param_ref, &mut spec.match_resources);
    }
    fn validate(&self, new: &MutatingAdmissionPolicyBinding) -> Vec<FieldError> {
        bindings::check_mutating(&new.spec)
    }
}

fn default_policy(failure: &mut Option<Str>, matched: &mut Option<Box<MatchResources>>) {
    fill::option(failure, "Fail");
    if let Some(matched) = matched {
        default_matched(matched);
    }
}

fn default_binding(
    parameters: &mut Option<Box<ParamRef>>,
    matched: &mut Option<Box<MatchResources>>,
) {
    if let Some(parameters) = parameters {
        fill::option(&mut parameters.parameter_not_found_action, "Deny");
    }
    if let Some(matched) = matched {
        default_matched(matched);
    }
}

fn default_matched(matched: &mut MatchResources) {
    fill::option(&mut matched.match_policy, "Equivalent");
    matched.namespace_selector.get_or_insert_default();
    matched.object_selector.get_or_insert_default();
    for rule in matched
        .resource_rules
        .iter_mut()
        .chain(&mut matched.exclude_resource_rules)
    {
        fill::option(&mut rule.scope, "*");
    }
}
