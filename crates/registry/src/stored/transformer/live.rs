//! `LiveEncryption`: a reloadable encryption configuration.
//!
//! After a reload, the new configuration writes and reads all values: it must contain the old keys
//! as long as values are stored under them.

use super::{
    EncryptionConfiguration, Identity, TransformCounts, TransformError, Transformed, Transformer,
};
use crate::metrics::Count;
use bytes::Bytes;
use kubist_apimachinery::{GroupResource, Str};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A reloadable configuration. A clone is another handle.
#[derive(Clone, Debug)]
pub struct LiveEncryption(Arc<Live>);

#[derive(Debug)]
struct Live {
    current: RwLock<Arc<EncryptionConfiguration>>,
    replaced: Times,
    failed: Times,
}

/// The count of an event, and its last time in seconds since the Unix epoch.
#[derive(Debug, Default)]
struct Times {
    count: Count,
    last: AtomicU64,
}

/// The results of configuration reloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncryptionReloads {
    /// The number of successful reloads.
    pub replaced: u64,
    /// The time of the last one, in seconds since the Unix epoch; 0 for never.
    pub replaced_last: u64,
    /// The number of failed reloads.
    pub failed: u64,
    /// The time of the last one, in seconds since the Unix epoch; 0 for never.
    pub failed_last: u64,
    /// The digest of the configuration in use.
    pub hash: Str,
}

impl Times {
    fn note(&self, now: u64) {
        self.count.add(1);
        self.last.store(now, Ordering::Relaxed);
    }
}

impl LiveEncryption {
    /// Creates it with an initial configuration.
    pub fn new(configuration: EncryptionConfiguration) -> Self {
        Self(Arc::new(Live {
            current: RwLock::new(Arc::new(configuration)),
            replaced: Times::default(),
            failed: Times::default(),
        }))
    }

    /// Returns the configuration in use.
    pub fn current(&self) -> Arc<EncryptionConfiguration> {
        Arc::clone(&self.0.current.read())
    }

    /// Replaces the configuration; `now` is in seconds since the Unix epoch.
    pub fn replace(&self, configuration: EncryptionConfiguration, now: u64) {
        *self.0.current.write() = Arc::new(configuration);
        self.0.replaced.note(now);
    }

    /// Records a failed reload; `now` is in seconds since the Unix epoch.
    pub fn note_failure(&self, now: u64) {
        self.0.failed.note(now);
    }

    /// Returns the results of the reloads.
    pub fn reloads(&self) -> EncryptionReloads {
        let Live {
            replaced, failed, ..
        } = &*self.0;
        EncryptionReloads {
            replaced: replaced.count.value(),
            replaced_last: replaced.last.load(Ordering::Relaxed),
            failed: failed.count.value(),
            failed_last: failed.last.load(Ordering::Relaxed),
            hash: self.current().hash().into(),
        }
    }

    /// Returns the transformer of a resource, which always uses the current configuration.
    pub fn of(&self, resource: GroupResource) -> Arc<dyn Transformer> {
        let live = self.clone();
        let cached = RwLock::default();
        Arc::new(OfResource {
            live,
            resource,
            cached,
        })
    }
}

#[derive(Debug)]
struct OfResource {
    live: LiveEncryption,
    resource: GroupResource,
    /// The resource's transformer from the last configuration in use.
    cached: RwLock<Option<Cached>>,
}

#[derive(Debug)]
struct Cached {
    of: Arc<EncryptionConfiguration>,
    transformer: Arc<dyn Transformer>,
}

impl OfResource {
    fn current(&self) -> Arc<dyn Transformer> {
        let current = self.live.current();
        if let Some(cached) = &*self.cached.read()
            && Arc::ptr_eq(&cached.of, &current)
        {
            return Arc::clone(&cached.transformer);
        }
        let transformer: Arc<dyn Transformer> = match current.of(&self.resource) {
            Some(found) => found.counted_apart().unwrap_or_else(|| Arc::clone(found)),
            None => Arc::new(Identity),
        };
        *self.cached.write() = Some(Cached {
            of: current,
            transformer: Arc::clone(&transformer),
        });
        transformer
    }
}

impl Transformer for OfResource {
    fn seal(&self, value: Bytes, key: &[u8]) -> Result<Bytes, TransformError> {
        self.current().seal(value, key)
    }

    fn open(&self, value: &Bytes, key: &[u8]) -> Result<Transformed, TransformError> {
        self.current().open(value, key)
    }

    fn counts(&self) -> Vec<TransformCounts> {
        self.current().counts()
    }
}
