//! Follows the stored webhooks and policies, and keeps the tables of admission up to date.

use super::dynamic::DynamicAdmission;
use super::param_kinds::ParamKinds;
use crate::following::{self, Followed};
use kubist_admission::{ParamSource, PolicyTable, WebhookTable};
use kubist_api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};
use kubist_apimachinery::Status;
use kubist_registry::Registry;
use std::sync::Arc;

/// Implements [`Followed`] for a kind by the functions of its table.
macro_rules! followed {
    ($kind:ty, $table:ty, $put:ident, $remove:ident, $replace:ident) => {
        impl Followed<$table> for $kind {
            fn put(&self, to: &$table) {
                to.$put(self);
            }
            fn remove(from: &$table, _namespace: &str, name: &str) {
                from.$remove(name);
            }
            fn replace(of: &$table, all: &[&Self]) {
                of.$replace(all);
            }
        }
    };
}

followed!(
    ValidatingWebhookConfiguration,
    WebhookTable,
    put_validating,
    remove_validating,
    replace_validating
);
followed!(
    MutatingWebhookConfiguration,
    WebhookTable,
    put_mutating,
    remove_mutating,
    replace_mutating
);
followed!(
    ValidatingAdmissionPolicy,
    PolicyTable,
    put_validating,
    remove_validating,
    replace_validating
);
followed!(
    ValidatingAdmissionPolicyBinding,
    PolicyTable,
    put_validating_binding,
    remove_validating_binding,
    replace_validating_bindings
);

followed!(
    MutatingAdmissionPolicy,
    PolicyTable,
    put_mutating,
    remove_mutating,
    replace_mutating
);
followed!(
    MutatingAdmissionPolicyBinding,
    PolicyTable,
    put_mutating_binding,
    remove_mutating_binding,
    replace_mutating_bindings
);

/// Reads all webhooks and policies once, so that a server obeys them from its first request.
///
/// # Errors
/// Those of the storage.
pub(crate) async fn load(registry: &Registry, of: &DynamicAdmission) -> Result<(), Status> {
    let (webhooks, policies) = (&*of.webhooks, &*of.policies);
    following::load::<MutatingWebhookConfiguration, _>(registry, webhooks).await?;
    following::load::<ValidatingWebhookConfiguration, _>(registry, webhooks).await?;
    following::load::<MutatingAdmissionPolicyBinding, _>(registry, policies).await?;
    following::load::<MutatingAdmissionPolicy, _>(registry, policies).await?;
    following::load::<ValidatingAdmissionPolicyBinding, _>(registry, policies).await?;
    following::load::<ValidatingAdmissionPolicy, _>(registry, policies).await
}

/// Follows the webhooks and policies of a registry, and finds the parameters of policies in it
/// meanwhile. Never returns.
///
/// # Cancel safety
/// Can be dropped at any time. The tables then stay as they are.
pub(crate) async fn follow(registry: &Registry, of: &DynamicAdmission) {
    let (webhooks, policies) = (&*of.webhooks, &*of.policies);
    // The table holds it weakly: the registry, which has the table, must not be kept by it.
    let params: Arc<dyn ParamSource> = Arc::new(ParamKinds::new(registry.clone()));
    policies.find_params_in(&params);
    tokio::join!(
        following::follow::<MutatingWebhookConfiguration, _>(registry, webhooks),
        following::follow::<ValidatingWebhookConfiguration, _>(registry, webhooks),
        following::follow::<MutatingAdmissionPolicyBinding, _>(registry, policies),
        following::follow::<MutatingAdmissionPolicy, _>(registry, policies),
        following::follow::<ValidatingAdmissionPolicyBinding, _>(registry, policies),
        following::follow::<ValidatingAdmissionPolicy, _>(registry, policies),
    );
}
