//! `Etcd`: the server without a socket.

use crate::config::Config;
use crate::engine::Engine;
use crate::header::Identity;
use kubist_etcd_api::ResponseHeader;
use kubist_storage::Revision;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A server of etcd's API on an engine. Clones are the same server.
#[derive(Clone)]
pub struct Etcd {
    shared: Arc<Shared>,
}

struct Shared {
    kv: Arc<dyn Engine>,
    config: Config,
    identity: Identity,
    counters: Counters,
    /// The id of the last lease that was chosen here.
    leases: AtomicI64,
}

/// The bits of the number from which the ids of leases go on, which another process hardly has:
/// there remain as many ids above it.
const LEASE_BITS: u32 = 61;

/// What the server counts for its metrics.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Open watches.
    pub(crate) watches: AtomicU64,
    /// Events that were sent.
    pub(crate) events: AtomicU64,
}

impl Etcd {
    /// Creates a server on an engine that something else runs and closes.
    pub fn new(kv: Arc<dyn Engine>, config: Config) -> Self {
        let identity = Identity::choose(&config.name);
        Self {
            shared: Arc::new(Shared {
                kv,
                config,
                identity,
                counters: Counters::default(),
                leases: AtomicI64::new(first_lease()),
            }),
        }
    }

    pub(crate) fn kv(&self) -> &dyn Engine {
        &*self.shared.kv
    }

    pub(crate) fn config(&self) -> &Config {
        &self.shared.config
    }

    pub(crate) fn identity(&self) -> Identity {
        self.shared.identity
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    /// Returns an id for a lease, which is most likely unused.
    pub(crate) fn next_lease(&self) -> i64 {
        self.shared.leases.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The header of a response at this revision.
    pub(crate) fn header(&self, revision: Revision) -> ResponseHeader {
        self.shared.identity.header(revision)
    }
}

/// Chooses where the ids of leases begin.
fn first_lease() -> i64 {
    let random = RandomState::new().build_hasher().finish();
    i64::try_from(random >> (u64::BITS - LEASE_BITS)).unwrap_or_default()
}

impl fmt::Debug for Etcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etcd")
            .field("kv", &self.shared.kv)
            .field("config", &self.shared.config)
            .finish_non_exhaustive()
    }
}
