//! `Registry`: every served resource over one storage engine.
//!
//! The entry point of the API server: builds the stores, loads existing state, and creates the
//! system objects of every cluster. It handles no HTTP requests itself.

mod assembly;
mod caches;
pub(crate) mod catalog;
pub(crate) mod config;
pub(crate) mod custom_resources;
mod operating;
pub(crate) mod runtime_config;

use self::caches::Caches;
pub(crate) use self::caches::RunningCache;
pub use self::operating::{CacheState, ObjectCount};
use crate::registry::catalog::ServedGroup;
use crate::registry::config::RegistryConfig;
use crate::registry::custom_resources::served::CustomResources;
use crate::registry::runtime_config::RuntimeConfig;
use crate::rest::Rest;
use crate::rest::capability::RestStorage;
use crate::rest::subresource::Subresource;
use crate::store::Store;
use crate::store::admission::{AdmissionChain, Attributes, Options, Target};
use crate::store::admitting::admit_body;
use crate::store::body_managers;
use crate::store::clock::WallClock;
use crate::store::field_managers::FieldManagers;
use crate::store::stores::Stores;
use crate::stored::scheme::Scheme;
use crate::stored::transformer::LiveEncryption;
use crate::strategy::admission::Lookup;
use crate::strategy::context::{RequestContext, User};
use crate::webhook::WebhookCaller;
use hashbrown::HashMap;
use kubist_api::{GROUPS, Kind, ResourceFacts, VersionFacts, find_kind};
use kubist_apimachinery::wire::Message;
use kubist_apimachinery::{AnyObject, GroupResource, PostOptions, Status};
use std::fmt;
use std::sync::Arc;

/// Every served resource. A clone is another handle.
#[derive(Clone)]
pub struct Registry {
    pub(crate) stores: Arc<Stores>,
    resources: Arc<HashMap<Path, Arc<Rest>>>,
    caches: Arc<Caches>,
    /// The embedder's resources beside the stored ones.
    more: Arc<[Arc<dyn RestStorage>]>,
    pub(crate) custom_resources: Arc<CustomResources>,
    /// The prefix of all keys.
    key_root: Arc<str>,
    encryption: Option<LiveEncryption>,
    webhooks: Option<Arc<dyn WebhookCaller>>,
    /// Those of bodies that are not stored.
    body_managers: Arc<FieldManagers>,
}

