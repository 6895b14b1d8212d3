//! `Registry`: every served resource over one engine.
//!
//! Where the API server begins: it makes the stores, finds what is there already, and creates
//! what every cluster has. It serves no requests itself.

pub(crate) mod announcement;
mod caches;
pub(crate) mod catalog;
pub(crate) mod config;
mod engine;
pub(crate) mod kinds;
mod operating;
pub(crate) mod resource_store;
pub(crate) mod runtime_config;
mod shared;

use self::caches::Caches;
pub(crate) use self::caches::RunningCache;
pub use self::operating::{CacheState, ObjectCount};
pub(crate) use self::shared::Shared;
use crate::custom::Definitions;
use crate::registry::catalog::ServedGroup;
use crate::registry::config::RegistryConfig;
use crate::registry::runtime_config::RuntimeConfig;
use crate::rest::Rest;
use crate::rest::capability::RestStorage;
use crate::rest::subresource::Subresource;
use crate::storage::DryRunnable;
use crate::storage::cacher::Cacher;
use crate::store::Store;
use crate::store::admission::Lookup;
use crate::store::finishing::Finishing;
use crate::stored::scheme::{Scheme, StoredKind};
use crate::stored::transformer::LiveEncryption;
use crate::{RequestContext, User, WallClock};
use hashbrown::HashMap;
use kubist_api::{GROUPS, Kind, ResourceFacts, VersionFacts, find_kind};
use kubist_apimachinery::{GroupResource, Status};
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

impl Registry {
    /// Makes a registry of all built-in resources that can be stored. [`start`](Self::start) has
    /// to run before it serves.
    pub fn new(config: RegistryConfig) -> Self {
        let mut shared = Shared::empty(&config);
        let mut cachers = Vec::new();
        let mut resources: Vec<(Arc<Store>, &'static ResourceFacts)> = Vec::new();
        for facts in served(&config.runtime_config) {
            let found = find_kind(facts.group, facts.version, facts.kind);
            if found.is_none() || !facts.verbs.contains(&"get") || !config.kinds.is_stored(facts) {
                continue;
            }
            let (group, plural) = (config.kinds.storage_group(facts), facts.plural);
            let store = match shared.by_name.get(&(group, plural)) {
                Some(store) => Arc::clone(store),
                None => match new_store(&shared, &mut cachers, group, facts) {
                    Some(mut store) => {
                        store.hooks = shared.hooks(&config, group, plural);
                        store.finishing = shared.finishing.clone();
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

    /// Waits until the watch caches have read everything, creates the objects that every cluster
    /// has, as the configured [kinds](RegistryConfig::kinds) say, and serves the custom resources
    /// that are defined.
    pub async fn start(&self) -> Result<(), Status> {
        self.caches.start().await;
        if let Some(cluster) = &self.shared.cluster {
            cluster.start(self).await?;
        }
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

    /// How the versions of the served kinds are converted, and their objects shown.
    pub fn scheme(&self) -> &'static Scheme {
        self.shared.kinds.scheme()
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
    resources.filter(|it| config.serves_resource(it))
}

/// The version in which a resource is stored: the first of its group in which discovery lists it.
pub fn storage_version(
    group: &'static str,
    facts: &'static ResourceFacts,
) -> Option<&'static Kind> {
    let group = GROUPS.iter().find(|it| it.name == group)?;
    let has = |version: &&VersionFacts| {
        let mut resources = version.resources.iter();
        resources.any(|it| it.plural == facts.plural)
    };
    let version = group.versions.iter().find(has)?.version;
    find_kind(group.name, version, facts.kind)
}

fn new_store(
    shared: &Shared,
    cachers: &mut Vec<(GroupResource, Cacher)>,
    group: &'static str,
    facts: &'static ResourceFacts,
) -> Option<Store> {
    let kind = StoredKind {
        kind: storage_version(group, facts)?,
        scheme: shared.kinds.scheme(),
    };
    let (plural, namespaced) = (facts.plural, facts.namespaced);
    let resource = GroupResource::new(group, plural);
    let strategy = shared.kinds.strategy(group, plural);
    let factory = &shared.engine.factory;
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
        finishing: Finishing::default(),
        definition: None,
        ends: None,
    })
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("resources", &self.resources.len())
            .finish_non_exhaustive()
    }
}
