//! Messages of failed connects and TLS handshakes, as Go words them.

use rustls::{CertificateError, OtherError};
use std::io;

/// Returns the message of a failed connect, as Go words it where it has a name.
pub(crate) fn dial_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "connect: connection reset by peer".to_owned(),
        io::ErrorKind::HostUnreachable => "connect: no route to host".to_owned(),
        io::ErrorKind::NetworkUnreachable => "connect: network is unreachable".to_owned(),
        _ => error.to_string(),
    }
}

/// Returns the message of a failed TLS handshake, as Go words it where it has a name.
pub(crate) fn tls_error(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|it| it.downcast_ref());
    let Some(rustls::Error::InvalidCertificate(reason)) = inner else {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
            _ => format!("tls: {error}"),
        };
    };
    let reason = match reason {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        other => certificate_error(other),
    };
    format!("tls: failed to verify certificate: x509: {reason}")
}

/// Returns what is wrong with a certificate. The verifier has no words for the use of an
/// authority's certificate, only a name.
pub(crate) fn certificate_error(reason: &CertificateError) -> String {
    match reason {
        CertificateError::Other(OtherError(why)) if why.to_string() == "CaUsedAsEndEntity" => {
            "the certificate is that of an authority, which may only sign others".to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authentication::client_certificates::chain_verifier;
    use crate::certificates::CertificateAuthority;
    use rustls_pki_types::UnixTime;

    #[test]
    fn the_use_of_an_authoritys_certificate_has_words() {
        let authority = CertificateAuthority::new("a").expect("it is made");
        let own = authority.certificate();
        let verifier = chain_verifier([own.clone()]).expect("it is one");
        let refused = verifier.verify_client_cert(&own, &[], UnixTime::now());
        let Err(rustls::Error::InvalidCertificate(why)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(
            certificate_error(&why),
            "the certificate is that of an authority, which may only sign others"
        );
    }
}
