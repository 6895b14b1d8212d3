//! `Policy`: a policy of either kind, compiled, with its bindings.

use super::binding::Binding;
use crate::matching::Criteria;
use kubist_api::admissionregistration::v1::{MatchResources, ParamKind};
use kubist_apimachinery::Str;
use std::sync::Arc;

/// A policy. `R` is what it demands or changes.
#[derive(Debug)]
pub(super) struct Policy<R> {
    pub(super) name: Str,
    /// None if the policy has no constraints, which it must have.
    pub(super) criteria: Option<Criteria>,
    pub(super) param_kind: Option<ParamKind>,
    /// Reports whether what fails lets the request pass.
    pub(super) fails_open: bool,
    pub(super) rules: R,
}

/// A policy with the bindings that put it in force.
#[derive(Debug)]
pub(super) struct Bound<R> {
    pub(super) policy: Arc<Policy<R>>,
    /// By name.
    pub(super) bindings: Vec<Arc<Binding>>,
}

impl<R> Policy<R> {
    pub(super) fn new(
        name: &str,
        constraints: Option<&MatchResources>,
        param_kind: Option<&ParamKind>,
        failure_policy: Option<&str>,
        rules: R,
    ) -> Self {
        Self {
            name: name.into(),
            criteria: constraints.map(Criteria::of_policy),
            param_kind: param_kind.cloned(),
            fails_open: failure_policy == Some("Ignore"),
            rules,
        }
    }
}
