//! `ClusterTrustBundleAttest`: who may store trust anchors in the name of a signer.

use super::signer::is_permitted;
use kubist_api::certificates::v1beta1::ClusterTrustBundle;
use kubist_apimachinery::Status;
use kubist_authorization::Authorizer;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use kubist_registry::{BoxFuture, changes_only_ownership};
use std::sync::Arc;

/// Lets only those write trust bundles of a signer who may attest for it.
#[derive(Debug)]
pub(crate) struct ClusterTrustBundleAttest(pub(crate) Arc<dyn Authorizer>);

impl AdmissionPlugin for ClusterTrustBundleAttest {
    fn name(&self) -> &'static str {
        "ClusterTrustBundleAttest"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("certificates.k8s.io", "clustertrustbundles")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        matches!(target.operation, Operation::Create | Operation::Update)
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            // The signer of a stored bundle does not change, so that of the new one counts.
            let Some(new) = attributes.typed::<ClusterTrustBundle>() else {
                return Ok(());
            };
            let signer = new.spec.signer_name.as_str();
            let old = attributes.old_typed::<ClusterTrustBundle>();
            if signer.is_empty() || old.is_some_and(|old| changes_only_ownership(new, old)) {
                return Ok(());
            }
            if is_permitted(&*self.0, attributes.user(), "attest", signer).await {
                return Ok(());
            }
            Err(attributes.forbidden(format_args!(
                "user not permitted to attest for signerName {signer:?}"
            )))
        })
    }
}
