//! `CertificateApproval` and `CertificateSigning`: who may approve and sign requests.

use super::signer::is_permitted;
use kubist_api::certificates::v1::CertificateSigningRequest;
use kubist_apimachinery::Status;
use kubist_authorization::Authorizer;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::sync::Arc;

const REQUESTS: &[(&str, &str)] = &[("certificates.k8s.io", "certificatesigningrequests")];

/// Lets only those approve requests who may do it for their signer.
#[derive(Debug)]
pub(crate) struct CertificateApproval(pub(crate) Arc<dyn Authorizer>);

/// Lets only those sign requests who may do it for their signer.
#[derive(Debug)]
pub(crate) struct CertificateSigning(pub(crate) Arc<dyn Authorizer>);

impl AdmissionPlugin for CertificateApproval {
    fn name(&self) -> &'static str {
        "CertificateApproval"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(REQUESTS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation == Operation::Update && target.subresource == "approval"
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let Some(old) = attributes.old_typed::<CertificateSigningRequest>() else {
                return Ok(());
            };
            let signer = old.spec.signer_name.as_str();
            permit(&*self.0, attributes, "approve", signer).await
        })
    }
}

impl AdmissionPlugin for CertificateSigning {
    fn name(&self) -> &'static str {
        "CertificateSigning"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(REQUESTS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation == Operation::Update && target.subresource == "status"
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let new = attributes.typed::<CertificateSigningRequest>();
            let old = attributes.old_typed::<CertificateSigningRequest>();
            let Some((new, old)) = new.zip(old) else {
                return Ok(());
            };
            let (after, before) = (&new.status, &old.status);
            if after.certificate == before.certificate && after.conditions == before.conditions {
                return Ok(());
            }
            let signer = old.spec.signer_name.as_str();
            permit(&*self.0, attributes, "sign", signer).await
        })
    }
}

async fn permit(
    authorizer: &dyn Authorizer,
    attributes: &Attributes<'_>,
    verb: &str,
    signer: &str,
) -> Result<(), Status> {
    if is_permitted(authorizer, attributes.user(), verb, signer).await {
        return Ok(());
    }
    Err(attributes.forbidden(format_args!(
        "user not permitted to {verb} requests with signerName \"{signer}\""
    )))
}
