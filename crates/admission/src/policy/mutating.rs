//! `MutatingPolicies`: the plugin `MutatingAdmissionPolicy`.
//!
//! Which policies change a request is decided before any of them does. Each then sees what those
//! before it, by name, made of the object.

use super::binding::Binding;
use super::definition::{Bound, Policy};
use super::exclusion::is_excluded;
use super::forms::{Forms, PolicyParts};
use super::metrics::{Evaluated, error_type};
use super::mutation::Mutation;
use super::params;
use super::patching::Unpatched;
use super::refusals::Refusals;
use crate::asked::{self, Asked};
use crate::expressions::{AccessQuestions, Verdict};
use crate::matching::Matched;
use crate::reinvoked::Reinvoked;
use kubist_apimachinery::{Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Side, Target};
use serde_json::Value as Json;
use tokio::time::Instant;

/// The plugin `MutatingAdmissionPolicy`.
#[derive(Clone, Debug)]
pub struct MutatingPolicies(PolicyParts);

/// A policy with a binding and a set of parameters that changes a request.
struct Invocation<'a> {
    policy: &'a Policy<Mutation>,
    binding: &'a Binding,
    matched: &'a Matched,
    params: Option<Json>,
}

/// What identifies an invocation: policy, binding, and parameters.
type Key = (Str, Str, String);

/// A request while it is changed.
struct Changing<'a> {
    parts: &'a PolicyParts,
    asked: &'a Asked<'a>,
    namespace: Option<Json>,
    questions: AccessQuestions,
    memory: Reinvoked<Key>,
    /// Reports whether any step was applied.
    is_dirty: bool,
}

impl MutatingPolicies {
    /// The name, as in `--disable-admission-plugins`.
    pub const NAME: &'static str = "MutatingAdmissionPolicy";

    /// Creates the plugin.
    pub fn new(parts: PolicyParts) -> Self {
        Self(parts)
    }

    async fn change(&self, attributes: &mut Attributes<'_>) -> Result<(), Status> {
        let in_force = self.0.table.mutating();
        let asked = Asked::of(attributes);
        let mut refusals = Refusals::default();
        let mut invocations = Vec::new();
        for bound in &in_force.bound {
            let of = self.invocations(attributes, &asked, bound, &mut refusals);
            invocations.extend(of.await);
        }
        if !invocations.is_empty() {
            let mut changing = Changing {
                parts: &self.0,
                asked: &asked,
                namespace: asked.namespace_object().await?,
                questions: AccessQuestions::new(attributes.user()),
                memory: Reinvoked::begin(Self::NAME, attributes),
                is_dirty: false,
            };
            for invocation in &invocations {
                changing
                    .invoke(attributes, invocation, &mut refusals)
                    .await?;
            }
            changing.end(attributes);
        }
        refusals.into_result(attributes)
    }

    /// Returns how a policy changes a request: with each binding and each set of parameters.
    async fn invocations<'b>(
        &self,
        attributes: &Attributes<'_>,
        asked: &'b Asked<'_>,
        bound: &'b Bound<Mutation>,
        refusals: &mut Refusals,
    ) -> Vec<Invocation<'b>> {
        let (policy, mut invocations) = (&*bound.policy, Vec::new());
        let (new, old) = (attributes.object(), attributes.old_object());
        let Some(criteria) = &policy.criteria else {
            let why = "policy contained no match constraints, a required field";
            refusals.not_configured(policy, None, why);
            return invocations;
        };
        let matched = match asked.matched(criteria, new, old).await {
            Ok(None) => return invocations,
            Ok(Some(matched)) => matched,
            Err(status) => {
                refusals.not_configured(policy, None, &status.message);
                return invocations;
            }
        };
        let source = self.0.table.params();
        let resource = match params::resource(source.as_ref(), policy.param_kind.as_ref()) {
            Ok(resource) => resource,
            Err(why) => {
                refusals.not_configured(policy, None, &why);
                return invocations;
            }
        };
        for binding in &bound.bindings {
            let found = params::of_binding(attributes, asked, binding, resource.as_ref());
            match found.await {
                Ok(all) => invocations.extend(all.into_iter().map(|params| Invocation {
                    policy,
                    binding,
                    matched,
                    params,
                })),
                Err(why) => refusals.not_configured(policy, Some(binding), &why),
            }
        }
        invocations
    }
}

