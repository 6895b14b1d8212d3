//! `Registry`: every served resource over one engine.
//!
//! Where the API server begins: it makes the stores, finds what is there already, and creates
//! what every cluster has. It serves no requests itself.

mod caches;
mod operating;

use self::caches::Caches;
pub(crate) use self::caches::RunningCache;
pub use self::operating::{CacheState, ObjectCount};
use crate::cacher::Cacher;
use crate::capability::RestStorage;
use crate::catalog::{self, ServedGroup};
use crate::clock::WallClock;
use crate::convert::storage_version;
use crate::custom::Definitions;
use crate::hooks::Hooks;
use crate::random::Random;
use crate::registry_config::RegistryConfig;
use crate::rest::Rest;
use crate::runtime_config::RuntimeConfig;
use crate::service_claims::{Ranges, ServiceClaims};
use crate::storage::{DryRunnable, ListRequest, MadeStorage, Scope, StorageFactory};
use crate::storage_error::Operation;
use crate::storage_key::NoPlace;
use crate::store::Store;
use crate::strategy::{BoxFuture, Lookup};
use crate::subresource::Subresource;
use crate::transformer::LiveEncryption;
use crate::{Predicate, RawStorage, RequestContext, Stored, User};
use hashbrown::HashMap;
use kubist_api::{GROUPS, Kind, ResourceFacts, find_kind};
use kubist_apimachinery::{AnyObject, GroupResource, ListOptions, Status};
use kubist_storage::Kv;
use std::fmt;
use std::sync::Arc;

/// Every served resource. A clone is another handle.
#[derive(Clone)]
pub struct Registry {
    pub(crate) shared: Arc<Shared>,
    resources: Arc<HashMap<Path, Arc<Rest>>>,
    caches: Arc<Caches>,
    /// What the embedder serves beside what is stored.
    more: Arc<[Arc<dyn RestStorage>]>,
    pub(crate) definitions: Arc<Definitions>,
    /// The folder of all keys.
    key_root: Arc<str>,
    encryption: Option<LiveEncryption>,
}

