//! `ServingCertificate`: chooses the certificate for each TLS handshake, and renews the server's
//! own.
//!
//! The server's own certificate, signed by its authority, is replaced while the server runs when a
//! third of its lifetime is left. If another one is configured, clients get that, except those that
//! request [`LOOPBACK_NAME`]: the server's own clients, which trust its authority and may not find
//! their name in the configured certificate.

use super::StartError;
use crate::certificates::{CertificateAuthority, CertificateError, Identity, PemError};
use parking_lot::RwLock;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::Arc;
use std::time::Duration;

/// The server name (SNI) with which clients get the server's own certificate, as in upstream's
/// servers.
pub(crate) const LOOPBACK_NAME: &str = "apiserver-loopback-client";
/// Validity of the server's own certificate if its authority expires: a year, as upstream.
const LIFETIME: Duration = Duration::from_secs(24 * 365 * 3600);
/// Authorities valid for longer were created without an end, and so are their certificates.
const NO_END: Duration = Duration::from_secs(24 * 36_500 * 3600);
/// How often the server checks whether to renew.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
pub(super) struct ServingCertificate {
    authority: Arc<CertificateAuthority>,
    names: Vec<String>,
    configured: Option<Arc<CertifiedKey>>,
    own: RwLock<Own>,
}

#[derive(Clone, Debug)]
struct Own {
    key: Arc<CertifiedKey>,
    /// `None` if it is valid as long as its authority.
    renew_at: Option<Duration>,
}

/// Why there is no certificate to serve.
#[derive(Debug)]
pub(super) enum ServingCertificateError {
    Made(CertificateError),
    Unusable(PemError),
}

impl From<ServingCertificateError> for StartError {
    fn from(error: ServingCertificateError) -> Self {
        match error {
            ServingCertificateError::Made(error) => Self::Certificate(error),
            ServingCertificateError::Unusable(error) => Self::ServingCertificate(error),
        }
    }
}

impl ServingCertificate {
    pub(super) fn new(
        authority: Arc<CertificateAuthority>,
        mut names: Vec<String>,
        configured: Option<&Identity>,
        now: Duration,
    ) -> Result<Self, ServingCertificateError> {
        let configured = configured.map(|it| it.certified(None)).transpose();
        let configured = configured
            .map_err(ServingCertificateError::Unusable)?
            .map(Arc::new);
        if configured.is_some() {
            names.push(LOOPBACK_NAME.to_owned());
        }
        let own = RwLock::new(issue(&authority, &names, now)?);
        Ok(Self {
            authority,
            names,
            configured,
            own,
        })
    }

    /// Returns the server name that the server's own clients must request; `None` if they need not.
    pub(super) fn required_server_name(&self) -> Option<&'static str> {
        self.configured.as_ref().map(|_| LOOPBACK_NAME)
    }

    /// Reports whether it is ever renewed.
    pub(super) fn is_renewed(&self) -> bool {
        self.own.read().renew_at.is_some()
    }

    /// Issues a new certificate if it is due. The old one stays if that fails.
    pub(super) fn renew(&self, now: Duration) {
        if self.own.read().renew_at.is_none_or(|at| now < at) {
            return;
        }
        match issue(&self.authority, &self.names, now) {
            Ok(own) => *self.own.write() = own,
            Err(error) => tracing::error!(?error, "the serving certificate cannot be renewed"),
        }
    }
}

impl ResolvesServerCert for ServingCertificate {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        match &self.configured {
            Some(configured) if hello.server_name() != Some(LOOPBACK_NAME) => {
                Some(Arc::clone(configured))
            }
            _ => Some(Arc::clone(&self.own.read().key)),
        }
    }
}

/// Issues a certificate for a year, or until its authority expires if that is earlier; without an
/// end if the authority has none.
fn issue(
    authority: &CertificateAuthority,
    names: &[String],
    now: Duration,
) -> Result<Own, ServingCertificateError> {
    let left = Duration::from_secs(*authority.valid().end()).saturating_sub(now);
    let (names, lifetime) = (names.to_vec(), left.min(LIFETIME));
    let identity = if left > NO_END {
        authority.serving_identity(names)
    } else {
        authority.serving_until(names, now, now.saturating_add(lifetime))
    };
    let key = identity
        .map_err(ServingCertificateError::Made)?
        .certified(Some(authority.certificate()));
    // An authority that is about to expire cannot sign for longer.
    let renewed = (LIFETIME..=NO_END).contains(&left);
    Ok(Own {
        key: Arc::new(key.map_err(ServingCertificateError::Unusable)?),
        renew_at: renewed.then(|| now.saturating_add(lifetime / 3 * 2)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificates::valid_within;

    const DAY: u64 = 24 * 3600;

    #[test]
    fn the_own_certificate_is_renewed_when_a_third_of_its_year_is_left() {
        let now = Duration::from_secs(1_800_000_000);
        let end = now + Duration::from_secs(24 * 3650 * 3600);
        let authority = CertificateAuthority::until("kept", now, end).expect("keys can be made");
        let names = vec!["localhost".to_owned()];
        let serving =
            ServingCertificate::new(Arc::new(authority), names, None, now).expect("it can be made");
        let shown = || serving.own.read().key.cert[0].clone();
        let first = shown();
        let valid = valid_within(std::slice::from_ref(&first)).expect("it is a certificate");
        assert_eq!(*valid.end(), now.as_secs() + 365 * DAY);
        serving.renew(now + Duration::from_secs(243 * DAY));
        assert_eq!(shown(), first);
        let later = now + Duration::from_secs(244 * DAY);
        serving.renew(later);
        let valid = valid_within(&[shown()]).expect("it is a certificate");
        assert_eq!(*valid.end(), later.as_secs() + 365 * DAY);
        // It never outlives its authority.
        serving.renew(end.saturating_sub(Duration::from_secs(DAY)));
        let valid = valid_within(&[shown()]).expect("it is a certificate");
        assert_eq!(*valid.end(), end.as_secs());
    }
}
