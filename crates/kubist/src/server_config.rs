//! `ServerConfig`: the configuration of a [`Server`](crate::Server).

use crate::authentication_file::AuthenticationFile;
use crate::authorization_file::AuthorizationFile;
use crate::encryption_file::EncryptionFile;
use crate::engine::{ApartEngine, Engine, EtcdServers};
use crate::server_keys::ServerKeys;
use kubist_admission::{PluginSelection, Unprivileged};
use kubist_apiserver::audit::Audit;
use kubist_apiserver::{
    AggregationConfig, Anonymous, Authenticators, Authorization, Backends, DynamicAdmission,
    RequestObserver, StaticToken, Webhooks,
};
use kubist_kinds::BuiltIn;
use kubist_registry::admission::AdmissionPlugin;
use kubist_registry::storage::WatchCacheSizes;
use kubist_registry::transformer::{EncryptionConfiguration, LiveEncryption};
use kubist_registry::{RegistryConfig, RuntimeConfig, SystemClock, WallClock, WebhookCaller};
use kubist_storage::memory::MemoryKv;
use kubist_storage::{Kv, Revision, memory};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The configuration of a server. Every field has a default.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct ServerConfig {
    /// The address to listen on; nothing else is bound. `None`: no port, no certificates and no
    /// keys; the clients of this process are the only ones
    /// ([`Server::in_process_client`](crate::Server::in_process_client)). Default: a free port of
    /// the IPv4 loopback address.
    pub listen: Option<SocketAddr>,
    /// Bearer tokens of the administrator. Default: none.
    pub tokens: Vec<String>,
    /// Bearer tokens of users. Default: none.
    pub user_tokens: Vec<StaticToken>,
    /// Who else is believed: issuers of tokens, proxies, webhooks, and authenticators of one's own
    /// ([`RequestAuthenticator`](crate::apiserver::RequestAuthenticator) has an example). Default:
    /// the service accounts that the server issues tokens for.
    pub authenticators: Authenticators,
    /// The controllers to run. Default: [`Controller::USUAL`].
    pub controllers: BTreeSet<Controller>,
    /// Seed of uids, generated names and everything else that is chosen at random, for reproducible
    /// runs; the revisions of an in-memory store
    /// then begin at one. Default: none; uids are random, and revisions keep growing across
    /// restarts.
    pub seed: Option<u64>,
    /// The clock of all timestamps: of objects, requests, events. Default: the machine's.
    pub clock: Arc<dyn WallClock>,
    /// Is told of every request, as upstream's audit log. Default: nobody.
    pub observer: Option<Arc<dyn RequestObserver>>,
    /// The in-memory store to begin with, such as a fork of another server's; it belongs to this
    /// server from now on. Excludes a data directory and etcd. Default: none, and an empty one is
    /// created.
    pub store: Option<MemoryKv>,
    /// Number of events that the store keeps: a watch from an earlier version gets 410 Gone, and
    /// its client lists again. Default: 100,000.
    pub history_events_max: usize,
    /// How long events are kept: those that are older are discarded, and etcd is told to compact at
    /// this interval. Zero: no event is discarded for its age. Default: 5 minutes, as upstream.
    pub history_age: Duration,
    /// Maximum bytes of the stored data, as held in memory; writes beyond it get 507. `None`: no
    /// limit. Not for etcd, which has its own quota. Default: 2 GiB, as etcd's.
    pub storage_bytes_max: Option<usize>,
    /// The estimated size in bytes of the cache of decoded and encoded objects, shared by all
    /// kinds. A list of JSON whose objects fit into it, at eight times their stored size, is not
    /// encoded again. Default: 512 MiB.
    pub object_cache_bytes_max: usize,
    /// The advertised address, for the endpoints of the service `kubernetes` and the certificate.
    /// Default: the listen address or, if that is unspecified or loopback, the source address of
    /// the default route.
    pub advertise_address: Option<Ipv4Addr>,
    /// The network of cluster IPs: its address and prefix length. Default: 10.96.0.0/16.
    pub service_network: (Ipv4Addr, u32),
    /// The node ports of services. Default: 30000 to 32767, as upstream.
    pub node_ports: RangeInclusive<u16>,
    /// The data directory, in which every write is durable before it is acknowledged; created if it
    /// does not exist. Default: none, and the data ends with the process.
    pub data_dir: Option<PathBuf>,
    /// Certificates and keys. Default: those stored in the data directory, or new ones at each
    /// start without one.
    pub keys: ServerKeys,
    /// Whether watches and lists are served from watch caches. An etcd without reliable progress
    /// notifications has none. Default: enabled on any other etcd, as upstream; disabled for
    /// engines in this process, which serve as fast from memory.
    pub watch_cache: Option<bool>,
    /// Resources without a watch cache. Default: none.
    pub watch_cache_sizes: WatchCacheSizes,
    /// The enabled versions of built-in groups. Default: the stable ones, as upstream.
    pub runtime_config: RuntimeConfig,
    /// The encryption of resources at rest. Default: none; values are readable by anyone with
    /// access to the directory or etcd.
    pub encryption: Option<EncryptionConfiguration>,
    /// The file that `encryption` was read from, to be reloaded when it changes. Default: none; the
    /// configuration is fixed.
    pub encryption_file: Option<EncryptionFile>,
    /// The etcd cluster that stores everything; other servers may share it. Excludes a data
    /// directory, and has its own history settings. Default: none.
    pub etcd: Option<EtcdServers>,
    /// Who decides about requests. With [`Authorization::rbac`] the stored roles do, and upstream's
    /// default roles are created and maintained. Default: everything is allowed to every
    /// authenticated user, which suits tests.
    pub authorization: Authorization,
    /// Records requests by a policy, as upstream's audit log. Default: none.
    pub audit: Option<Audit>,
    /// Which of upstream's admission plugins are enabled. Default: upstream's default ones, as far
    /// as they exist.
    pub admission_plugins: PluginSelection,
    /// Further admission plugins, which run after those and before webhooks and quotas. Default:
    /// none.
    ///
    /// ```
    /// use kubist::registry::BoxFuture;
    /// use kubist::registry::admission::{AdmissionPlugin, Attributes, Target};
    /// use kubist::{ServerConfig, apimachinery::Status};
    /// use std::sync::Arc;
    ///
    /// /// Lets nobody touch namespaces whose name begins with `prod-`.
    /// #[derive(Debug)]
    /// struct Frozen;
    ///
    /// impl AdmissionPlugin for Frozen {
    ///     fn name(&self) -> &'static str {
    ///         "Frozen"
    ///     }
    ///     fn handles(&self, target: &Target<'_>) -> bool {
    ///         target.namespace.starts_with("prod-")
    ///     }
    ///     fn validate<'a>(
    ///         &'a self,
    ///         attributes: &'a Attributes<'_>,
    ///     ) -> BoxFuture<'a, Result<(), Status>> {
    ///         Box::pin(async move { Err(attributes.forbidden("it is frozen")) })
    ///     }
    /// }
    ///
    /// let config = ServerConfig {
    ///     admission: vec![Arc::new(Frozen)],
    ///     ..ServerConfig::default()
    /// };
    /// # drop(config);
    /// ```
    pub admission: Vec<Arc<dyn AdmissionPlugin>>,
    /// Whether Pods may have privileged containers, and processes of a Windows host. Default: yes;
    /// upstream's default is no.
    pub allow_privileged: bool,
    /// Which requests without credentials are served. Default: all, and the authorization decides,
    /// as upstream; where it allows everything, only health checks and the version.
    pub anonymous: Anonymous,
    /// The file that the issuers of JWTs in `authenticators` were read from, to be followed.
    /// Default: none; they are fixed.
    pub authentication_file: Option<AuthenticationFile>,
    /// The file that the modes of `authorization`, which are then
    /// [replaceable](Authorization::replaceable), were read from, to be followed. Default: none;
    /// they are fixed.
    pub authorization_file: Option<AuthorizationFile>,
    /// Limit of read-only requests in flight; system users may have as many again, and further
    /// requests get 429. 0: no limit. Default: 400.
    pub requests_max: usize,
    /// The same for mutating requests. Default: 200.
    pub mutating_requests_max: usize,
    /// Whether the stored flow schemas and priority levels are obeyed: each request is classified,
    /// and gets the seats of its level or waits in a fair queue, as upstream. The seats are those
    /// of both limits together. Upstream's default schemas and levels are created and maintained.
    /// Default: no, which suits tests.
    pub priority_and_fairness: bool,
    /// Limit of connections; more wait. The server's own controllers do not count. Default: 16,384.
    pub connections_max: usize,
    /// How it connects to kubelets, Pods and Services. Default: as upstream without options.
    pub backends: Backends,
    /// Whether CBOR is offered beside JSON and protobuf, as with upstream's gate
    /// `CBORServingAndStorage`. Custom resources are stored as JSON with it and without, and read
    /// in both. Default: no, as upstream.
    pub cbor: bool,
    /// How it reaches the servers of `APIService`s. Default: without a client certificate.
    pub aggregation: AggregationConfig,
    /// How long the server keeps serving after shutdown began, while `/readyz` fails. Default:
    /// none.
    pub shutdown_delay: Duration,
    /// Period over which watches end at shutdown, each at a random moment. Default: none.
    pub watch_drain: Duration,
    /// The probability that an HTTP/2 request makes its connection receive GOAWAY. Default: 0.
    pub goaway_chance: f64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            tokens: Vec::new(),
            user_tokens: Vec::new(),
            authenticators: Authenticators::default(),
            controllers: Controller::USUAL.into(),
            seed: None,
            clock: Arc::new(SystemClock),
            observer: None,
            store: None,
            history_events_max: memory::Config::default().history_events_max,
            history_age: memory::Config::default().history_age,
            storage_bytes_max: Some(2 << 30),
            object_cache_bytes_max: 512 << 20,
            advertise_address: None,
            service_network: BuiltIn::default().service_network,
            node_ports: BuiltIn::default().node_ports,
            data_dir: None,
            keys: ServerKeys::default(),
            watch_cache: None,
            watch_cache_sizes: WatchCacheSizes::default(),
            runtime_config: RuntimeConfig::default(),
            encryption: None,
            encryption_file: None,
            etcd: None,
            authorization: Authorization::default(),
            audit: None,
            admission_plugins: PluginSelection::default(),
            admission: Vec::new(),
            allow_privileged: true,
            anonymous: Anonymous::default(),
            authentication_file: None,
            authorization_file: None,
            requests_max: kubist_apiserver::REQUESTS_MAX,
            mutating_requests_max: kubist_apiserver::MUTATING_REQUESTS_MAX,
            priority_and_fairness: false,
            cbor: false,
            connections_max: kubist_apiserver::CONNECTIONS_MAX,
            backends: Backends::default(),
            aggregation: AggregationConfig::default(),
            shutdown_delay: Duration::ZERO,
            watch_drain: Duration::ZERO,
            goaway_chance: 0.0,
        }
    }
}

