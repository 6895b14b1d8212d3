//! `Webhooks`: calls webhooks over HTTPS, for [`RegistryConfig::webhooks`].
//!
//! A webhook is always called over TLS, with HTTP/1.1 and POST. Its certificate is verified against
//! the CA bundle of its configuration, or against the authorities of the operating system if there
//! is none. Services are resolved by a [`ServiceResolver`].
//!
//! Clients of equal configurations share connections. Nothing runs in the background: a connection
//! is driven by the call that uses it, and idle connections are dropped with the last client. The
//! number of concurrent calls of one webhook is limited to [`CALLS_MAX`]; further calls wait,
//! within their own time limit.
//!
//! [`RegistryConfig::webhooks`]: kubist_registry::RegistryConfig::webhooks

pub(crate) mod client;
pub(crate) mod connect_errors;
pub(crate) mod connection;
pub(crate) mod remote_service;
mod resolver;
pub(crate) mod tls;

pub use self::client::CALLS_MAX;
pub use self::resolver::{ClusterResolver, ServiceAddress, ServiceResolver};
pub(crate) use self::resolver::{is_slice_of, typed};

use self::client::Client;
use kubist_registry::{WebhookCaller, WebhookClient, WebhookConfig, WebhookError};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// The webhook caller of a server.
#[derive(Debug)]
pub struct Webhooks {
    resolver: Arc<dyn ServiceResolver>,
    /// The clients in use.
    clients: Mutex<BTreeMap<WebhookConfig, Weak<Client>>>,
}

impl Webhooks {
    /// Creates a caller that finds services in the registry, else by their DNS names.
    pub fn new() -> Self {
        Self::with_resolver(Arc::new(ClusterResolver))
    }

    /// Creates a caller that finds services by a resolver.
    pub fn with_resolver(resolver: Arc<dyn ServiceResolver>) -> Self {
        Self {
            resolver,
            clients: Mutex::default(),
        }
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        Self::new()
    }
}

impl WebhookCaller for Webhooks {
    fn client(&self, config: &WebhookConfig) -> Result<Arc<dyn WebhookClient>, WebhookError> {
        let mut clients = self.clients.lock();
        if let Some(found) = clients.get(config).and_then(Weak::upgrade) {
            return Ok(found);
        }
        clients.retain(|_, client| client.strong_count() > 0);
        let client = Arc::new(Client::new(config, Arc::clone(&self.resolver))?);
        clients.insert(config.clone(), Arc::downgrade(&client));
        Ok(client)
    }
}