impl Changing<'_> {
    async fn invoke(
        &mut self,
        attributes: &mut Attributes<'_>,
        invocation: &Invocation<'_>,
        refusals: &mut Refusals,
    ) -> Result<(), Status> {
        let Invocation {
            policy, binding, ..
        } = invocation;
        match self.judged(attributes, invocation).await? {
            Verdict::Matched => {}
            Verdict::NotMatched => return Ok(()),
            Verdict::Failed(why) => {
                refusals.failed(policy, binding, &why);
                return Ok(());
            }
        }
        let key = invocation.key();
        if !self.memory.is_due(&key) {
            return Ok(());
        }
        let mut is_changed = false;
        for step in 0..policy.rules.len() {
            let began = Instant::now();
            let outcome = self.step(attributes, invocation, step).await;
            self.count(invocation, began, &outcome);
            match outcome {
                Ok(changed) => is_changed |= changed,
                Err(Unpatched::Refused(status)) => return Err(*status),
                Err(Unpatched::Failed(why)) => refusals.failed(policy, binding, &why),
            }
        }
        if is_changed {
            self.memory.object_changed(attributes);
        }
        if policy.rules.is_reinvoked {
            self.memory.was_invoked(key);
        }
        Ok(())
    }

    /// Counts a step of a policy, which began at that time.
    fn count(
        &self,
        invocation: &Invocation<'_>,
        began: Instant,
        outcome: &Result<bool, Unpatched>,
    ) {
        let error_type = match outcome {
            Ok(_) => "no_error",
            Err(Unpatched::Failed(why)) => error_type(why),
            Err(Unpatched::Refused(_)) => "invalid_error",
        };
        self.parts.table.metrics().mutated(Evaluated {
            policy: &invocation.policy.name,
            binding: &invocation.binding.name,
            error_type,
            took: began.elapsed(),
        });
    }

    async fn judged(
        &self,
        attributes: &Attributes<'_>,
        invocation: &Invocation<'_>,
    ) -> Result<Verdict, Status> {
        let forms = self.forms(attributes, invocation).await?;
        Ok(loop {
            let inputs = forms.inputs(invocation.params.as_ref(), &self.questions);
            let verdict = invocation.policy.rules.judge(&inputs);
            if !self.questions.settle(&*self.parts.authorizer).await {
                break verdict;
            }
        })
    }

    /// Runs one step, and reports whether the object changed.
    async fn step(
        &mut self,
        attributes: &mut Attributes<'_>,
        invocation: &Invocation<'_>,
        step: usize,
    ) -> Result<bool, Unpatched> {
        let forms = self.forms(attributes, invocation).await;
        let forms = forms.map_err(|status| Unpatched::Refused(Box::new(status)))?;
        // A connection has options in place of an object, which cannot be changed.
        let before = forms.object().filter(|_| attributes.object().is_some());
        let Some(before) = before.cloned() else {
            return Ok(false);
        };
        let version = asked::api_version(invocation.matched);
        let object_type = attributes.object_type(&version);
        let patched = loop {
            let inputs = forms.inputs(invocation.params.as_ref(), &self.questions);
            let rules = &invocation.policy.rules;
            let patched = rules.patched(step, &inputs, &before, object_type.as_ref());
            if !self.questions.settle(&*self.parts.authorizer).await {
                break patched?;
            }
        };
        let refused = |why: Status| Unpatched::Refused(Box::new(Status::internal_error(why)));
        attributes.replace(patched).await.map_err(refused)?;
        self.is_dirty = true;
        let after = attributes.json(Side::New, &version).await;
        Ok(after.map_err(refused)? != Some(before))
    }

    async fn forms(
        &self,
        attributes: &Attributes<'_>,
        invocation: &Invocation<'_>,
    ) -> Result<Forms, Status> {
        let namespace = self.namespace.clone();
        let forms = Forms::of(attributes, self.asked, invocation.matched, namespace).await;
        forms.map_err(Status::internal_error)
    }

    fn end(mut self, attributes: &mut Attributes<'_>) {
        if self.is_dirty {
            self.memory.object_changed(attributes);
        }
        self.memory.end(MutatingPolicies::NAME, attributes);
    }
}

impl Invocation<'_> {
    fn key(&self) -> Key {
        let params = self.params.as_ref().map(|it| {
            let meta = &it["metadata"];
            let text = |name: &str| meta[name].as_str().unwrap_or_default().to_owned();
            format!("{}/{}", text("namespace"), text("name"))
        });
        let (policy, binding) = (&self.policy.name, &self.binding.name);
        (policy.clone(), binding.clone(), params.unwrap_or_default())
    }
}

impl AdmissionPlugin for MutatingPolicies {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn validates(&self) -> bool {
        false
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let operation = asked::operations(target.operation);
        let table = &self.0.table;
        target.operation != Operation::Delete
            && table.may_mutate(target.resource.plural, operation)
            && !is_excluded(target)
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(self.change(attributes))
    }
}
