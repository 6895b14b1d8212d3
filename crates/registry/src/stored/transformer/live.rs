//! `LiveEncryption`: a configuration of encryption that can be replaced while it is used.
//!
//! From one moment on what is written is written by the new one, and what is read is read by it:
//! it has to know the keys of the old one for as long as something is stored under them.

use super::{
    EncryptionConfiguration, Identity, TransformCounts, TransformError, Transformed, Transformer,
};
use crate::metrics::Count;
use bytes::Bytes;
use kubist_apimachinery::{GroupResource, Str};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A configuration that can be replaced. A clone is another handle.
#[derive(Clone, Debug)]
pub struct LiveEncryption(Arc<Live>);

#[derive(Debug)]
struct Live {
    current: RwLock<Arc<EncryptionConfiguration>>,
    replaced: Times,
    failed: Times,
}

/// How often something happened, and when last: seconds since the Unix epoch.
#[derive(Debug, Default)]
struct Times {
    count: Count,
    last: AtomicU64,
}

/// What became of the attempts to replace a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncryptionReloads {
    /// How often it was replaced.
    pub replaced: u64,
    /// When last, in seconds since the Unix epoch; 0 for never.
    pub replaced_last: u64,
    /// How often a new one could not be used.
    pub failed: u64,
    /// When last, in seconds since the Unix epoch; 0 for never.
    pub failed_last: u64,
    /// The digest of the configuration that is in use.
    pub hash: Str,
}

impl Times {
    fn note(&self, now: u64) {
        self.count.add(1);
        self.last.store(now, Ordering::Relaxed);
    }
}

impl LiveEncryption {
    /// Begins with this one.
    pub fn new(configuration: EncryptionConfiguration) -> Self {
        Self(Arc::new(Live {
            current: RwLock::new(Arc::new(configuration)),
            replaced: Times::default(),
            failed: Times::default(),
        }))
    }

    /// The one in use.
    pub fn current(&self) -> Arc<EncryptionConfiguration> {
        Arc::clone(&self.0.current.read())
    }

    /// Uses another one from now on; `now` is in seconds since the Unix epoch.
    pub fn replace(&self, configuration: EncryptionConfiguration, now: u64) {
        *self.0.current.write() = Arc::new(configuration);
        self.0.replaced.note(now);
    }

    /// Notes that a new one could not be used; `now` is in seconds since the Unix epoch.
    pub fn note_failure(&self, now: u64) {
        self.0.failed.note(now);
    }

    /// What became of the attempts to replace it.
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

    /// What is done to the values of a resource, at any time by the configuration of that time.
    pub fn of(&self, resource: GroupResource) -> Arc<dyn Transformer> {
        let live = self.clone();
        let made = RwLock::default();
        Arc::new(OfResource {
            live,
            resource,
            made,
        })
    }
}

#[derive(Debug)]
struct OfResource {
    live: LiveEncryption,
    resource: GroupResource,
    /// What was made of the configuration that was used last, which counts for this resource.
    made: RwLock<Option<Made>>,
}

#[derive(Debug)]
struct Made {
    of: Arc<EncryptionConfiguration>,
    transformer: Arc<dyn Transformer>,
}

impl OfResource {
    fn current(&self) -> Arc<dyn Transformer> {
        let current = self.live.current();
        if let Some(made) = &*self.made.read()
            && Arc::ptr_eq(&made.of, &current)
        {
            return Arc::clone(&made.transformer);
        }
        let transformer: Arc<dyn Transformer> = match current.of(&self.resource) {
            Some(found) => found.counted_apart().unwrap_or_else(|| Arc::clone(found)),
            None => Arc::new(Identity),
        };
        *self.made.write() = Some(Made {
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
