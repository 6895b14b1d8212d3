//! `Identities`: the certificates of a server that listens, and the TLS configuration they are for.
//!
//! A server that serves connections of its own process only has none of them.

use super::serving_certificate::ServingCertificate;
use super::{StartError, serving_names, tls};
use crate::authentication::authenticator::MASTERS_GROUP;
use crate::authentication::client_certificates::chain_verifier;
use crate::certificates::{CertificateAuthority, Identity};
use crate::config::Config;
use rustls::server::danger::ClientCertVerifier;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsAcceptor;

/// The certificates of a server.
pub(super) struct Identities {
    pub(super) authority: Arc<CertificateAuthority>,
    pub(super) serving: Arc<ServingCertificate>,
    pub(super) admin: Identity,
    /// Verifies the certificates of clients.
    pub(super) verifier: Arc<dyn ClientCertVerifier>,
    pub(super) tls: TlsAcceptor,
}

impl Identities {
    /// Creates or loads them. `now` is the time since the Unix epoch.
    ///
    /// # Errors
    /// A certificate cannot be created or used.
    pub(super) fn new(
        config: &Config,
        address: Option<SocketAddr>,
        now: Duration,
    ) -> Result<Self, StartError> {
        let authority = match &config.authority {
            Some(authority) => Arc::clone(authority),
            None => Arc::new(CertificateAuthority::new("kubist-ca")?),
        };
        let admin = authority.client_identity(&config.admin_user, Some(MASTERS_GROUP))?;
        let (names, configured) = (serving_names(config, address), config.serving.as_ref());
        let serving = ServingCertificate::new(Arc::clone(&authority), names, configured, now);
        let serving = Arc::new(serving?);
        let trusted = config.client_authorities.iter().cloned();
        let trusted = trusted.chain([authority.certificate()]);
        let verifier = chain_verifier(trusted.clone())?;
        // Clients are told of the authorities of proxies, too.
        let proxies = config.authenticators.request_header.iter();
        let proxies = proxies.flat_map(|it| it.authorities.iter().cloned());
        let any = chain_verifier(trusted.chain(proxies))?;
        let tls = tls::server_config(Arc::clone(&serving), any)?;
        Ok(Self {
            authority,
            serving,
            admin,
            verifier,
            tls: TlsAcceptor::from(Arc::new(tls)),
        })
    }
}
