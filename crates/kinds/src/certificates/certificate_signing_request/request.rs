//! The request in a CertificateSigningRequest.

use kubist_registry::PemBlocks;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer as _;

const LABEL: &str = "CERTIFICATE REQUEST";

/// Checks that a text begins with a request in PEM.
///
/// Its signature is not verified, unlike upstream: the library knows fewer algorithms than Go, and
/// each signer verifies what it signs.
///
/// # Errors
/// What is wrong. Where it cannot be parsed, upstream's words depend on where its parser stopped.
pub(super) fn check(pem: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(pem);
    let block = PemBlocks::new(&text).next();
    let block = block.filter(|it| it.label == LABEL);
    let block = block.ok_or("PEM block type must be CERTIFICATE REQUEST")?;
    let parsed = X509CertificationRequest::from_der(&block.content);
    let (rest, _) = parsed.map_err(|_| {
        if block.content.is_empty() {
            "asn1: syntax error: sequence truncated"
        } else {
            "asn1: structure error: not a certificate request"
        }
    })?;
    if !rest.is_empty() {
        return Err("asn1: syntax error: trailing data".to_owned());
    }
    Ok(())
}
