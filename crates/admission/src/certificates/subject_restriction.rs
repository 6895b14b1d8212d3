//! `CertificateSubjectRestriction`: nobody gets a client certificate of `system:masters` by request.

use kubist_api::certificates::v1::CertificateSigningRequest;
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::future::ready;
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::{FromDer as _, X509CertificationRequest};

/// Refuses requests of client certificates in the group of administrators.
#[derive(Debug)]
pub(crate) struct CertificateSubjectRestriction;

const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";
const MASTERS: &str = "system:masters";

impl AdmissionPlugin for CertificateSubjectRestriction {
    fn name(&self) -> &'static str {
        "CertificateSubjectRestriction"
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("certificates.k8s.io", "certificatesigningrequests")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation == Operation::Create && target.subresource.is_empty()
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        let request = attributes.typed::<CertificateSigningRequest>();
        let request = request.filter(|it| it.spec.signer_name == CLIENT_SIGNER);
        let result = match request.map(|it| has_masters(&it.spec.request)) {
            None | Some(Ok(false)) => Ok(()),
            Some(Ok(true)) => Err(attributes.forbidden(format_args!(
                "use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed"
            ))),
            Some(Err(why)) => {
                Err(attributes.forbidden(format_args!("failed to parse CSR: {why}")))
            }
        };
        Box::pin(ready(result))
    }
}

/// Reports whether the subject of a request in PEM is in the group of administrators.
fn has_masters(pem: &[u8]) -> Result<bool, String> {
    let not_one = || "PEM block type must be CERTIFICATE REQUEST".to_owned();
    let (_, block) = parse_x509_pem(pem).map_err(|_| not_one())?;
    if block.label != "CERTIFICATE REQUEST" {
        return Err(not_one());
    }
    let parsed = X509CertificationRequest::from_der(&block.contents);
    let (_, request) = parsed.map_err(|error| error.to_string())?;
    let subject = &request.certification_request_info.subject;
    let mut groups = subject.iter_organization();
    Ok(groups.any(|it| it.as_str().is_ok_and(|it| it == MASTERS)))
}
