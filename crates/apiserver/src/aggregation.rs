//! Aggregation: group versions that other servers serve, behind this one.
//!
//! An `APIService` with a Service sends the requests of its group version there, with the user's
//! identity in headers and a client certificate that proves who forwards them. Such a version takes
//! precedence over one that this server has itself, as upstream. What the others serve is merged
//! into discovery and OpenAPI, and the `Available` condition of each tells whether it answers.
//!
//! A server without such `APIService`s pays one atomic load for a request.

mod availability;
mod discovered;
mod documents;
mod fetch;
mod follower;
mod merging;
mod remote;
mod rounds;
mod table;

use crate::aggregation_config::AggregationConfig;
use crate::following::{self, follow};
use crate::proxy::backend::Backend;
use crate::proxy::{DIAL_TIMEOUT, Proxies};
use availability::Asked;
use discovered::Discovered;
use kubist_api::apiregistration::v1::APIService;
use kubist_apimachinery::Status;
use kubist_registry::{Lookup, Registry};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use table::Table;
use tokio::sync::Notify;

pub(crate) use remote::Remote;

/// The group versions of other servers, and what is known of them.
#[derive(Debug)]
pub(crate) struct Aggregation {
    config: AggregationConfig,
    table: RwLock<Arc<Table>>,
    /// Whether the table has an entry.
    has_some: AtomicBool,
    /// What each server said, by the name of the `APIService`.
    discovered: Mutex<BTreeMap<String, Arc<Discovered>>>,
    /// The servers that have answered a check, by the name of the `APIService`.
    asked: Mutex<BTreeMap<String, Asked>>,
    /// An `APIService` has changed.
    changed: Notify,
    /// The same, for discovery.
    appeared: Notify,
}

impl Aggregation {
    pub(crate) fn new(config: &AggregationConfig) -> Self {
        Self {
            config: config.clone(),
            table: RwLock::default(),
            has_some: AtomicBool::new(false),
            discovered: Mutex::default(),
            asked: Mutex::default(),
            changed: Notify::new(),
            appeared: Notify::new(),
        }
    }

    /// The present entries; `None` if there are none.
    fn table(&self) -> Option<Arc<Table>> {
        self.has_some
            .load(Ordering::Acquire)
            .then(|| Arc::clone(&self.table.read()))
    }

    /// Returns the server of a group version, if it is not this one.
    pub(crate) fn remote(&self, group: &str, version: &str) -> Option<Arc<Remote>> {
        self.table()?.version(group, version).cloned()
    }

    /// Whether redirects of the other servers are refused.
    pub(crate) fn rejects_redirects(&self) -> bool {
        self.config.rejects_redirects
    }

    /// Returns how to connect to a server.
    ///
    /// # Errors
    /// Its Service has no address, or its TLS configuration cannot be made.
    pub(crate) async fn backend(
        &self,
        remote: &Remote,
        lookup: &dyn Lookup,
    ) -> Result<Backend, String> {
        let tls = remote.tls.as_ref().map_err(Clone::clone)?;
        let resolver = &self.config.resolver;
        let address = resolver.resolve(&remote.service, lookup).await?;
        Ok(Backend {
            host: address.host,
            port: address.port,
            tls: Some(Arc::clone(tls)),
            server_name: Some(remote.server_name()),
            timeout: DIAL_TIMEOUT,
        })
    }

    /// Replaces the entries.
    fn change(&self, change: impl FnOnce(&mut Table)) {
        let mut table = self.table.write();
        change(Arc::make_mut(&mut table));
        self.has_some.store(!table.is_empty(), Ordering::Release);
        let known = Arc::clone(&table);
        drop(table);
        self.discovered.lock().retain(|name, _| known.has(name));
        self.asked.lock().retain(|name, _| known.has(name));
        // Each notices by itself what concerns it.
        self.changed.notify_one();
        self.appeared.notify_one();
    }
}

/// What it takes to ask other servers.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) proxies: &'a Proxies,
}

impl Aggregation {
    /// Reads the `APIService`s once, so that they count from the first request on.
    ///
    /// # Errors
    /// Those of the storage.
    pub(crate) async fn load(&self, registry: &Registry) -> Result<(), Status> {
        following::load::<APIService, _>(registry, self).await
    }

    /// Follows the `APIService`s, and checks and asks the other servers. Never returns.
    ///
    /// # Cancel safety
    /// Can be dropped at any time.
    pub(crate) async fn keep_up(&self, surroundings: Surroundings<'_>) {
        tokio::join!(
            follow::<APIService, _>(surroundings.registry, self),
            self.check_all(surroundings),
            self.discover(surroundings),
        );
    }
}
