//! Connections to other servers on behalf of a request: a kubelet, a Pod, what is behind a Service.
//!
//! One request has one connection to its backend, over HTTP/1.1. No task runs for it: whoever reads
//! the response drives it, so a client that stops reading stops its backend, and one that leaves
//! closes the connection. Bodies are passed on while they come, in both directions. After an
//! upgrade (SPDY, WebSocket) bytes are copied both ways by the task of the client's connection.
//!
//! It does not decide who may be connected to whom; handlers do.

pub(crate) mod backend;
mod dialer;
pub(crate) mod exchange;
mod failure;
pub(crate) mod forwarded;
pub(crate) mod go_path;
pub(crate) mod identity;
pub(crate) mod location;
mod slots;
mod streaming_body;
mod tunnel;

pub use dialer::{BackendDialer, BackendStream, TcpDialer};
pub(crate) use failure::Failure;

use crate::certificates::Identity;
use crate::proxy::slots::Slots;
use crate::shutdown::Shutdown;
use crate::webhook::tls::{self, Trust};
use kubist_registry::WebhookError;
use rustls::ClientConfig;
use std::sync::Arc;
use std::time::Duration;

/// The default limit of open connections to backends.
pub const BACKEND_CONNECTIONS_MAX: usize = 4_096;

/// The limit of open connections for the server's own questions.
const OWN_CONNECTIONS_MAX: usize = 256;

/// Time limit for a connection, as in Go.
pub(crate) const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Upstream's order of a node's addresses.
const ADDRESS_TYPES: [&str; 5] = [
    "Hostname",
    "InternalDNS",
    "InternalIP",
    "ExternalDNS",
    "ExternalIP",
];

/// How a server connects to kubelets, Pods and Services.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Backends {
    /// The authorities of the kubelets' certificates, in PEM. Default: none, and certificates are
    /// not verified, as upstream.
    pub kubelet_ca_pem: String,
    /// The client certificate for kubelets. Default: none.
    pub kubelet_identity: Option<Identity>,
    /// Which of a node's addresses is used: the first that it has. Default: upstream's order,
    /// beginning with `Hostname`.
    pub kubelet_address_types: Vec<String>,
    /// How long a connection to a kubelet may take to be there. Default: 30 s, as in Go.
    pub kubelet_timeout: Option<Duration>,
    /// The limit of open connections; one user may have half of them. Further requests get 429.
    /// Default: [`BACKEND_CONNECTIONS_MAX`].
    pub connections_max: usize,
    /// Opens the connections. Default: TCP.
    pub dialer: Arc<dyn BackendDialer>,
}

impl Default for Backends {
    fn default() -> Self {
        Self {
            kubelet_ca_pem: String::new(),
            kubelet_identity: None,
            kubelet_address_types: ADDRESS_TYPES.map(str::to_owned).to_vec(),
            kubelet_timeout: None,
            connections_max: BACKEND_CONNECTIONS_MAX,
            dialer: Arc::new(TcpDialer),
        }
    }
}

/// What the requests of a server need for their connections.
#[derive(Debug)]
pub(crate) struct Proxies {
    pub(crate) kubelet_address_types: Vec<String>,
    pub(crate) kubelet_timeout: Duration,
    /// For kubelets.
    pub(crate) kubelet_tls: Arc<ClientConfig>,
    /// For kubelets whose certificate need not be verified.
    pub(crate) unverified_kubelet_tls: Arc<ClientConfig>,
    /// For Pods and Services: without verification and without a client certificate, as upstream.
    pub(crate) plain_tls: Arc<ClientConfig>,
    dialer: Arc<dyn BackendDialer>,
    slots: Slots,
    /// For the server's own questions, which clients' connections must not keep from being asked.
    own_slots: Slots,
    shutdown: Shutdown,
}

impl Proxies {
    /// # Errors
    /// The authorities or the certificate cannot be used.
    pub(crate) fn new(config: &Backends, shutdown: Shutdown) -> Result<Self, WebhookError> {
        let identity = config.kubelet_identity.as_ref();
        let trust = match config.kubelet_ca_pem.as_str() {
            "" => Trust::Anything,
            pem => Trust::Bundle(pem.as_bytes()),
        };
        Ok(Self {
            kubelet_address_types: config.kubelet_address_types.clone(),
            kubelet_timeout: config.kubelet_timeout.unwrap_or(DIAL_TIMEOUT),
            kubelet_tls: tls::client(trust, identity)?,
            unverified_kubelet_tls: tls::client(Trust::Anything, identity)?,
            plain_tls: tls::client(Trust::Anything, None)?,
            dialer: Arc::clone(&config.dialer),
            slots: Slots::new(config.connections_max, config.connections_max.div_ceil(2)),
            own_slots: Slots::new(OWN_CONNECTIONS_MAX, OWN_CONNECTIONS_MAX),
            shutdown,
        })
    }

    /// The number of open connections.
    pub(crate) fn open(&self) -> usize {
        self.slots.taken()
    }
}
