//! What whoever operates a registry asks it: what it counts, how much it holds, a copy of it.

use super::Registry;
use crate::metrics::ResourceMetrics;
use crate::rest::Rest;
use crate::storage::cacher::CacherStats;
use crate::store::announcement::Announcement;
use crate::stored::transformer::{LiveEncryption, TransformCounts};
use futures_util::stream::{self, StreamExt};
use kubist_apimachinery::{GroupResource, Str};
use kubist_storage::backup::Snapshot;
use kubist_storage::{Fault, KeyRange, ReadError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Resources that are counted at a time.
const COUNTED_AT_ONCE: usize = 16;
/// How long counting the objects of one resource may take.
const COUNTED_WITHIN: Duration = Duration::from_secs(1);

/// How many objects a resource has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectCount {
    /// The API group; empty for core.
    pub group: Str,
    /// The plural name.
    pub resource: Str,
    /// How many; None if storage did not say.
    pub objects: Option<usize>,
}

/// A watch cache, and how much it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheState {
    /// The API group; empty for core.
    pub group: Str,
    /// The plural name.
    pub resource: Str,
    /// How much it holds.
    pub stats: CacherStats,
}

impl Registry {
    /// Keeps the objects that every cluster has: those that [`start`](Self::start) creates, the
    /// endpoints of the service `kubernetes`, and the config maps in which upstream's servers
    /// publish their settings. Runs until it is dropped; each server runs one.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped at any time, and run again. The server's endpoint disappears 15 s later.
    pub async fn run_system_objects(&self, announcement: &Announcement) {
        if let Some(cluster) = &self.stores.cluster {
            cluster.run(&self.stores, announcement).await;
        }
    }

    /// Forgets the forms of objects (decoded, as JSON, as protobuf) that nobody has asked for since
    /// this was called the time before last. They are remembered up to
    /// [`cache_bytes_max`](crate::RegistryConfig::cache_bytes_max) otherwise, for as long as no
    /// others need the room. May take long after a burst.
    pub fn forget_unused(&self) {
        self.stores.engine.factory.forget_unused();
    }

    /// Asks storage where it stands, which it answers as long as it is well.
    ///
    /// # Errors
    /// It is closed, or cannot be reached. It may as well take long: the caller sets the limit.
    pub async fn storage_health(&self) -> Result<(), ReadError> {
        self.stores.engine.kv.revision().await.map(drop)
    }

    /// Whether storage takes writes, as far as it knows without trying.
    ///
    /// # Errors
    /// Why it does not: its disk is full, or may not be written to.
    pub fn storage_writable(&self) -> Result<(), Fault> {
        self.stores.engine.kv.writable()
    }

    /// What is counted about each resource.
    pub fn metrics(&self) -> Vec<Arc<ResourceMetrics>> {
        self.stores.engine.factory.metrics()
    }

    /// The resources that have a watch cache now, custom ones too, and how those are.
    pub fn watch_caches(&self) -> Vec<CacheState> {
        let served = self.definitions.served();
        let all = self.caches.stats().chain(served.caches());
        let state = all.map(|(of, stats)| CacheState {
            group: of.group,
            resource: of.resource,
            stats,
        });
        state.collect()
    }

    /// What the transformers of values have done, by resource.
    pub fn transformations(&self) -> Vec<(GroupResource, TransformCounts)> {
        self.stores.engine.factory.transformations()
    }

    /// The configuration of encryption; None if it is not one that can be replaced.
    pub fn encryption(&self) -> Option<&LiveEncryption> {
        self.encryption.as_ref()
    }

    /// Counts the objects of every stored resource, those defined by a CustomResourceDefinition
    /// too: some at a time, and each for a second at most.
    pub async fn object_counts(&self) -> Vec<ObjectCount> {
        let mut stores: BTreeMap<(&str, &str), Arc<Rest>> = BTreeMap::new();
        let served = self.definitions.served();
        for rest in self.resources.values().chain(served.resources.values()) {
            let name = (rest.store.group, rest.store.plural);
            stores.entry(name).or_insert_with(|| Arc::clone(rest));
        }
        let count = |((group, plural), rest): ((&str, &str), Arc<Rest>)| {
            let (group, resource) = (Str::from(group), Str::from(plural));
            async move {
                let counted = timeout(COUNTED_WITHIN, rest.store.storage.count()).await;
                ObjectCount {
                    group,
                    resource,
                    objects: counted.ok().and_then(Result::ok),
                }
            }
        };
        let all = stream::iter(stores.into_iter().map(count));
        let mut counts: Vec<_> = all.buffer_unordered(COUNTED_AT_ONCE).collect().await;
        counts.sort_by(|a, b| (&*a.group, &*a.resource).cmp(&(&*b.group, &*b.resource)));
        counts
    }

    /// How much room the engine takes, in bytes; None if it does not say.
    ///
    /// # Errors
    /// It cannot be reached.
    pub async fn storage_bytes(&self) -> Result<Option<u64>, ReadError> {
        self.stores.engine.kv.size_bytes().await
    }

    /// Everything that is stored, on one revision: no older than any write answered before the
    /// call, whatever is written while it is read.
    ///
    /// # Errors
    /// The engine is closed, or cannot be reached.
    pub async fn snapshot(&self) -> Result<Snapshot, ReadError> {
        let root = self.key_root.trim_end_matches('/');
        let range = KeyRange::prefix(format!("{root}/"));
        Snapshot::begin(Arc::clone(&self.stores.engine.kv), range).await
    }
}
