//! Messages of failed connects and TLS handshakes, as Go words them.

use rustls::CertificateError;
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
        other => other.to_string(),
    };
    format!("tls: failed to verify certificate: x509: {reason}")
}
