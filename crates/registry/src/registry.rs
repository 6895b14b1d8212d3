//! `Registry`: every served resource over one engine.
//!
//! Where the API server begins: it makes the stores, finds what is there already, and creates
//! what every cluster has. It serves no requests itself.

mod caches;

use self::caches::Caches;
use crate::cacher::Cacher;
use crate::clock::{SystemClock, WallClock};
use crate::convert::storage_version;
use crate::random::Random;
use crate::rest::Rest;
use crate::service_claims::{Ranges, ServiceClaims};
use crate::storage::{DryRunnable, ListRequest, Scope, StorageFactory, WatchCache};
use crate::storage_error::Operation;
use crate::store::Store;
use crate::strategy::{BoxFuture, Lookup};
use crate::subresource::Subresource;
use crate::transformer::Transformer;
use crate::{Predicate, RequestContext, Stored, User};
use hashbrown::HashMap;
use kubist_api::{GROUPS, ResourceFacts, find_kind};
use kubist_apimachinery::{AnyObject, GroupResource, ListOptions, Status};
use kubist_storage::{Kv, ReadError};
use std::fmt;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// How a registry is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RegistryConfig {
    /// Where everything is stored.
    pub kv: Arc<dyn Kv>,
    /// Where timestamps come from. Default: the machine's clock.
    pub clock: Arc<dyn WallClock>,
    /// What uids and generated names come from. Two servers on one store need two seeds.
    /// Default: the clock's time when the registry is made.
    pub seed: Option<u64>,
    /// The folder of all keys. Default: `/registry`, as upstream.
    pub key_root: String,
    /// The network of cluster IPs. Default: 10.96.0.0/16.
    pub service_network: (Ipv4Addr, u32),
    /// The ports of nodes that services get. Default: 30000 to 32767, as upstream.
    pub node_ports: RangeInclusive<u16>,
    /// The port of the API server, to which the service `kubernetes` leads. Default: 6443.
    pub server_port: u16,
    /// Estimated bytes of decoded and encoded objects that are remembered. Default: 512 MiB.
    pub cache_bytes_max: usize,
    /// Which resources have a watch cache. Default: none.
    pub watch_cache: WatchCache,
    /// What is done to the values of a resource on their way to storage and back, such as
    /// encryption. Default: nothing.
    pub transformers: Vec<(GroupResource, Arc<dyn Transformer>)>,
}

impl RegistryConfig {
    /// The defaults, over `kv`.
    pub fn new(kv: Arc<dyn Kv>) -> Self {
        Self {
            kv,
            clock: Arc::new(SystemClock),
            seed: None,
            key_root: "/registry".to_owned(),
            service_network: (Ipv4Addr::new(10, 96, 0, 0), 16),
            node_ports: 30_000..=32_767,
            server_port: 6443,
            cache_bytes_max: 512 << 20,
            watch_cache: WatchCache::default(),
            transformers: Vec::new(),
        }
    }
}

/// Every served resource. A clone is another handle.
#[derive(Clone)]
pub struct Registry {
    kv: Arc<dyn Kv>,
    shared: Arc<Shared>,
    resources: Arc<HashMap<Path, Arc<Rest>>>,
    caches: Arc<Caches>,
}

