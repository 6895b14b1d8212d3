//! `Refusals`: why mutating policies refuse a request.

use super::binding::Binding;
use super::definition::Policy;
use super::mutation::Mutation;
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::{Status, StatusCause};
use kubist_registry::admission::Attributes;

/// The failures of mutating policies that do not ignore them.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    messages: Vec<String>,
    /// Reports whether the first is about the policy's expressions, not its configuration.
    is_invalid: bool,
}

impl Refusals {
    /// Notes that a policy or a binding cannot be used for the request.
    pub(super) fn not_configured(
        &mut self,
        policy: &Policy<Mutation>,
        binding: Option<&Binding>,
        why: &str,
    ) {
        let what = if binding.is_some() {
            "binding"
        } else {
            "policy"
        };
        self.add(
            policy,
            binding,
            &format!("failed to configure {what}: {why}"),
        );
    }

    /// Notes that an expression of a policy failed.
    pub(super) fn failed(&mut self, policy: &Policy<Mutation>, binding: &Binding, why: &str) {
        self.is_invalid |= self.messages.is_empty() && !policy.fails_open;
        self.add(policy, Some(binding), why);
    }

    fn add(&mut self, policy: &Policy<Mutation>, binding: Option<&Binding>, why: &str) {
        if policy.fails_open {
            return;
        }
        self.messages.push(match binding {
            Some(binding) => format!(
                "policy '{}' with binding '{}' denied request: {why}",
                policy.name, binding.name
            ),
            None => format!("policy {} denied request: {why}", quote(&policy.name)),
        });
    }

    /// Returns the answer to the client, as upstream: the first failure, with all as causes.
    pub(super) fn into_result(self, attributes: &Attributes<'_>) -> Result<(), Status> {
        let Some(first) = self.messages.first() else {
            return Ok(());
        };
        let mut status = attributes.forbidden("admission request denied by policy");
        status.message = first.as_str().into();
        if self.is_invalid {
            status.reason = "Invalid".into();
        }
        let details = status.details.get_or_insert_default();
        details
            .causes
            .extend(self.messages.iter().map(|it| StatusCause {
                message: it.as_str().into(),
                ..StatusCause::default()
            }));
        Err(status)
    }
}
