//! `CertificateSubjectRestriction`: no client certificate for `system:masters` by request.

use super::request::subject_of;
use kubist_api::certificates::v1::CertificateSigningRequest;
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use std::future::ready;

/// Refuses requests of client certificates in the group of administrators.
#[derive(Debug)]
pub(crate) struct CertificateSubjectRestriction;

const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";
const MASTERS: &str = "system:masters";

impl AdmissionPlugin for CertificateSubjectRestriction {
    fn name(&self) -> &'static str {
        "CertificateSubjectRestriction"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("certificates.k8s.io", "certificatesigningrequests")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.creates_object()
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        let request = attributes.typed::<CertificateSigningRequest>();
        let request = request.filter(|it| it.spec.signer_name == CLIENT_SIGNER);
        let result = match request.map(|it| has_masters(&it.spec.request)) {
            None | Some(Ok(false)) => Ok(()),
            Some(Ok(true)) => Err(attributes.forbidden(format_args!(
                "use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed"
            ))),
            Some(Err(why)) => Err(attributes.forbidden(format_args!("failed to parse CSR: {why}"))),
        };
        Box::pin(ready(result))
    }
}

/// Reports whether the subject of a request in PEM is in the group of administrators.
fn has_masters(pem: &[u8]) -> Result<bool, String> {
    let subject = subject_of(pem)?;
    Ok(subject.organizations.iter().any(|it| it == MASTERS))
}