/// Group, version and plural.
type Path = (&'static str, &'static str, &'static str);

/// What all resources share.
pub(crate) struct Shared {
    stores: Vec<Store>,
    by_name: HashMap<(&'static str, &'static str), usize>,
    pub(crate) random: Random,
    pub(crate) services: ServiceClaims,
    pub(crate) clock: Arc<dyn WallClock>,
    pub(crate) server_port: u16,
}

impl Registry {
    /// Makes a registry of all built-in resources that can be stored. [`start`](Self::start) has
    /// to run before it serves.
    pub fn new(config: RegistryConfig) -> Self {
        let factory = storage_factory(&config);
        let mut shared = Shared::empty(&config);
        let mut cachers = Vec::new();
        let mut resources: Vec<(usize, &'static ResourceFacts)> = Vec::new();
        for facts in served() {
            let found = find_kind(facts.group, facts.version, facts.kind);
            if found.is_none() || !facts.verbs.contains(&"get") || is_virtual(facts) {
                continue;
            }
            let (group, plural) = storage_name(facts);
            let store = match shared.by_name.get(&(group, plural)) {
                Some(store) => *store,
                None => match new_store(&factory, &mut cachers, group, facts) {
                    Some(store) => shared.add(store),
                    None => continue,
                },
            };
            resources.push((store, facts));
        }
        let shared = Arc::new(shared);
        let rest = |(store, facts): (usize, &'static ResourceFacts)| {
            let kind = find_kind(facts.group, facts.version, facts.kind)?;
            let rest = Rest {
                shared: Arc::clone(&shared),
                facts,
                kind,
                store,
                subresource: Subresource::None,
            };
            let name = (facts.group, facts.version, facts.plural);
            Some((name, Arc::new(rest)))
        };
        let resources = resources.into_iter().filter_map(rest).collect();
        Self {
            kv: config.kv,
            shared,
            resources: Arc::new(resources),
            caches: Arc::new(Caches::new(cachers)),
        }
    }

    /// Has the watch caches read everything, finds out what services have been allotted, and
    /// creates what every cluster has: the first namespaces, the service `kubernetes`, priority
    /// classes, the administrator's role.
    pub async fn start(&self) -> Result<(), Status> {
        self.caches.start().await;
        self.recover_services().await?;
        crate::bootstrap::run(&self.shared).await
    }

    /// A served resource, by the three parts of its path. None if it is not served, or is not
    /// stored (reviews, bindings).
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Rest>> {
        self.resources.get(&(group, version, plural)).cloned()
    }

    /// All served resources.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<Rest>> {
        self.resources.values()
    }

    /// The context of a request by `user` that comes in now.
    pub fn request(&self, user: User) -> RequestContext {
        RequestContext::new(user, self.shared.clock.now())
    }

    /// Asks storage where it stands, which it answers as long as it is well.
    ///
    /// # Errors
    /// It is closed, or cannot be reached. It may as well take long: the caller sets the limit.
    pub async fn storage_health(&self) -> Result<(), ReadError> {
        self.kv.revision().await.map(drop)
    }

    /// Reads objects of all resources by group and plural, in their storage versions.
    pub fn lookup(&self) -> &dyn Lookup {
        &*self.shared
    }

    /// Whether every resource can be served; the plural names of those that cannot.
    pub fn unready_resources(&self) -> Vec<&'static str> {
        let stores = self.shared.stores.iter();
        let unready = stores.filter(|it| it.storage.readiness().is_err());
        unready.map(|it| it.plural).collect()
    }

    async fn recover_services(&self) -> Result<(), Status> {
        let Some(services) = self.shared.find("", "services") else {
            return Ok(());
        };
        for stored in self.shared.all(services, "").await? {
            self.shared.services.recover(&stored);
        }
        Ok(())
    }
}

fn served() -> impl Iterator<Item = &'static ResourceFacts> {
    let versions = GROUPS.iter().flat_map(|group| group.versions);
    versions.flat_map(|version| version.resources)
}

/// Resources that are made up when asked for.
fn is_virtual(facts: &ResourceFacts) -> bool {
    facts.plural == "componentstatuses"
}

/// Where a resource is stored: events have two groups and one store.
fn storage_name(facts: &ResourceFacts) -> (&'static str, &'static str) {
    match (facts.group, facts.plural) {
        ("events.k8s.io", "events") => ("", "events"),
        (group, plural) => (group, plural),
    }
}

