//! ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings. They are kept, and
//! nothing evaluates them.

use kubist_api::admissionregistration::v1::{
    MatchResources, MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kubist_apimachinery::FieldError;
use kubist_registry::{Generation, KindStrategy, MetadataRules, StatusKeeps};

use crate::shared::{fill, metadata_checks};

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

    fn apply_defaults(&self, object: &mut ValidatingAdmissionPolicy) {
        fill::option(&mut object.spec.failure_policy, "Fail");
        if let Some(matched) = &mut object.spec.match_constraints {
            default_matched(matched);
        }
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Everything
    }
    fn validate_update(
        &self,
        new: &ValidatingAdmissionPolicy,
        _: &ValidatingAdmissionPolicy,
    ) -> Vec<FieldError> {
        metadata_checks::whole(self, new)
    }
    fn checks_metadata(&self) -> bool {
        true
    }
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Lenient
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
}

impl KindStrategy for ValidatingBindings {
    type Kind = ValidatingAdmissionPolicyBinding;

    fn apply_defaults(&self, object: &mut ValidatingAdmissionPolicyBinding) {
        if let Some(parameters) = &mut object.spec.param_ref {
            fill::option(&mut parameters.parameter_not_found_action, "Deny");
        }
        if let Some(matched) = &mut object.spec.match_resources {
            default_matched(matched);
        }
    }
    fn validate_update(
        &self,
        new: &ValidatingAdmissionPolicyBinding,
        _: &ValidatingAdmissionPolicyBinding,
    ) -> Vec<FieldError> {
        metadata_checks::whole(self, new)
    }
    fn checks_metadata(&self) -> bool {
        true
    }
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Lenient
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
}

impl KindStrategy for MutatingPolicies {
    type Kind = MutatingAdmissionPolicy;

    fn apply_defaults(&self, object: &mut MutatingAdmissionPolicy) {
        fill::option(&mut object.spec.failure_policy, "Fail");
        if let Some(matched) = &mut object.spec.match_constraints {
            default_matched(matched);
        }
    }
    fn validate_update(
        &self,
        new: &MutatingAdmissionPolicy,
        _: &MutatingAdmissionPolicy,
    ) -> Vec<FieldError> {
        metadata_checks::whole(self, new)
    }
    fn checks_metadata(&self) -> bool {
        true
    }
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Lenient
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
}

impl KindStrategy for MutatingBindings {
    type Kind = MutatingAdmissionPolicyBinding;

    fn apply_defaults(&self, object: &mut MutatingAdmissionPolicyBinding) {
        if let Some(parameters) = &mut object.spec.param_ref {
            fill::option(&mut parameters.parameter_not_found_action, "Deny");
        }
        if let Some(matched) = &mut object.spec.match_resources {
            default_matched(matched);
        }
    }
    fn validate_update(
        &self,
        new: &MutatingAdmissionPolicyBinding,
        _: &MutatingAdmissionPolicyBinding,
    ) -> Vec<FieldError> {
        metadata_checks::whole(self, new)
    }
    fn checks_metadata(&self) -> bool {
        true
    }
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Lenient
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn allow_unconditional_update(&self) -> bool {
        false
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
