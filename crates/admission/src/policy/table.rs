//! `PolicyTable`: the policies and bindings in force, compiled.

use super::binding::Binding;
use super::definition::{Bound, Policy};
use super::metrics::PolicyMetrics;
use super::mutation::Mutation;
use super::params::ParamSource;
use super::validation::Validation;
use crate::matching::{Criteria, Operations, ResourceIndex};
use kubist_api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
};
use kubist_apimachinery::Str;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// The policies and bindings in force. Shared by the plugins and by whoever follows them; a change
/// counts for every request that is admitted after it.
#[derive(Debug, Default)]
pub struct PolicyTable {
    validating: RwLock<Kind<Validation>>,
    mutating: RwLock<Kind<Mutation>>,
    params: RwLock<Option<Weak<dyn ParamSource>>>,
    metrics: PolicyMetrics,
}

/// The policies of one kind, with their bindings.
#[derive(Debug)]
struct Kind<R> {
    policies: BTreeMap<Str, Arc<Policy<R>>>,
    bindings: BTreeMap<Str, Arc<Binding>>,
    in_force: Arc<InForce<R>>,
}

/// The policies that have bindings.
#[derive(Debug)]
pub(super) struct InForce<R> {
    /// By name.
    pub(super) bound: Vec<Bound<R>>,
    index: ResourceIndex,
}

impl<R> Default for Kind<R> {
    fn default() -> Self {
        Self {
            policies: BTreeMap::new(),
            bindings: BTreeMap::new(),
            in_force: Arc::new(InForce {
                bound: Vec::new(),
                index: ResourceIndex::default(),
            }),
        }
    }
}

impl<R> Kind<R> {
    /// Computes what is in force, after a change.
    fn settle(&mut self) {
        let mut of_policy: BTreeMap<&Str, Vec<Arc<Binding>>> = BTreeMap::new();
        for binding in self.bindings.values() {
            let bindings = of_policy.entry(&binding.policy).or_default();
            bindings.push(Arc::clone(binding));
        }
        let (mut bound, mut index) = (Vec::new(), ResourceIndex::default());
        for (name, policy) in &self.policies {
            let Some(bindings) = of_policy.remove(name) else {
                continue;
            };
            match policy.criteria.as_ref().map(Criteria::rules) {
                None | Some([]) => index.add_everything(),
                Some(rules) => rules.iter().for_each(|it| index.add(it)),
            }
            bound.push(Bound {
                policy: Arc::clone(policy),
                bindings,
            });
        }
        self.in_force = Arc::new(InForce { bound, index });
    }
}

impl PolicyTable {
    /// Returns what is counted of policies.
    pub fn metrics(&self) -> &PolicyMetrics {
        &self.metrics
    }

    /// Sets where parameters are found, as long as the source is there. Without one, policies with
    /// parameters fail.
    pub fn find_params_in(&self, source: &Arc<dyn ParamSource>) {
        *self.params.write() = Some(Arc::downgrade(source));
    }

    /// Adds or replaces a validating policy.
    pub fn put_validating(&self, of: &ValidatingAdmissionPolicy) {
        let (name, policy) = validating(of);
        change(&self.validating, |kind| {
            drop(kind.policies.insert(name, policy));
        });
    }

    /// Removes a validating policy, if it is there.
    pub fn remove_validating(&self, name: &str) {
        change(&self.validating, |kind| drop(kind.policies.remove(name)));
    }

    /// Replaces all validating policies, in one step.
    pub fn replace_validating(&self, all: &[&ValidatingAdmissionPolicy]) {
        let all = all.iter().map(|it| validating(it)).collect();
        change(&self.validating, |kind| kind.policies = all);
    }

    /// Adds or replaces a binding of a validating policy.
    pub fn put_validating_binding(&self, of: &ValidatingAdmissionPolicyBinding) {
        let (name, binding) = validating_binding(of);
        change(&self.validating, |kind| {
            drop(kind.bindings.insert(name, binding));
        });
    }