/// Group, version and plural.
type Path = (&'static str, &'static str, &'static str);

impl Registry {
    /// Creates a registry of all built-in resources that can be stored. [`start`](Self::start) must
    /// run before it serves.
    pub fn new(config: RegistryConfig) -> Self {
        let mut stores = assembly::empty_stores(&config);
        let mut cachers = Vec::new();
        let mut resources: Vec<(Arc<Store>, &'static ResourceFacts)> = Vec::new();
        for facts in served(&config.runtime_config) {
            let found = find_kind(facts.group, facts.version, facts.kind);
            if found.is_none() || !facts.verbs.contains(&"get") || !config.kinds.is_stored(facts) {
                continue;
            }
            let (group, plural) = (config.kinds.storage_group(facts), facts.plural);
            let store = match stores.by_name.get(&(group, plural)) {
                Some(store) => Arc::clone(store),
                None => match assembly::new_store(&stores, &mut cachers, group, facts) {
                    Some(mut store) => {
                        store.served_as = assembly::served_as(&config, group, plural);
                        store.hooks = assembly::hooks(&stores, &config, group, plural);
                        store.finishing = stores.finishing.clone();
                        stores.add(store)
                    }
                    None => continue,
                },
            };
            resources.push((store, facts));
        }
        let stores = Arc::new(stores);
        let rest = |(store, facts): (Arc<Store>, &'static ResourceFacts)| {
            let kind = find_kind(facts.group, facts.version, facts.kind)?;
            let rest = Rest {
                stores: Arc::clone(&stores),
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
            stores: Arc::clone(&stores),
            resources: Arc::new(resources),
            caches: Arc::new(Caches::new(cachers)),
            key_root: config.key_root.as_str().into(),
            encryption: config.encryption,
            webhooks: config.webhooks,
            more: config.resources.into(),
            custom_resources: Arc::default(),
            body_managers: FieldManagers::built_in(),
        };
        let more = registry.more.iter().map(|it| &**it);
        let built_in = catalog::built_in(&registry, &config.runtime_config);
        let groups = catalog::with_more(&built_in, more);
        registry.custom_resources = Arc::new(CustomResources::new(groups));
        let served = Arc::downgrade(&registry.custom_resources);
        let find = move |api_version: &str, kind: &str| {
            let served = served.upgrade().map(|it| it.served());
            served.map_or_else(Vec::new, |it| it.of_kind(api_version, kind))
        };
        let is_first = registry.stores.find_served.set(Box::new(find)).is_ok();
        debug_assert!(is_first, "the stores are new");
        registry
    }

    /// Waits until the watch caches are filled, creates the system objects of the configured
    /// [kinds](RegistryConfig::kinds), and serves the defined custom resources.
    pub async fn start(&self) -> Result<(), Status> {
        self.caches.start().await;
        if let Some(cluster) = &self.stores.cluster {
            cluster.start(&self.stores).await?;
        }
        self.load_definitions().await
    }

    /// Returns a stored resource by its path: built in, or defined by a CustomResourceDefinition.
    /// `None` if it is not served, or not stored (reviews, bindings).
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Rest>> {
        let path = (group, version, plural);
        if let Some(found) = self.resources.get(&path) {
            return Some(Arc::clone(found));
        }
        self.custom_resources.served().resources.get(&path).cloned()
    }

    /// Returns a served resource by its path, stored or not.
    pub fn storage(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<Arc<dyn RestStorage>> {
        let mut more = self.more.iter();
        let found = more.find(|it| {
            let facts = it.facts();
            (facts.group, facts.version, facts.plural) == (group, version, plural)
        });
        match found {
            Some(found) => Some(Arc::clone(found)),
            None => Some(self.resource(group, version, plural)?),
        }
    }

    /// Returns the resource `bindings`, whose creation assigns a Pod to a node, as that of
    /// `pods/binding` does.
    pub fn bindings(&self) -> Option<Arc<dyn RestStorage>> {
        let facts = core_facts("bindings")?;
        let acting = self.resource("", "v1", "pods")?.acting(facts, "binding")?;
        Some(Arc::new(acting))
    }

    /// Returns everything that is currently served, as in discovery.
    pub fn groups(&self) -> Arc<[ServedGroup]> {
        Arc::clone(&self.custom_resources.served().groups)
    }

    /// Returns all stored resources in their storage versions, for the server's own use.
    pub fn stores(&self) -> &Arc<Stores> {
        &self.stores
    }

    /// Returns all built-in stored resources.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<Rest>> {
        self.resources.values()
    }

    /// Creates the context of a request by `user` that arrives now.
    pub fn request(&self, user: User) -> RequestContext {
        self.stores.request(user)
    }

    /// Returns the scheme of the served kinds: conversions and the presentation of objects.
    pub fn scheme(&self) -> &'static Scheme {
        self.stores.kinds.scheme()
    }

    /// Returns the clock for the timestamps of objects and requests.
    pub fn clock(&self) -> &Arc<dyn WallClock> {
        &self.stores.clock
    }

    /// Returns the admission of requests.
    pub fn admission(&self) -> &AdmissionChain {
        &self.stores.admission
    }

    /// Sets the managed fields of the body of a request that stores none, which is of this kind and
    /// for this subresource.
    pub fn manage_body(
        &self,
        cx: &RequestContext,
        of: (&'static Kind, &'static str),
        options: &PostOptions,
        body: &mut dyn AnyObject,
    ) {
        body_managers::manage(&self.body_managers, cx, of, options, body);
    }

    /// Lets admission change and judge the body of a request that stores none: a review, or a
    /// request of a token.
    ///
    /// # Errors
    /// Admission refuses the request.
    ///
    /// # Cancel safety
    /// Dropping the future may leave the body changed in part.
    pub async fn admit_body(
        &self,
        cx: &RequestContext,
        target: Target<'_>,
        options: Options<'_>,
        body: &mut Box<dyn AnyObject>,
    ) -> Result<(), Status> {
        let stores = &self.stores;
        admit_body(&stores.admission, (cx, stores), (target, options), body).await
    }

    /// Asks admission about a connection. `options` are its options, in their own kind.
    ///
    /// # Errors
    /// Admission refuses the request.
    ///
    /// # Cancel safety
    /// Can be dropped at any time.
    pub async fn admit_connection(
        &self,
        cx: &RequestContext,
        target: Target<'_>,
        options: &dyn Message,
    ) -> Result<(), Status> {
        let chain = &self.stores.admission;
        if !chain.handles(&target) {
            return Ok(());
        }
        let attributes = Attributes::new(target, cx, &self.stores);
        let mut attributes = attributes.with_connection(options);
        chain.admit(&mut attributes).await?;
        chain.validate(&attributes).await
    }

    /// Returns a lookup of the objects of all resources by group and plural, in their storage
    /// versions.
    pub fn lookup(&self) -> &dyn Lookup {
        &*self.stores
    }

    /// Returns the resources that cannot be served yet, in order.
    pub fn unready_resources(&self) -> Vec<GroupResource> {
        let stores = self.stores.by_name.values();
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

/// Returns the facts of a resource of the core group.
fn core_facts(plural: &str) -> Option<&'static ResourceFacts> {
    let group = GROUPS.iter().find(|it| it.name.is_empty())?;
    let mut resources = group.versions.iter().flat_map(|it| it.resources);
    resources.find(|it| it.plural == plural)
}

/// Returns the storage version of a resource: the first of its group in which discovery lists it.
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

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("resources", &self.resources.len())
            .finish_non_exhaustive()
    }
}
