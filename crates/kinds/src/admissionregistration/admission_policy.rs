//! ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings. They are stored but
//! not evaluated.

use super::FACTS;
use crate::shared::fill;
use kubist_api::admissionregistration::v1::{
    MatchResources, MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ParamRef,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kubist_apimachinery::Str;
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
}

impl KindStrategy for ValidatingBindings {
    type Kind = ValidatingAdmissionPolicyBinding;
    const FACTS: &'static StrategyFacts = FACTS;

    fn apply_defaults(&self, object: &mut ValidatingAdmissionPolicyBinding) {
        let spec = &mut object.spec;
        default_binding(&mut spec.param_ref, &mut spec.match_resources);
    }
}

impl KindStrategy for MutatingPolicies {
    type Kind = MutatingAdmissionPolicy;
    const FACTS: &'static StrategyFacts = FACTS;

    fn apply_defaults(&self, object: &mut MutatingAdmissionPolicy) {
        let spec = &mut object.spec;
        default_policy(&mut spec.failure_policy, &mut spec.match_constraints);
    }
}

impl KindStrategy for MutatingBindings {
    type Kind = MutatingAdmissionPolicyBinding;
    const FACTS: &'static StrategyFacts = FACTS;

    fn apply_defaults(&self, object: &mut MutatingAdmissionPolicyBinding) {
        let spec = &mut object.spec;
        default_binding(&mut spec.param_ref, &mut spec.match_resources);
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
