//! What requests of certificates must have, and what signers may store.

use crate::fixture::Fixture;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use kubist_api::certificates::v1::CertificateSigningRequest;
use kubist_apimachinery::Status;

const REQUEST: &str = include_str!("../request.pem");
const CERTIFICATE: &str = include_str!("../certificate.pem");

fn request(pem: &str) -> CertificateSigningRequest {
    let mut request = CertificateSigningRequest::default();
    request.metadata.name = "csr".into();
    request.spec.request = pem.as_bytes().into();
    request.spec.signer_name = "example.com/signer".into();
    request.spec.usages.push("client auth".into());
    request
}

/// The content of a block.
fn der(pem: &str) -> Vec<u8> {
    let lines = pem.lines().filter(|it| !it.starts_with("-----"));
    let encoded: String = lines.collect();
    BASE64_STANDARD.decode(encoded).expect("it is base64")
}

fn block(label: &str, headers: &str, content: &[u8]) -> String {
    let content = BASE64_STANDARD.encode(content);
    format!("-----BEGIN {label}-----\n{headers}{content}\n-----END {label}-----\n")
}

/// The details of the causes about a field.
fn why(outcome: Result<(), Status>, field: &str) -> Option<String> {
    let status = outcome.err()?;
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    let causes = status.causes();
    let about = causes.iter().find(|it| it.field == *field);
    Some(about.expect("the field is named").message.to_string())
}

async fn store(certificate: &str) -> Option<String> {
    let fixture = Fixture::new().await;
    let mut csr: CertificateSigningRequest = fixture.create(request(REQUEST)).await;
    csr.status.certificate = certificate.as_bytes().into();
    let outcome = fixture.put_subresource("status", csr).await;
    why(outcome.map(drop), "status.certificate")
}

#[tokio::test]
async fn a_signer_stores_certificates_in_pem_and_nothing_else_in_pem() {
    let own = der(CERTIFICATE);
    let twice = [&own[..], &own].concat();
    let broken = "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n";
    for good in [
        format!("words\n{CERTIFICATE}more words\n"),
        format!("{CERTIFICATE}{CERTIFICATE}"),
        format!("{CERTIFICATE}{broken}"),
        block("CERTIFICATE", "", &twice),
    ] {
        assert_eq!(store(&good).await, None, "{good}");
    }
    let none = "must contain at least one CERTIFICATE PEM block";
    let malformed = "x509: malformed certificate";
    for (bad, problem) in [
        ("x".to_owned(), none),
        (broken.to_owned(), none),
        ("-----BEGIN CERTIFICATE-----\n".to_owned(), none),
        (
            format!("{CERTIFICATE}{}", block("PRIVATE KEY", "", b"key")),
            "only CERTIFICATE PEM blocks are allowed, found \"PRIVATE KEY\"",
        ),
        (
            block("CERTIFICATE", "A: b\n\n", &own),
            "no PEM block headers are permitted",
        ),
        (
            block("CERTIFICATE", "", b""),
            "found CERTIFICATE PEM block containing 0 certificates",
        ),
        (block("CERTIFICATE", "", &own[..own.len() - 1]), malformed),
        (
            block("CERTIFICATE", "", &[&own[..], b"x"].concat()),
            malformed,
        ),
    ] {
        let problem = format!("Invalid value: \"<certificate data>\": {problem}");
        assert_eq!(store(&bad).await, Some(problem), "{bad}");
    }
}

#[tokio::test]
async fn a_request_is_a_certificate_request_in_pem() {
    let fixture = Fixture::new().await;
    let not_one = "PEM block type must be CERTIFICATE REQUEST";
    let own = der(REQUEST);
    for (pem, problem) in [
        ("x".to_owned(), not_one),
        (CERTIFICATE.to_owned(), not_one),
        (
            block("CERTIFICATE REQUEST", "", b""),
            "asn1: syntax error: sequence truncated",
        ),
        (
            block("CERTIFICATE REQUEST", "", &own[..own.len() - 1]),
            "asn1: structure error: not a certificate request",
        ),
    ] {
        let outcome = fixture.try_create(request(&pem)).await;
        let found = why(outcome.map(drop), "spec.request").expect("it is refused");
        assert!(found.ends_with(problem), "{found}");
    }
    let good: CertificateSigningRequest = fixture.create(request(REQUEST)).await;
    assert_eq!(good.spec.request, REQUEST.as_bytes().into());
}
