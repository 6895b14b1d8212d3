//! `ServerConfig`: how a [`Server`](crate::Server) is put together.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kubist_kinds::BuiltIn;
use kubist_registry::storage::WatchCacheSizes;
use kubist_registry::transformer::{EncryptionConfiguration, LiveEncryption};
use kubist_registry::{RegistryConfig, RuntimeConfig, SystemClock, WallClock as _};
use kubist_storage::{Kv, Revision, memory};

use crate::encryption_file::EncryptionFile;
use crate::engine::{Engine, EtcdServers};
use crate::server_keys::ServerKeys;

/// How a server is put together. Everything has a default.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct ServerConfig {
    /// Where to listen; nothing else is bound. Default: a free port of the IPv4 loopback address.
    pub listen: SocketAddr,
    /// Bearer tokens of the administrator. Default: none.
    pub tokens: Vec<String>,
    /// What runs beside the server. Default: all.
    pub controllers: BTreeSet<Controller>,
    /// Makes uids and generated names the same in each run, and versions of a store in memory count
    /// from one. Default: none, different ones, and such versions grow over restarts, too.
    pub seed: Option<u64>,
    /// Events that the store keeps: a watch that begins further back is told that its version is
    /// gone, and its client lists again. Default: 100,000.
    pub history_events_max: usize,
    /// Bytes of all that is stored together, as it is held in memory; writes that need more are
    /// answered with 507. None: no limit. It is not for etcd, which has its own. Default: 2 GiB,
    /// as etcd's.
    pub storage_bytes_max: Option<usize>,
    /// The address by which others reach the server, which is among the endpoints of the service
    /// `kubernetes` and in its certificate. Default: the one that it listens on or, if that is
    /// every address or one of this machine alone, that of the way out.
    pub advertise_address: Option<Ipv4Addr>,
    /// The folder in which everything is kept, durable before it is answered; made if it is not
    /// there. Default: none, everything is gone with the process.
    pub data_dir: Option<PathBuf>,
    /// What it proves itself with and whose tokens and certificates it believes. Default: with a
    /// folder of data what is kept there, else made anew at each start.
    pub keys: ServerKeys,
    /// Whether watches and lists are answered from caches. An etcd that cannot say how far they
    /// are has none: everything is read from it. Default: on any other etcd, as upstream; not on
    /// the engines of this process, which answer as fast from what they hold in memory.
    pub watch_cache: Option<bool>,
    /// Resources without a cache, where there are caches. Default: none.
    pub watch_cache_sizes: WatchCacheSizes,
    /// Which versions of built-in groups are served. Default: the stable ones, as upstream.
    pub runtime_config: RuntimeConfig,
    /// What is done to the values of which resources on their way to storage and back. Default:
    /// nothing, they are readable for whoever can read the folder or the etcd.
    pub encryption: Option<EncryptionConfiguration>,
    /// The file that `encryption` was read from, to be read again when it changes. Default: none,
    /// what `encryption` says stays so.
    pub encryption_file: Option<EncryptionFile>,
    /// The etcd cluster in which everything is kept; other servers may stand on it too. Goes with
    /// no folder, and keeps history as it sees fit. Default: none.
    pub etcd: Option<EtcdServers>,
    /// Whether probes and the version are answered without credentials. Default: yes.
    pub anonymous_health: bool,
    /// Requests that read and are answered at a time; the system's may be as many again, and more
    /// are told to come again. 0: no limit. Default: 400.
    pub requests_max: usize,
    /// The same of requests that change something. Default: 200.
    pub mutating_requests_max: usize,
    /// Connections at a time; more wait. The server's own controllers have their own. Default:
    /// 16,384.
    pub connections_max: usize,
    /// How long it serves as before, once told to end, while `/readyz` fails. Default: none.
    pub shutdown_delay: Duration,
    /// Within what time watches end then, each at a moment of its own. Default: none.
    pub watch_drain: Duration,
    /// The share of requests after which an HTTP/2 connection is told to go. Default: 0.
    pub goaway_chance: f64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tokens: Vec::new(),
            controllers: Controller::ALL.into(),
            seed: None,
            history_events_max: memory::Config::default().history_events_max,
            storage_bytes_max: Some(2 << 30),
            advertise_address: None,
            data_dir: None,
            keys: ServerKeys::default(),
            watch_cache: None,
            watch_cache_sizes: WatchCacheSizes::default(),
            runtime_config: RuntimeConfig::default(),
            encryption: None,
            encryption_file: None,
            etcd: None,
            anonymous_health: true,
            requests_max: kubist_apiserver::REQUESTS_MAX,
            mutating_requests_max: kubist_apiserver::MUTATING_REQUESTS_MAX,
            connections_max: kubist_apiserver::CONNECTIONS_MAX,
            shutdown_delay: Duration::ZERO,
            watch_drain: Duration::ZERO,
            goaway_chance: 0.0,
        }
    }
}

impl ServerConfig {
    /// How the registry is put together over `kv`.
    pub(crate) fn registry(&self, kv: Arc<dyn Kv>, watch_caches: bool) -> RegistryConfig {
        let mut kinds = BuiltIn::default();
        if self.listen.port() != 0 {
            kinds.server_port = self.listen.port();
        }
        let mut settings = RegistryConfig::new(kv, Arc::new(kinds));
        settings.seed = self.seed;
        settings.watch_cache.enabled = watch_caches;
        settings.watch_cache.sizes = self.watch_cache_sizes.clone();
        settings.runtime_config = self.runtime_config.clone();
        let encryption = self.encryption.clone();
        if self.encryption_file.is_some() {
            settings.encryption = Some(LiveEncryption::new(encryption.unwrap_or_default()));
        } else if let Some(encryption) = encryption {
            settings.transformers = encryption.transformers().to_vec();
        }
        if let Some(etcd) = &self.etcd {
            settings.key_root = etcd.key_root();
        }
        settings
    }

    /// Where a store in memory begins. Whoever restarts such a server has an empty one, and the
    /// clients of before, with versions of before: they must find themselves behind it, so that
    /// they list again. So it begins at the microseconds since 1970; no store writes as often.
    /// With a seed, runs are to be the same, and it begins at the first.
    pub(crate) fn first_revision(&self) -> Revision {
        if self.seed.is_some() {
            return Revision::EMPTY_STORE;
        }
        let now = SystemClock.now().as_micros();
        Revision(u64::try_from(now).unwrap_or_default()).max(Revision::EMPTY_STORE)
    }

    /// Whether there are watch caches: if that is asked for, or on etcd if nothing is said.
    pub(crate) fn has_watch_caches(&self, engine: &Engine) -> bool {
        let wanted = self.watch_cache.unwrap_or_else(|| self.etcd.is_some());
        if wanted && !engine.may_answer_progress() {
            tracing::warn!(
                "no watch caches: this etcd cannot say how far they are; it needs 3.4.31 or 3.5.13"
            );
            return false;
        }
        if wanted && !engine.kv().supports_progress_requests() {
            tracing::warn!(
                "a member of etcd has not said its version yet: until it does, what has to be the \
                 newest is read from etcd and not from watch caches"
            );
        }
        wanted
    }
}

/// A controller that can run beside the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Controller {
    /// Deletes what has lost its owners.
    GarbageCollector,
    /// Empties namespaces that are being deleted.
    Namespace,
}

impl Controller {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::GarbageCollector, Self::Namespace];

    /// The name that `kubist serve --controllers` has for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::GarbageCollector => "gc",
            Self::Namespace => "namespace",
        }
    }
}
