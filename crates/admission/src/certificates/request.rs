//! The subject of a request of a certificate.

use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::{FromDer as _, X509CertificationRequest};

/// The names in a subject.
pub(super) struct Subject {
    pub(super) common_name: String,
    pub(super) organizations: Vec<String>,
}

/// Returns the subject of a request in PEM.
///
/// # Errors
/// It is none.
pub(super) fn subject_of(pem: &[u8]) -> Result<Subject, String> {
    let not_one = || "PEM block type must be CERTIFICATE REQUEST".to_owned();
    let (_, block) = parse_x509_pem(pem).map_err(|_| not_one())?;
    if block.label != "CERTIFICATE REQUEST" {
        return Err(not_one());
    }
    let parsed = X509CertificationRequest::from_der(&block.contents);
    let (_, request) = parsed.map_err(|error| error.to_string())?;
    let subject = &request.certification_request_info.subject;
    let organizations = subject.iter_organization();
    Ok(Subject {
        common_name: subject
            .iter_common_name()
            .filter_map(|it| it.as_str().ok())
            .last()
            .unwrap_or_default()
            .to_owned(),
        organizations: organizations
            .filter_map(|it| it.as_str().ok().map(str::to_owned))
            .collect(),
    })
}

/// Returns the common name in a request in PEM.
///
/// # Errors
/// It is none.
pub(crate) fn common_name(pem: &[u8]) -> Result<String, String> {
    Ok(subject_of(pem)?.common_name)
}