fn storage_factory(config: &RegistryConfig) -> StorageFactory {
    let (kv, root) = (Arc::clone(&config.kv), config.key_root.as_str());
    let factory = StorageFactory::new(kv, root, config.cache_bytes_max)
        .with_watch_cache(config.watch_cache.clone());
    let transformers = config.transformers.iter().cloned();
    transformers.fold(factory, |factory, (resource, transformer)| {
        factory.with_transformer(resource, transformer)
    })
}

fn new_store(
    factory: &StorageFactory,
    cachers: &mut Vec<Cacher>,
    group: &'static str,
    facts: &'static ResourceFacts,
) -> Option<Store> {
    let kind = storage_version(group, facts)?;
    let (plural, namespaced) = (facts.plural, facts.namespaced);
    let resource = GroupResource::new(group, plural);
    let strategy = crate::kinds::strategy(group, plural);
    let made = factory.storage(&resource, namespaced, kind, &strategy);
    cachers.extend(made.cacher);
    Some(Store {
        group,
        plural,
        namespaced,
        storage: DryRunnable(made.storage),
        strategy,
        has_status: facts.subresources.iter().any(|it| it.name == "status"),
    })
}

impl Shared {
    fn empty(config: &RegistryConfig) -> Self {
        let now = config.clock.now().as_nanos();
        // The low bits are those that differ.
        let low = u64::try_from(now & u128::from(u64::MAX)).expect("64 bits");
        let seed = config.seed.unwrap_or(low);
        let (network, prefix) = config.service_network;
        Self {
            stores: Vec::new(),
            by_name: HashMap::new(),
            random: Random::new(seed),
            services: ServiceClaims::new(Ranges {
                network,
                prefix,
                node_ports: config.node_ports.clone(),
            }),
            clock: Arc::clone(&config.clock),
            server_port: config.server_port,
        }
    }

    fn add(&mut self, store: Store) -> usize {
        let index = self.stores.len();
        self.by_name.insert((store.group, store.plural), index);
        self.stores.push(store);
        index
    }

    pub(crate) fn store(&self, index: usize) -> &Store {
        &self.stores[index]
    }

    /// The store of a resource, by the group that it is stored under.
    pub(crate) fn find(&self, group: &str, plural: &str) -> Option<&Store> {
        let index = self.by_name.get(&(group, plural))?;
        Some(&self.stores[*index])
    }

    /// One object of a store; None if it does not exist.
    pub(crate) async fn one(
        &self,
        store: &Store,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Stored>, Status> {
        let Ok(key) = store.storage.keys().key(namespace, name) else {
            return Ok(None);
        };
        let found = store.storage.get(&key, None).await;
        found.map_err(|error| error.to_status(Operation::Get, &store.resource(), name))
    }

    /// All objects of a store, in a namespace or in all.
    pub(crate) async fn all(&self, store: &Store, namespace: &str) -> Result<Vec<Stored>, Status> {
        let request = ListRequest {
            resource: &store.resource(),
            scope: Scope {
                namespace,
                name: None,
            },
            predicate: &Predicate::everything(Arc::clone(&store.strategy)),
            options: &ListOptions::default(),
        };
        Ok(store.storage.list(request).await?.items)
    }
}

impl Lookup for Shared {
    fn get<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn AnyObject>>, Status>> {
        Box::pin(async move {
            let Some(store) = self.find(group, plural) else {
                return Ok(None);
            };
            match self.one(store, namespace, name).await? {
                Some(stored) => Ok(Some(Arc::clone(stored.object()?))),
                None => Ok(None),
            }
        })
    }

    fn list<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn AnyObject>>, Status>> {
        Box::pin(async move {
            let Some(store) = self.find(group, plural) else {
                return Ok(Vec::new());
            };
            let all = self.all(store, namespace).await?;
            // One object that cannot be read does not hide the others.
            let readable = all.iter().filter_map(|stored| stored.object().ok());
            Ok(readable.map(Arc::clone).collect())
        })
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("stores", &self.stores.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("resources", &self.resources.len())
            .finish_non_exhaustive()
    }
}