    /// Removes a binding of a validating policy, if it is there.
    pub fn remove_validating_binding(&self, name: &str) {
        change(&self.validating, |kind| drop(kind.bindings.remove(name)));
    }

    /// Replaces all bindings of validating policies, in one step.
    pub fn replace_validating_bindings(&self, all: &[&ValidatingAdmissionPolicyBinding]) {
        let all = all.iter().map(|it| validating_binding(it)).collect();
        change(&self.validating, |kind| kind.bindings = all);
    }

    /// Adds or replaces a mutating policy.
    pub fn put_mutating(&self, of: &MutatingAdmissionPolicy) {
        let (name, policy) = mutating(of);
        change(&self.mutating, |kind| {
            drop(kind.policies.insert(name, policy));
        });
    }

    /// Removes a mutating policy, if it is there.
    pub fn remove_mutating(&self, name: &str) {
        change(&self.mutating, |kind| drop(kind.policies.remove(name)));
    }

    /// Replaces all mutating policies, in one step.
    pub fn replace_mutating(&self, all: &[&MutatingAdmissionPolicy]) {
        let all = all.iter().map(|it| mutating(it)).collect();
        change(&self.mutating, |kind| kind.policies = all);
    }

    /// Adds or replaces a binding of a mutating policy.
    pub fn put_mutating_binding(&self, of: &MutatingAdmissionPolicyBinding) {
        let (name, binding) = mutating_binding(of);
        change(&self.mutating, |kind| {
            drop(kind.bindings.insert(name, binding));
        });
    }

    /// Removes a binding of a mutating policy, if it is there.
    pub fn remove_mutating_binding(&self, name: &str) {
        change(&self.mutating, |kind| drop(kind.bindings.remove(name)));
    }

    /// Replaces all bindings of mutating policies, in one step.
    pub fn replace_mutating_bindings(&self, all: &[&MutatingAdmissionPolicyBinding]) {
        let all = all.iter().map(|it| mutating_binding(it)).collect();
        change(&self.mutating, |kind| kind.bindings = all);
    }

    pub(super) fn params(&self) -> Option<Arc<dyn ParamSource>> {
        self.params.read().as_ref()?.upgrade()
    }

    pub(super) fn validating(&self) -> Arc<InForce<Validation>> {
        Arc::clone(&self.validating.read().in_force)
    }

    pub(super) fn mutating(&self) -> Arc<InForce<Mutation>> {
        Arc::clone(&self.mutating.read().in_force)
    }

    pub(super) fn may_mutate(&self, plural: &str, operation: Operations) -> bool {
        let kind = self.mutating.read();
        kind.in_force.index.may_match(plural, operation)
    }

    pub(super) fn may_validate(&self, plural: &str, operation: Operations) -> bool {
        let kind = self.validating.read();
        kind.in_force.index.may_match(plural, operation)
    }
}

fn validating(of: &ValidatingAdmissionPolicy) -> (Str, Arc<Policy<Validation>>) {
    (of.metadata.name.clone(), Arc::new(Validation::policy(of)))
}

fn validating_binding(of: &ValidatingAdmissionPolicyBinding) -> (Str, Arc<Binding>) {
    (of.metadata.name.clone(), Arc::new(Binding::validating(of)))
}

fn mutating(of: &MutatingAdmissionPolicy) -> (Str, Arc<Policy<Mutation>>) {
    (of.metadata.name.clone(), Arc::new(Mutation::policy(of)))
}

fn mutating_binding(of: &MutatingAdmissionPolicyBinding) -> (Str, Arc<Binding>) {
    (of.metadata.name.clone(), Arc::new(Binding::mutating(of)))
}

fn change<R>(kind: &RwLock<Kind<R>>, change: impl FnOnce(&mut Kind<R>)) {
    let mut kind = kind.write();
    change(&mut kind);
    kind.settle();
}
