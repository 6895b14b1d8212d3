//! Transformers of stored values: encryption at rest.
//!
//! [`Identity`] leaves values unchanged, [`AesGcm`] encrypts them under one key (and so do
//! [`Secretbox`], and [`AesCbc`] for values that upstream's servers wrote with it), and
//! [`Transformers`] combines several for key rotation: the first writes, any reads, and a value
//! that was not written by the first is stale, so that its next update rewrites it even without a
//! change. The forms are upstream's; so is a value's binding to its storage key under AES-GCM: a
//! value moved to another key cannot be decrypted there. [`EncryptionConfiguration`] builds them
//! from upstream's file, and [`LiveEncryption`] makes it reloadable.

mod aes_cbc;
mod aes_gcm;
mod configuration;
mod live;
mod secretbox;

pub use aes_cbc::AesCbc;
pub use aes_gcm::{AesGcm, AesKeyError};
pub use configuration::{
    ConfigurationProblem, EncryptionConfiguration, EncryptionConfigurationError,
};
pub use live::{EncryptionReloads, LiveEncryption};
pub use secretbox::Secretbox;

use crate::metrics::{Count, Histogram, HistogramState};
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use tokio::time::Instant;

/// The prefix of all encrypted values, as upstream.
const ENCRYPTED: &[u8] = b"k8s:enc:";

/// Transforms values on writes and reads.
pub trait Transformer: fmt::Debug + Send + Sync + 'static {
    /// Returns the value to store under `key`.
    fn seal(&self, value: Bytes, key: &[u8]) -> Result<Bytes, TransformError>;

    /// Returns the value that was stored under `key`.
    fn open(&self, value: &Bytes, key: &[u8]) -> Result<Transformed, TransformError>;

    /// Returns the counts so far, by value prefix. Default: none.
    fn counts(&self) -> Vec<TransformCounts> {
        Vec::new()
    }

    /// Returns the transformer with its own counts, for one of several resources. Default: `None`,
    /// for a transformer without counts.
    fn counted_apart(&self) -> Option<Arc<dyn Transformer>> {
        None
    }

    /// Reports whether values are stored unchanged and uncounted, so that a known value need not be
    /// opened again. Default: no.
    fn is_identity(&self) -> bool {
        false
    }
}

/// The bucket bounds of transformation durations, in seconds, as upstream's
/// `apiserver_storage_transformation_duration_seconds`: from 5 µs, 25 times doubled.
pub const TRANSFORM_SECONDS: &[f64] = &[
    0.000_005, 0.000_01, 0.000_02, 0.000_04, 0.000_08, 0.000_16, 0.000_32, 0.000_64, 0.001_28,
    0.002_56, 0.005_12, 0.010_24, 0.020_48, 0.040_96, 0.081_92, 0.163_84, 0.327_68, 0.655_36,
    1.310_72, 2.621_44, 5.242_88, 10.485_76, 20.971_52, 41.943_04, 83.886_08,
];

/// The counts of one of several transformers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TransformCounts {
    /// The prefix of its values; empty for plain ones, `None` for values with an unknown prefix.
    pub prefix: Option<String>,
    /// Values written.
    pub sealed: u64,
    /// Values that could not be written.
    pub seal_errors: u64,
    /// Values read.
    pub opened: u64,
    /// Values that could not be opened.
    pub open_errors: u64,
    /// The durations of writes.
    pub sealing: HistogramState,
    /// The durations of reads.
    pub opening: HistogramState,
}

/// A value read from storage.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "transformers make it")]
pub struct Transformed {
    /// The value.
    pub value: Bytes,
    /// Whether a write would use another form now.
    pub stale: bool,
}

/// The error of a value that cannot be stored or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// The value is encrypted, and there is no key for it.
    #[error("identity transformer tried to read encrypted data")]
    Encrypted,
    /// The prefix of the value is unknown.
    #[error("no matching prefix found")]
    UnknownForm,
    /// The transformer has no key of the name in the value.
    #[error("no matching key was found for the provided {0} transformer")]
    NoKey(&'static str),
    /// The value is too short, was modified, or belongs to another storage key or encryption key.
    /// Upstream's words, which users search for.
    #[error("cipher: message authentication failed")]
    NotAuthentic,
    /// The value is shorter than the minimum.
    #[error("the stored data was shorter than the required size")]
    Short,
    /// The value was modified, or encrypted under another key, as far as an unauthenticated form
    /// can detect that.
    #[error("invalid padding on input")]
    Padding,
    /// The value was modified, or encrypted under another key. Upstream's words for a secretbox,
    /// which users search for.
    #[error("output array was not large enough for encryption")]
    Unopened,
    /// No random numbers are available, or the value is too long.
    #[error("the value cannot be encrypted")]
    Failed,
    /// An error of another transformer implementation.
    #[error("{0}")]
    Other(String),
}

/// Leaves values unchanged, and rejects encrypted ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct Identity;

impl Transformer for Identity {
    fn seal(&self, value: Bytes, _key: &[u8]) -> Result<Bytes, TransformError> {
        Ok(value)
    }

    fn open(&self, value: &Bytes, _key: &[u8]) -> Result<Transformed, TransformError> {
        if value.starts_with(ENCRYPTED) {
            return Err(TransformError::Encrypted);
        }
        Ok(Transformed {
            value: value.clone(),
            stale: false,
        })
    }

    fn is_identity(&self) -> bool {
        true
    }
}