impl ServerConfig {
    /// Returns the registry configuration over `kv`. Its requests pass the stored webhooks and
    /// policies.
    pub(crate) fn registry(
        &self,
        kv: Arc<dyn Kv>,
        apart: &[ApartEngine],
        watch_caches: bool,
        stored: &DynamicAdmission,
    ) -> RegistryConfig {
        let mut kinds = BuiltIn::default();
        kinds.default_roles = self.authorization.obeys_roles();
        kinds.default_flows = self.priority_and_fairness;
        kinds.service_network = self.service_network;
        kinds.node_ports = self.node_ports.clone();
        let port = self.listen.map_or(0, |it| it.port());
        if port != 0 {
            kinds.server_port = port;
        }
        let mut settings = RegistryConfig::new(kv, Arc::new(kinds));
        for ApartEngine { engine, resources } in apart {
            let kv = engine.kv();
            let theirs = resources.iter().map(|of| (of.clone(), Arc::clone(&kv)));
            settings.engines.extend(theirs);
        }
        settings.seed = self.seed;
        settings.clock = Arc::clone(&self.clock);
        settings.cache_bytes_max = self.object_cache_bytes_max;
        let webhooks: Arc<dyn WebhookCaller> = Arc::new(Webhooks::new());
        let authorizer = self.authorization.authorizer();
        let stored = stored.plugins(Some(Arc::clone(&webhooks)), &self.authorization);
        let mut plugins: Vec<Arc<dyn AdmissionPlugin>> = self.admission.clone();
        if !self.allow_privileged {
            plugins.push(Arc::new(Unprivileged));
        }
        plugins.extend(stored);
        settings.admission = self.admission_plugins.chain_with(&authorizer, plugins);
        settings.webhooks = Some(webhooks);
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

    /// The first revision of an in-memory store. A restarted server has an empty store, and its
    /// former clients have old resource versions, which must be older than its history so that they
    /// list again. So it begins at the microseconds since 1970, which no store exceeds by writing.
    /// With a seed, it begins at one.
    pub(crate) fn first_revision(&self) -> Revision {
        if self.seed.is_some() {
            return Revision::EMPTY_STORE;
        }
        let now = self.clock.now().as_micros();
        Revision(u64::try_from(now).unwrap_or_default()).max(Revision::EMPTY_STORE)
    }

    /// Returns whether watch caches are enabled: explicitly, or by default on etcd.
    pub(crate) fn has_watch_caches(&self, engine: &Engine) -> bool {
        let wanted = self.watch_cache.unwrap_or_else(|| self.etcd.is_some());
        if wanted && !engine.may_support_progress_requests() {
            tracing::warn!("watch caches are disabled: they need etcd 3.4.31 or 3.5.13");
            return false;
        }
        if wanted && !engine.kv().supports_progress_requests() {
            tracing::warn!(
                "the version of an etcd member is not known yet: until then consistent reads \
                 are served from etcd and not from watch caches"
            );
        }
        wanted
    }
}

/// A controller that can run beside the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Controller {
    /// Deletes objects whose owners are gone.
    GarbageCollector,
    /// Empties namespaces that are being deleted.
    Namespace,
    /// Combines the rules of `ClusterRole`s with an `aggregationRule`.
    ClusterRoleAggregation,
    /// Counts the usage of resource quotas, without which they limit nothing.
    ResourceQuota,
    /// Checks the types in the expressions of `ValidatingAdmissionPolicy`s, for their status.
    PolicyTypes,
    /// Makes the `ServiceAccount` `default` in every namespace.
    ServiceAccount,
    /// Makes the `ConfigMap` `kube-root-ca.crt` in every namespace, with the server's certificate
    /// authority. Where the server does not listen there is none, and the controller does nothing.
    RootCertificates,
    /// Makes an `APIService` for each group version that the server itself serves.
    LocalApiServices,
    /// Stores the objects of a resource anew for each `StorageVersionMigration`, where those are
    /// served.
    StorageVersionMigrator,
}

