//! The certificate that a signer stores in a CertificateSigningRequest.

use kubist_registry::PemBlocks;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

const LABEL: &str = "CERTIFICATE";

/// Checks that a text has certificates in PEM, and nothing else in PEM.
///
/// # Errors
/// What is wrong, in upstream's words.
pub(super) fn check(pem: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(pem);
    let mut blocks = PemBlocks::new(&text).peekable();
    if blocks.peek().is_none() {
        return Err("must contain at least one CERTIFICATE PEM block".to_owned());
    }
    for block in blocks {
        if block.label != LABEL {
            return Err(format!(
                "only CERTIFICATE PEM blocks are allowed, found {:?}",
                block.label
            ));
        }
        if block.has_headers {
            return Err("no PEM block headers are permitted".to_owned());
        }
        if block.content.is_empty() {
            return Err("found CERTIFICATE PEM block containing 0 certificates".to_owned());
        }
        let mut rest = &block.content[..];
        while !rest.is_empty() {
            let parsed = X509Certificate::from_der(rest);
            (rest, _) = parsed.map_err(|_| "x509: malformed certificate".to_owned())?;
        }
    }
    Ok(())
}