/// Group, version and plural.
type Path = (&'static str, &'static str, &'static str);

/// What all resources share.
pub(crate) struct Shared {
    by_name: HashMap<(&'static str, &'static str), Arc<Store>>,
    pub(crate) engine: Engine,
    pub(crate) random: Arc<Random>,
    /// None if services are not built in.
    pub(crate) services: Option<ServiceClaims>,
    pub(crate) delete_collection_workers: usize,
    pub(crate) clock: Arc<dyn WallClock>,
    pub(crate) server_port: u16,
}

impl Registry {
    /// Makes a registry of all built-in resources that can be stored. [`start`](Self::start) has
    /// to run before it serves.
    pub fn new(config: RegistryConfig) -> Self {
        let mut shared = Shared::empty(&config);
        let mut cachers = Vec::new();
        let mut resources: Vec<(Arc<Store>, &'static ResourceFacts)> = Vec::new();
        for facts in served(&config.runtime_config) {
            let found = find_kind(facts.group, facts.version, facts.kind);
            if found.is_none() || !facts.verbs.contains(&"get") || is_virtual(facts) {
                continue;
            }
            let (group, plural) = storage_name(facts);
            let store = match shared.by_name.get(&(group, plural)) {
                Some(store) => Arc::clone(store),
                None => match new_store(&shared.engine.factory, &mut cachers, group, facts) {
                    Some(mut store) => {
                        store.hooks = shared.hooks(&config, group, plural);
                        shared.add(store)
                    }
                    None => continue,
                },
            };
            resources.push((store, facts));
        }
        let shared = Arc::new(shared);
        let rest = |(store, facts): (Arc<Store>, &'static ResourceFacts)| {
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
        let mut registry = Self {
            shared: Arc::clone(&shared),
            resources: Arc::new(resources),
            caches: Arc::new(Caches::new(cachers)),
            key_root: config.key_root.as_str().into(),
            encryption: config.encryption,
            more: config.resources.into(),
            definitions: Arc::default(),
        };
        let more = registry.more.iter().map(|it| &**it);
        let built_in = catalog::built_in(&registry, &config.runtime_config);
        let groups = catalog::with_more(&built_in, more);
        registry.definitions = Arc::new(Definitions::new(groups));
        registry
    }

    /// Has the watch caches read everything, repairs what services have been allotted (and from
    /// now on, from time to time, until the registry is dropped), creates what every cluster has
    /// (the first namespaces, the service `kubernetes`, priority classes, the administrator's
    /// role), and serves what is defined.
    pub async fn start(&self) -> Result<(), Status> {
        self.caches.start().await;
        if let Some(services) = &self.shared.services {
            services.start().await?;
        }
        crate::bootstrap::run(&self.shared).await?;
        self.load_definitions().await
    }

    /// A stored resource, by the three parts of its path: built in, or defined by a
    /// CustomResourceDefinition. None if it is not served, or is not stored (reviews, bindings).
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Rest>> {
        let path = (group, version, plural);
        if let Some(found) = self.resources.get(&path) {
            return Some(Arc::clone(found));
        }
        self.definitions.served().resources.get(&path).cloned()
    }

    /// A served resource, stored or not, by the three parts of its path.
    pub fn storage(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<Arc<dyn RestStorage>> {
        let mut more = self.more.iter();
        let given = more.find(|it| {
            let facts = it.facts();
            (facts.group, facts.version, facts.plural) == (group, version, plural)
        });
        match given {
            Some(given) => Some(Arc::clone(given)),
            None => Some(self.resource(group, version, plural)?),
        }
    }

    /// Everything that is served now, as discovery tells it.
    pub fn groups(&self) -> Arc<[ServedGroup]> {
        Arc::clone(&self.definitions.served().groups)
    }

    /// All built-in resources that are stored.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<Rest>> {
        self.resources.values()
    }

    /// The context of a request by `user` that comes in now.
    pub fn request(&self, user: User) -> RequestContext {
        RequestContext::new(user, self.shared.clock.now())
    }

    /// The clock that dates objects and requests.
    pub fn clock(&self) -> &Arc<dyn WallClock> {
        &self.shared.clock
    }

    /// Reads objects of all resources by group and plural, in their storage versions.
    pub fn lookup(&self) -> &dyn Lookup {
        &*self.shared
    }

    /// The resources that cannot be served yet, in order.
    pub fn unready_resources(&self) -> Vec<GroupResource> {
        let stores = self.shared.by_name.values();
        let unready = stores.filter(|it| it.storage.readiness().is_err());
        let mut unready: Vec<_> = unready.map(|it| it.resource()).collect();
        unready.sort();
        unready
    }
}

fn served(config: &RuntimeConfig) -> impl Iterator<Item = &'static ResourceFacts> {
    let versions = GROUPS.iter().flat_map(|group| group.versions);
    let resources = versions.flat_map(|version| version.resources);
    resources.filter(|it| config.serves(it.group, it.version))
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

/// What stores are made over.
#[derive(Debug)]
pub(crate) struct Engine {
    kv: Arc<dyn Kv>,
    factory: StorageFactory,
}

impl Engine {
    /// Where servers say that they are there.
    pub(crate) fn leases(&self, resource: &GroupResource, kind: &'static Kind) -> RawStorage {
        self.factory.raw(resource, false, kind)
    }

    /// The objects of a custom resource.
    pub(crate) fn custom(
        &self,
        kind: &'static Kind,
        facts: &ResourceFacts,
        renames_versions: bool,
    ) -> Result<MadeStorage, NoPlace> {
        let (plural, namespaced) = (facts.plural, facts.namespaced);
        self.factory
            .custom(kind, plural, namespaced, renames_versions)
    }
}

fn storage_factory(config: &RegistryConfig) -> StorageFactory {
    let (kv, root) = (Arc::clone(&config.kv), config.key_root.as_str());
    let factory = StorageFactory::new(kv, root, config.cache_bytes_max)
        .with_watch_cache(config.watch_cache.clone());
    let factory = match &config.encryption {
        Some(live) => factory.with_encryption(live.clone()),
        None => factory,
    };
    let transformers = config.transformers.iter().cloned();
    transformers.fold(factory, |factory, (resource, transformer)| {
        factory.with_transformer(resource, transformer)
    })
}

fn new_store(
    factory: &StorageFactory,
    cachers: &mut Vec<(GroupResource, Cacher)>,
    group: &'static str,
    facts: &'static ResourceFacts,
) -> Option<Store> {
    let kind = storage_version(group, facts)?;
    let (plural, namespaced) = (facts.plural, facts.namespaced);
    let resource = GroupResource::new(group, plural);
    let strategy = crate::kinds::strategy(group, plural);
    let made = factory.storage(&resource, namespaced, kind, &strategy);
    cachers.extend(made.cacher.map(|cacher| (resource, cacher)));
    Some(Store {
        group,
        plural,
        namespaced,
        storage: DryRunnable(made.storage),
        strategy,
        has_status: facts.subresources.iter().any(|it| it.name == "status"),
        hooks: Vec::new(),
        definition: None,
        ends: None,
    })
}

impl Shared {
    fn empty(config: &RegistryConfig) -> Self {
        let now = config.clock.now().as_nanos();
        // The low bits are those that differ.
        let low = u64::try_from(now & u128::from(u64::MAX)).expect("64 bits");
        let seed = config.seed.unwrap_or(low);
        let (network, prefix) = config.service_network;
        let random = Arc::new(Random::new(seed));
        let ranges = Ranges {
            network,
            prefix,
            node_ports: config.node_ports.clone(),
        };
        let factory = storage_factory(config);
        let services = ServiceClaims::new(ranges, &factory, &random, &config.clock);
        Self {
            by_name: HashMap::new(),
            engine: Engine {
                kv: Arc::clone(&config.kv),
                factory,
            },
            services,
            random,
            delete_collection_workers: config.delete_collection_workers.max(1),
            clock: Arc::clone(&config.clock),
            server_port: config.server_port,
        }
    }

    fn add(&mut self, store: Store) -> Arc<Store> {
        let (name, store) = ((store.group, store.plural), Arc::new(store));
        self.by_name.insert(name, Arc::clone(&store));
        store
    }

    /// The hooks of a resource: the server's own before those of the configuration.
    fn hooks(&self, config: &RegistryConfig, group: &str, plural: &str) -> Vec<Arc<dyn Hooks>> {
        let mut hooks: Vec<Arc<dyn Hooks>> = Vec::new();
        if (group, plural) == ("", "services") {
            let own = self.services.clone();
            hooks.extend(own.map(|it| Arc::new(it) as Arc<dyn Hooks>));
        }
        let named = config.hooks.iter();
        let named = named.filter(|it| (it.0.as_str(), it.1.as_str()) == (group, plural));
        hooks.extend(named.map(|(_, _, hooks)| Arc::clone(hooks)));
        hooks
    }

    /// The store of a resource, by the group that it is stored under.
    pub(crate) fn find<'a>(&'a self, group: &'a str, plural: &'a str) -> Option<&'a Store> {
        self.by_name.get(&(group, plural)).map(|store| &**store)
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
            .field("stores", &self.by_name.len())
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
