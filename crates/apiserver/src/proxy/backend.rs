//! `Backend`: another server, and how to connect to it.

use crate::proxy::dialer::{BackendDialer, BackendStream};
use crate::webhook::connect_errors::{dial_error, tls_error};
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Time limit for TLS, as in Go.
const TLS_TIMEOUT: Duration = Duration::from_secs(10);

/// Another server.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    /// A DNS name, or an IP address without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// `None`: without TLS.
    pub(crate) tls: Option<Arc<ClientConfig>>,
    /// The name in its certificate; `None`: the host.
    pub(crate) server_name: Option<String>,
    /// Time limit for a connection.
    pub(crate) timeout: Duration,
}

impl Backend {
    /// Its host and port as in a URL.
    pub(crate) fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        }
    }

    /// The scheme of its URL.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// Connects.
    ///
    /// # Errors
    /// The reason, in Go's words where it has some.
    pub(super) async fn connect(
        &self,
        dialer: &dyn BackendDialer,
    ) -> Result<Box<dyn BackendStream>, String> {
        let failed = |why: &str| format!("dial tcp {}: {why}", self.authority());
        let dialed = timeout(self.timeout, dialer.dial(&self.host, self.port)).await;
        let stream = dialed
            .map_err(|_| failed("i/o timeout"))?
            .map_err(|error| failed(&dial_error(&error)))?;
        let Some(tls) = &self.tls else {
            return Ok(stream);
        };
        let name = ServerName::try_from(self.server_name.as_ref().unwrap_or(&self.host).clone());
        let name = name.map_err(|error| format!("tls: {error}"))?;
        let connector = TlsConnector::from(Arc::clone(tls));
        let shaken = timeout(TLS_TIMEOUT, connector.connect(name, stream)).await;
        let late = || io::Error::new(io::ErrorKind::TimedOut, "handshake timeout");
        let stream = shaken.unwrap_or_else(|_| Err(late()));
        let stream = stream.map_err(|error| tls_error(&error))?;
        Ok(Box::new(stream))
    }
}
