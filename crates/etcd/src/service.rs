//! `Etcd`: the server without a socket.

use crate::config::Config;
use crate::engine::Engine;
use crate::header::Identity;
use kubist_etcd_api::ResponseHeader;
use kubist_storage::Revision;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

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
}

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

    /// The header of a response at this revision.
    pub(crate) fn header(&self, revision: Revision) -> ResponseHeader {
        self.shared.identity.header(revision)
    }
}

impl fmt::Debug for Etcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etcd")
            .field("kv", &self.shared.kv)
            .field("config", &self.shared.config)
            .finish_non_exhaustive()
    }
}
