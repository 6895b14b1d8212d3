//! `Stores`: the state that all resources of a registry share, and reads across resources.

use crate::finishing::Finishing;
use crate::store::Store;
use crate::store::admission::chain::AdmissionChain;
use crate::store::clock::WallClock;
use crate::store::engine::Engine;
use crate::store::kinds::{ClusterObjects, Kinds};
use crate::store::known_objects::{self, KnownObjects};
use crate::store::random::Random;
use crate::store::resource_store::ResourceStore;
use crate::stored::Stored;
use crate::strategy::BoxFuture;
use crate::strategy::admission::Lookup;
use crate::strategy::context::{RequestContext, User};
use hashbrown::HashMap;
use kubist_api::ResourceFacts;
use kubist_apimachinery::{AnyObject, Status};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The state that all resources share.
pub struct Stores {
    /// By storage group and plural.
    pub(crate) by_name: HashMap<(&'static str, &'static str), Arc<Store>>,
    pub(crate) engine: Engine,
    pub(crate) random: Arc<Random>,
    pub(crate) kinds: Arc<dyn Kinds>,
    /// The system objects of every cluster.
    pub(crate) cluster: Option<Arc<dyn ClusterObjects>>,
    pub(crate) delete_collection_workers: usize,
    pub(crate) clock: Arc<dyn WallClock>,
    pub(crate) finishing: Finishing,
    pub(crate) admission: AdmissionChain,
    /// Finds what is served of a kind; set once the registry is complete.
    pub(crate) find_served: OnceLock<FindServed>,
    /// Made at its first use, when all stores are there.
    pub(crate) known: OnceLock<KnownObjects>,
}

/// Returns the served resources by the `group/version` and the name of their kind.
pub(crate) type FindServed = Box<dyn Fn(&str, &str) -> Vec<&'static ResourceFacts> + Send + Sync>;

impl Stores {
    /// Returns the objects of a resource in their storage version, by its storage group and plural;
    /// `None` if it is not stored.
    pub fn resource(self: &Arc<Self>, group: &str, plural: &str) -> Option<ResourceStore> {
        let store = self.by_name(group, plural)?;
        Some(ResourceStore::new(self, store))
    }

    /// Returns a new random (version 4) UUID, from the same source as those of objects.
    pub fn new_uid(&self) -> String {
        self.random.uid()
    }

    /// Creates the context of a request by `user` that arrives now.
    pub fn request(&self, user: User) -> RequestContext {
        RequestContext::new(user, self.clock.now())
    }

    /// Returns the resources that are served now with objects of a kind, custom ones included; the
    /// version is `group/version`, or the version alone for core.
    pub fn of_kind(&self, api_version: &str, kind: &str) -> Vec<&'static ResourceFacts> {
        let find = self.find_served.get();
        find.map(|find| find(api_version, kind)).unwrap_or_default()
    }

    /// Returns a generated name that begins with `base`, from the same source as those of objects.
    pub fn new_name(&self, base: &str) -> String {
        self.random.name(base)
    }

    /// Returns what runs the end of writes, even if their request is dropped.
    pub fn finishing(&self) -> &Finishing {
        &self.finishing
    }

    /// Adds the store of a resource.
    pub(crate) fn add(&mut self, store: Store) -> Arc<Store> {
        let (name, store) = ((store.group, store.plural), Arc::new(store));
        self.by_name.insert(name, Arc::clone(&store));
        store
    }

    /// Returns the store of a resource, by its storage group.
    pub(crate) fn find<'a>(&'a self, group: &'a str, plural: &'a str) -> Option<&'a Store> {
        self.by_name(group, plural).map(|store| &**store)
    }

    /// As `find`, but returns a shared handle.
    pub(crate) fn by_name<'a>(&'a self, group: &'a str, plural: &'a str) -> Option<&'a Arc<Store>> {
        self.by_name.get(&(group, plural))
    }

    /// Returns the objects as admission reads them.
    pub(crate) fn known(&self) -> &KnownObjects {
        self.known
            .get_or_init(|| KnownObjects::new(self.by_name.clone()))
    }

    /// Reads one object of a store; `None` if it does not exist.
    pub(crate) async fn one(
        &self,
        store: &Store,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Stored>, Status> {
        known_objects::one_at(store, namespace, name, None).await
    }

    /// Does the same in a state as [`Storage::get`](crate::Storage::get) has it.
    pub(crate) async fn one_at(
        &self,
        store: &Store,
        namespace: &str,
        name: &str,
        not_older_than: Option<u64>,
    ) -> Result<Option<Stored>, Status> {
        known_objects::one_at(store, namespace, name, not_older_than).await
    }

    /// Lists the objects of a store, in one namespace or in all.
    pub(crate) async fn all(&self, store: &Store, namespace: &str) -> Result<Vec<Stored>, Status> {
        known_objects::all_at(store, namespace, None).await
    }
}

impl Lookup for Stores {
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
            Ok(known_objects::readable(&self.all(store, namespace).await?))
        })
    }
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores")
            .field("stores", &self.by_name.len())
            .finish_non_exhaustive()
    }
}
