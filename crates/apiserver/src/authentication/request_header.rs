//! `RequestHeaderAuthenticator`: the users that a trusted proxy names in headers.

use crate::authentication::authenticators::RequestHeader;
use crate::authentication::client_certificates::chain_verifier;
use crate::authentication::peer::Peer;
use http::HeaderMap;
use kubist_authentication::RequestHeaders;
use kubist_registry::User;
use rustls::server::danger::ClientCertVerifier;
use std::sync::Arc;
use std::time::Duration;

/// Believes the headers of proxies that certain authorities have signed.
#[derive(Debug)]
pub(crate) struct RequestHeaderAuthenticator {
    verifier: Arc<dyn ClientCertVerifier>,
    allowed_names: Vec<String>,
    headers: RequestHeaders,
}

impl RequestHeaderAuthenticator {
    /// # Errors
    /// An authority cannot be used.
    pub(crate) fn new(config: &RequestHeader) -> Result<Self, rustls::Error> {
        Ok(Self {
            verifier: chain_verifier(config.authorities.iter().cloned())?,
            allowed_names: config.allowed_names.clone(),
            headers: config.headers.clone(),
        })
    }

    /// The headers that proxies name users in.
    pub(crate) fn headers(&self) -> &RequestHeaders {
        &self.headers
    }

    /// Returns the user that the headers of a proxy name; `None` if they name nobody, or if there
    /// is no certificate.
    ///
    /// # Errors
    /// The certificate is not that of a proxy.
    pub(crate) fn user(
        &self,
        peer: &Peer,
        headers: &HeaderMap,
        now: Duration,
    ) -> Result<Option<User>, String> {
        let Peer::Certificates(chain) = peer else {
            return Ok(None);
        };
        let name = chain.proxy(&*self.verifier, now)?;
        let allowed = &self.allowed_names;
        if !allowed.is_empty() && !allowed.iter().any(|it| **it == *name) {
            return Err(format!(
                "x509: subject with cn={name} is not in the allowed list"
            ));
        }
        let texts = headers.iter().filter_map(|(name, value)| {
            let value = std::str::from_utf8(value.as_bytes()).ok()?;
            Some((name.as_str(), value))
        });
        Ok(self.headers.user(&texts.collect::<Vec<_>>()))
    }
}