/// Several transformers, selected by value prefix. Those with the same prefix are tried in turn.
#[derive(Debug)]
pub struct Transformers {
    all: Vec<Prefixed>,
    /// The error of a value with an unknown prefix.
    unknown: TransformError,
    /// The number of such values.
    unrecognized: Count,
}

#[derive(Clone, Debug)]
struct Prefixed {
    /// The prefix of its values; empty only for plain values.
    prefix: Bytes,
    transformer: Arc<dyn Transformer>,
    /// Writes and reads.
    sealed: Arc<Attempts>,
    opened: Arc<Attempts>,
}

/// Attempts: the durations of successes, and the number of failures.
#[derive(Debug)]
struct Attempts {
    took: Histogram,
    errors: Count,
}

impl Attempts {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            took: Histogram::new(TRANSFORM_SECONDS),
            errors: Count::default(),
        })
    }

    fn tried<T>(&self, begun: Instant, result: &Result<T, TransformError>) {
        match result {
            Ok(_) => self.took.observe(begun.elapsed()),
            Err(_) => self.errors.add(1),
        }
    }
}

impl Prefixed {
    fn new(prefix: impl Into<Bytes>, transformer: impl Transformer) -> Self {
        Self::shared(prefix.into(), Arc::new(transformer))
    }

    fn shared(prefix: Bytes, transformer: Arc<dyn Transformer>) -> Self {
        Self {
            prefix,
            transformer,
            sealed: Attempts::new(),
            opened: Attempts::new(),
        }
    }

    fn counts(&self) -> TransformCounts {
        let (sealing, opening) = (self.sealed.took.state(), self.opened.took.state());
        TransformCounts {
            prefix: Some(String::from_utf8_lossy(&self.prefix).into_owned()),
            sealed: sealing.count(),
            seal_errors: self.sealed.errors.value(),
            opened: opening.count(),
            open_errors: self.opened.errors.value(),
            sealing,
            opening,
        }
    }
}

impl Transformers {
    /// Creates the list with the transformer that writes. `prefix` precedes its values; it is empty
    /// for [`Identity`], which reads values without a prefix.
    pub fn writing(prefix: impl Into<Bytes>, transformer: impl Transformer) -> Self {
        let first = Prefixed::new(prefix, transformer);
        Self::of(vec![first], TransformError::UnknownForm)
    }

    /// Creates a list whose first transformer writes.
    fn of(all: Vec<Prefixed>, unknown: TransformError) -> Self {
        Self {
            all,
            unknown,
            unrecognized: Count::default(),
        }
    }

    /// Adds a transformer that only reads.
    #[must_use]
    pub fn reading(mut self, prefix: impl Into<Bytes>, transformer: impl Transformer) -> Self {
        self.all.push(Prefixed::new(prefix, transformer));
        self
    }

    /// Creates the list with an encryption key, under upstream's prefix for its name.
    pub fn encrypting(key: AesGcm) -> Self {
        Self::writing(key.prefix(), key)
    }

    /// Adds a key that only decrypts.
    #[must_use]
    pub fn decrypting(self, key: AesGcm) -> Self {
        self.reading(key.prefix(), key)
    }
}

impl Transformer for Transformers {
    fn seal(&self, value: Bytes, key: &[u8]) -> Result<Bytes, TransformError> {
        let first = self.all.first().ok_or_else(|| self.unknown.clone())?;
        let begun = Instant::now();
        let value = first.transformer.seal(value, key);
        first.sealed.tried(begun, &value);
        let value = value?;
        if first.prefix.is_empty() {
            return Ok(value);
        }
        Ok([&first.prefix[..], &value[..]].concat().into())
    }

    fn open(&self, value: &Bytes, key: &[u8]) -> Result<Transformed, TransformError> {
        let begun = Instant::now();
        let mut failed = None;
        for (index, it) in self.all.iter().enumerate() {
            if !value.starts_with(&it.prefix) {
                continue;
            }
            let opened = it.transformer.open(&value.slice(it.prefix.len()..), key);
            match opened {
                Ok(transformed) => {
                    it.opened.took.observe(begun.elapsed());
                    return Ok(Transformed {
                        stale: transformed.stale || index > 0,
                        ..transformed
                    });
                }
                // The error of the plain transformer is no error of encrypted values.
                Err(_) if it.prefix.is_empty() => {}
                Err(error) => {
                    it.opened.errors.add(1);
                    failed = failed.or(Some(error));
                }
            }
        }
        Err(failed.unwrap_or_else(|| {
            self.unrecognized.add(1);
            self.unknown.clone()
        }))
    }

    fn counts(&self) -> Vec<TransformCounts> {
        let nothing = Histogram::new(TRANSFORM_SECONDS).state();
        let unrecognized = TransformCounts {
            prefix: None,
            sealed: 0,
            seal_errors: 0,
            opened: 0,
            open_errors: self.unrecognized.value(),
            sealing: nothing.clone(),
            opening: nothing,
        };
        let known = self.all.iter().map(Prefixed::counts);
        known.chain([unrecognized]).collect()
    }

    fn counted_apart(&self) -> Option<Arc<dyn Transformer>> {
        let again =
            |it: &Prefixed| Prefixed::shared(it.prefix.clone(), Arc::clone(&it.transformer));
        let all = self.all.iter().map(again).collect();
        Some(Arc::new(Self::of(all, self.unknown.clone())))
    }
}

#[cfg(test)]
mod tests;