impl Controller {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::GarbageCollector,
        Self::Namespace,
        Self::ClusterRoleAggregation,
        Self::ResourceQuota,
        Self::PolicyTypes,
        Self::ServiceAccount,
        Self::RootCertificates,
        Self::LocalApiServices,
        Self::StorageVersionMigrator,
    ];

    /// Those that make no objects of their own: all but the three for
    /// namespaces and `APIService`s.
    pub const USUAL: [Self; 6] = [
        Self::GarbageCollector,
        Self::Namespace,
        Self::ClusterRoleAggregation,
        Self::ResourceQuota,
        Self::PolicyTypes,
        Self::StorageVersionMigrator,
    ];

    /// The service account in `kube-system` that it acts as: that of upstream's controller.
    pub fn account(self) -> &'static str {
        match self {
            Self::GarbageCollector => "generic-garbage-collector",
            Self::Namespace => "namespace-controller",
            Self::ClusterRoleAggregation => "clusterrole-aggregation-controller",
            Self::ResourceQuota => "resourcequota-controller",
            Self::PolicyTypes => "validatingadmissionpolicy-status-controller",
            Self::ServiceAccount => "service-account-controller",
            Self::RootCertificates => "root-ca-cert-publisher",
            Self::LocalApiServices => "local-apiservice-controller",
            Self::StorageVersionMigrator => "storage-version-migrator-controller",
        }
    }

    /// The name in `kubist serve --controllers`.
    pub fn name(self) -> &'static str {
        match self {
            Self::GarbageCollector => "gc",
            Self::Namespace => "namespace",
            Self::ClusterRoleAggregation => "clusterrole-aggregation",
            Self::ResourceQuota => "resourcequota",
            Self::PolicyTypes => "policy-types",
            Self::ServiceAccount => "serviceaccount",
            Self::RootCertificates => "root-ca-cert-publisher",
            Self::LocalApiServices => "local-apiservices",
            Self::StorageVersionMigrator => "storage-version-migrator",
        }
    }
}
