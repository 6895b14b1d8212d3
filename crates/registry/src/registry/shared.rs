//! `Shared`: what all resources of a registry share, and how they read each other.

use super::engine::Engine;
use crate::registry::config::RegistryConfig;
use crate::registry::kinds::{ClusterObjects, Kinds, RegistryParts};
use crate::storage::error::Operation;
use crate::storage::{ListRequest, Scope};
use crate::store::Store;
use crate::store::admission::Lookup;
use crate::store::clock::WallClock;
use crate::store::finishing::Finishing;
use crate::store::hooks::Hooks;
use crate::store::random::Random;
use crate::store::strategy::BoxFuture;
use crate::{Predicate, Stored};
use hashbrown::HashMap;
use kubist_apimachinery::{AnyObject, ListOptions, Status};
use std::fmt;
use std::sync::Arc;

/// What all resources share.
pub(crate) struct Shared {
    /// By group and plural, as they are stored.
    pub(super) by_name: HashMap<(&'static str, &'static str), Arc<Store>>,
    pub(crate) engine: Engine,
    pub(crate) random: Arc<Random>,
    pub(crate) kinds: Arc<dyn Kinds>,
    /// What every cluster has.
    pub(crate) cluster: Option<Arc<dyn ClusterObjects>>,
    pub(crate) delete_collection_workers: usize,
    pub(crate) clock: Arc<dyn WallClock>,
    pub(crate) finishing: Finishing,
}

impl Shared {
    /// Without stores.
    pub(super) fn empty(config: &RegistryConfig) -> Self {
        let now = config.clock.now().as_nanos();
        // The low bits are those that differ.
        let low = u64::try_from(now & u128::from(u64::MAX)).expect("64 bits");
        let seed = config.seed.unwrap_or(low);
        let random = Arc::new(Random::new(seed));
        let engine = Engine::of(config);
        let cluster = config.kinds.cluster(&RegistryParts {
            factory: &engine.factory,
            scheme: config.kinds.scheme(),
            random: &random,
            clock: &config.clock,
        });
        Self {
            by_name: HashMap::new(),
            engine,
            kinds: Arc::clone(&config.kinds),
            cluster,
            random,
            delete_collection_workers: config.delete_collection_workers.max(1),
            clock: Arc::clone(&config.clock),
            finishing: Finishing::default(),
        }
    }

    /// Adds the store of a resource.
    pub(super) fn add(&mut self, store: Store) -> Arc<Store> {
        let (name, store) = ((store.group, store.plural), Arc::new(store));
        self.by_name.insert(name, Arc::clone(&store));
        store
    }

    /// The hooks of a resource: the server's own before those of the configuration.
    pub(super) fn hooks(
        &self,
        config: &RegistryConfig,
        group: &str,
        plural: &str,
    ) -> Vec<Arc<dyn Hooks>> {
        let mut hooks: Vec<Arc<dyn Hooks>> = Vec::new();
        let own = self.cluster.as_ref();
        hooks.extend(own.and_then(|it| it.hooks(group, plural)));
        let named = config.hooks.iter();
        let named = named.filter(|it| (it.0.as_str(), it.1.as_str()) == (group, plural));
        hooks.extend(named.map(|(_, _, hooks)| Arc::clone(hooks)));
        hooks
    }

    /// The store of a resource, by the group that it is stored under.
    pub(crate) fn find<'a>(&'a self, group: &'a str, plural: &'a str) -> Option<&'a Store> {
        self.by_name(group, plural).map(|store| &**store)
    }

    /// The same, to share.
    pub(super) fn by_name<'a>(&'a self, group: &'a str, plural: &'a str) -> Option<&'a Arc<Store>> {
        self.by_name.get(&(group, plural))
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
