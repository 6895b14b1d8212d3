//! `DynamicAdmission`: the stored webhooks and policies, as part of a server.

use crate::authorization::authorizer::Authorization;
use kubist_admission::{
    MutatingPolicies, MutatingWebhooks, PolicyParts, PolicyTable, ValidatingPolicies,
    ValidatingWebhooks, WebhookParts, WebhookTable,
};
use kubist_registry::WebhookCaller;
use kubist_registry::admission::AdmissionPlugin;
use std::sync::Arc;

/// The stored webhooks and policies. Their [plugins](Self::plugins) belong into the chain of a
/// registry, and the value into the [configuration](crate::Config::admission) of the server that
/// serves it, which follows them. Clones share everything.
#[derive(Clone, Debug, Default)]
pub struct DynamicAdmission {
    pub(crate) webhooks: Arc<WebhookTable>,
    pub(crate) policies: Arc<PolicyTable>,
}

impl DynamicAdmission {
    /// Creates it without webhooks and policies: the server finds them.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the plugins. Webhooks are called by `caller`; without one, each call fails.
    /// `authorization` is asked by expressions what a user may do.
    pub fn plugins(
        &self,
        caller: Option<Arc<dyn WebhookCaller>>,
        authorization: &Authorization,
    ) -> Vec<Arc<dyn AdmissionPlugin>> {
        let webhooks = WebhookParts {
            table: Arc::clone(&self.webhooks),
            caller,
            authorizer: authorization.authorizer(),
        };
        let policies = PolicyParts {
            table: Arc::clone(&self.policies),
            authorizer: authorization.authorizer(),
        };
        vec![
            Arc::new(MutatingPolicies::new(policies.clone())),
            Arc::new(MutatingWebhooks::new(webhooks.clone())),
            Arc::new(ValidatingPolicies::new(policies)),
            Arc::new(ValidatingWebhooks::new(webhooks)),
        ]
    }
}
