//! Operations of a registry: metrics, sizes, health and snapshots.

use super::Registry;
use crate::metrics::ResourceMetrics;
use crate::rest::Rest;
use crate::storage::cacher::CacherStats;
use crate::store::announcement::Announcement;
use crate::stored::transformer::{LiveEncryption, TransformCounts};
use futures_util::stream::{self, StreamExt};
use kubist_apimachinery::{GroupResource, Status, Str};
use kubist_storage::backup::Snapshot;
use kubist_storage::{Fault, KeyRange, Kv, ReadError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The resources that are counted concurrently.
const CONCURRENT_COUNTS: usize = 16;
/// The timeout for counting the objects of one resource.
const COUNT_TIMEOUT: Duration = Duration::from_secs(1);

/// The object count of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectCount {
    /// The API group; empty for core.
    pub group: Str,
    /// The plural name.
    pub resource: Str,
    /// The count; `None` if storage did not answer.
    pub objects: Option<usize>,
}

/// The state of a watch cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheState {
    /// The API group; empty for core.
    pub group: Str,
    /// The plural name.
    pub resource: Str,
    /// Its statistics.
    pub stats: CacherStats,
}

impl Registry {
    /// Maintains the system objects of every cluster: those that [`start`](Self::start) creates,
    /// the endpoints of the `kubernetes` service, and the config maps in which upstream's servers
    /// publish their settings. Runs until it is dropped; each server runs one.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped at any time, and run again. The server's endpoint disappears 15 s later, or
    /// with [`withdraw`](Self::withdraw).
    pub async fn run_system_objects(&self, announcement: &Announcement) {
        if let Some(cluster) = &self.stores.cluster {
            cluster.run(&self.stores, announcement).await;
        }
    }

    /// Removes this server from the endpoints of the `kubernetes` service, unless it is the last
    /// one: for a server that is about to stop, after
    /// [`run_system_objects`](Self::run_system_objects) was dropped.
    ///
    /// # Errors
    /// Storage does not answer.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped at any time; the endpoint may stay until its lease ends.
    pub async fn withdraw(&self, announcement: &Announcement) -> Result<(), Status> {
        match &self.stores.cluster {
            Some(cluster) => cluster.withdraw(&self.stores, announcement).await,
            None => Ok(()),
        }
    }

    /// Drops cached forms of objects (decoded, JSON, protobuf) that were not used since the call
    /// before last. Otherwise they stay cached up to
    /// [`cache_bytes_max`](crate::RegistryConfig::cache_bytes_max), until others need the room. May
    /// take long after a burst.
    pub fn forget_unused(&self) {
        self.stores.engine.factory.forget_unused();
    }

    /// Checks that each storage engine answers a read of its revision.
    ///
    /// # Errors
    /// Storage is closed or cannot be reached. The call may also take long: the caller sets the
    /// timeout.
    pub async fn storage_health(&self) -> Result<(), ReadError> {
        for kv in self.engines() {
            kv.revision().await?;
        }
        Ok(())
    }

    /// Checks whether storage accepts writes, as far as that is known without a write.
    ///
    /// # Errors
    /// The reason: the disk is full or not writable.
    pub fn storage_writable(&self) -> Result<(), Fault> {
        self.engines().into_iter().try_for_each(|kv| kv.writable())
    }

    /// Returns the metrics of each resource.
    pub fn metrics(&self) -> Vec<Arc<ResourceMetrics>> {
        self.stores.engine.factory.metrics()
    }

    /// Returns the current watch caches with their statistics, including those of custom resources.
    pub fn watch_caches(&self) -> Vec<CacheState> {
        let served = self.custom_resources.served();
        let all = self.caches.stats().chain(served.caches());
        let state = all.map(|(of, stats)| CacheState {
            group: of.group,
            resource: of.resource,
            stats,
        });
        state.collect()
    }

    /// Returns the counts of the value transformers, by resource.
    pub fn transformations(&self) -> Vec<(GroupResource, TransformCounts)> {
        self.stores.engine.factory.transformations()
    }

    /// Returns the reloadable encryption configuration; `None` if it is not reloadable.
    pub fn encryption(&self) -> Option<&LiveEncryption> {
        self.encryption.as_ref()
    }

    /// Counts the objects of every stored resource, including custom resources: several
    /// concurrently, each for at most a second.
    pub async fn object_counts(&self) -> Vec<ObjectCount> {
        let mut stores: BTreeMap<(&str, &str), Arc<Rest>> = BTreeMap::new();
        let served = self.custom_resources.served();
        for rest in self.resources.values().chain(served.resources.values()) {
            let name = (rest.store.group, rest.store.plural);
            stores.entry(name).or_insert_with(|| Arc::clone(rest));
        }
        let count = |((group, plural), rest): ((&str, &str), Arc<Rest>)| {
            let (group, resource) = (Str::from(group), Str::from(plural));
            async move {
                let counted = timeout(COUNT_TIMEOUT, rest.store.storage.count()).await;
                ObjectCount {
                    group,
                    resource,
                    objects: counted.ok().and_then(Result::ok),
                }
            }
        };
        let all = stream::iter(stores.into_iter().map(count));
        let mut counts: Vec<_> = all.buffer_unordered(CONCURRENT_COUNTS).collect().await;
        counts.sort_by(|a, b| (&*a.group, &*a.resource).cmp(&(&*b.group, &*b.resource)));
        counts
    }

    /// Returns the size of each storage engine's data in bytes, the main one first; `None` for one
    /// that does not report it.
    ///
    /// # Errors
    /// One cannot be reached.
    pub async fn storage_bytes(&self) -> Result<Vec<Option<u64>>, ReadError> {
        let mut sizes = Vec::new();
        for kv in self.engines() {
            sizes.push(kv.size_bytes().await?);
        }
        Ok(sizes)
    }

    /// Returns each engine once, the main one first.
    fn engines(&self) -> Vec<&Arc<dyn Kv>> {
        self.stores.engine.factory.engines().all()
    }

    /// Returns a snapshot of all stored data at one revision, not older than any write answered
    /// before the call. Concurrent writes do not affect it.
    ///
    /// # Errors
    /// The engine is closed, or cannot be reached; or there are several, which have no revision in
    /// common.
    pub async fn snapshot(&self) -> Result<Snapshot, Status> {
        let engines = self.stores.engine.factory.engines();
        if let Some(resource) = engines.apart().next() {
            let message = format!(
                "a backup is of one storage engine, but {resource} are stored in another: save \
                 each etcd by its own means"
            );
            return Err(Status::bad_request(message));
        }
        let root = self.key_root.trim_end_matches('/');
        let range = KeyRange::prefix(format!("{root}/"));
        let snapshot = Snapshot::begin(Arc::clone(engines.main()), range).await;
        snapshot.map_err(Status::internal_error)
    }
}
