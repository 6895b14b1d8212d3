//! `Binding`: where a policy is in force, with which parameters and consequences.

use crate::matching::Criteria;
use kubist_api::admissionregistration::v1::{
    MutatingAdmissionPolicyBinding, ParamRef, ValidatingAdmissionPolicyBinding,
};
use kubist_apimachinery::{Selector, Str};

/// A binding of a policy.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) name: Str,
    pub(super) policy: Str,
    /// None: all requests that the policy matches.
    pub(super) criteria: Option<Criteria>,
    pub(super) params: Option<Params>,
    /// What follows from a violation; a mutating policy has none.
    pub(super) actions: Vec<Str>,
}

/// The parameters of a binding.
#[derive(Debug)]
pub(super) struct Params {
    pub(super) choice: Choice,
    /// The namespace; empty for that of the request.
    pub(super) namespace: Str,
    /// Reports whether a request is refused if there are none.
    pub(super) denies_missing: bool,
}

/// Which objects are the parameters.
#[derive(Debug)]
pub(super) enum Choice {
    Name(Str),
    Selector(Selector),
    /// Upstream's words for what is wrong with the reference.
    Invalid(String),
}

impl Binding {
    pub(super) fn validating(of: &ValidatingAdmissionPolicyBinding) -> Self {
        let spec = &of.spec;
        Self {
            name: of.metadata.name.clone(),
            policy: spec.policy_name.clone(),
            criteria: spec.match_resources.as_deref().map(Criteria::of_policy),
            params: spec.param_ref.as_deref().map(Params::of),
            actions: spec.validation_actions.clone(),
        }
    }

    pub(super) fn mutating(of: &MutatingAdmissionPolicyBinding) -> Self {
        let spec = &of.spec;
        Self {
            name: of.metadata.name.clone(),
            policy: spec.policy_name.clone(),
            criteria: spec.match_resources.as_deref().map(Criteria::of_policy),
            params: spec.param_ref.as_deref().map(Params::of),
            actions: Vec::new(),
        }
    }
}

impl Params {
    fn of(reference: &ParamRef) -> Self {
        let choice = match (reference.name.as_str(), reference.selector.as_deref()) {
            ("", None) => Choice::Invalid("one of name or selector must be provided".to_owned()),
            ("", Some(selector)) => match Selector::try_from(selector) {
                Ok(selector) => Choice::Selector(selector),
                Err(error) => Choice::Invalid(error.to_string()),
            },
            (_, Some(_)) => Choice::Invalid(
                "paramRef.name and paramRef.selector are mutually exclusive".to_owned(),
            ),
            (name, None) => Choice::Name(name.into()),
        };
        Self {
            choice,
            namespace: reference.namespace.clone(),
            denies_missing: reference.parameter_not_found_action.as_deref() == Some("Deny"),
        }
    }
}
