//! How values are changed on their way to storage and back: encryption at rest.
//!
//! [`Identity`] leaves them as they are, [`AesGcm`] encrypts them under one key ([`AesCbc`] too,
//! for what upstream's servers wrote with it, and [`Secretbox`]), and [`Transformers`] puts several
//! in a row for the rotation of keys: the first writes, any reads, and what another than the first
//! wrote is stale, so that its next update rewrites it even if nothing has changed. The forms are
//! upstream's; so is a value's tie to its key under AES-GCM: one that is moved to another key
//! cannot be read there. [`EncryptionConfiguration`] makes them from upstream's file, and
//! [`LiveEncryption`] lets it be replaced.

mod aes_cbc;
mod aes_gcm;
mod configuration;
mod live;
mod secretbox;

pub use aes_cbc::AesCbc;
pub use aes_gcm::{AesGcm, AesKeyError};
pub use configuration::{
    ConfigurationMistake, EncryptionConfiguration, EncryptionConfigurationError,
};
pub use live::{EncryptionReloads, LiveEncryption};
pub use secretbox::Secretbox;

use crate::metrics::{Count, Histogram, HistogramState};
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use tokio::time::Instant;

/// What all encrypted values begin with, as upstream.
const ENCRYPTED: &[u8] = b"k8s:enc:";

/// Changes values on their way to storage and back.
pub trait Transformer: fmt::Debug + Send + Sync + 'static {
    /// The value to store under `key`.
    fn seal(&self, value: Bytes, key: &[u8]) -> Result<Bytes, TransformError>;

    /// The value that was stored under `key`.
    fn open(&self, value: &Bytes, key: &[u8]) -> Result<Transformed, TransformError>;

    /// What was done so far, by what the values begin with. Default: nothing is counted.
    fn counts(&self) -> Vec<TransformCounts> {
        Vec::new()
    }

    /// The same with counts of its own, for one of several resources. Default: None, for one that
    /// counts nothing.
    fn counted_apart(&self) -> Option<Arc<dyn Transformer>> {
        None
    }

    /// Whether values are stored as they are and nothing is counted about them, so that who knows
    /// a value already need not have it opened again. Default: no.
    fn is_identity(&self) -> bool {
        false
    }
}

/// Upper bounds of the buckets of what transformers take, in seconds, as upstream's
/// `apiserver_storage_transformation_duration_seconds`: from 5 µs, 25 times doubled.
pub const TRANSFORM_SECONDS: &[f64] = &[
    0.000_005, 0.000_01, 0.000_02, 0.000_04, 0.000_08, 0.000_16, 0.000_32, 0.000_64, 0.001_28,
    0.002_56, 0.005_12, 0.010_24, 0.020_48, 0.040_96, 0.081_92, 0.163_84, 0.327_68, 0.655_36,
    1.310_72, 2.621_44, 5.242_88, 10.485_76, 20.971_52, 41.943_04, 83.886_08,
];

/// What one of several transformers has done.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TransformCounts {
    /// What its values begin with; empty for plain ones, None for values that none of them knows.
    pub prefix: Option<String>,
    /// Values written.
    pub sealed: u64,
    /// Values that could not be written.
    pub seal_errors: u64,
    /// Values read.
    pub opened: u64,
    /// Values that could not be read.
    pub open_errors: u64,
    /// How long those that were written took.
    pub sealing: HistogramState,
    /// How long those that were read took.
    pub opening: HistogramState,
}

/// What came out of storage.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "transformers make it")]
pub struct Transformed {
    /// The value.
    pub value: Bytes,
    /// Whether it would be written in another form now.
    pub stale: bool,
}

/// Why a value cannot be stored, or read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// The value is encrypted, and no key for it is known.
    #[error("identity transformer tried to read encrypted data")]
    Encrypted,
    /// No transformer knows the form of the value.
    #[error("no matching prefix found")]
    UnknownForm,
    /// A transformer knows the form of the value, and has no key of that name.
    #[error("no matching key was found for the provided {0} transformer")]
    NoKey(&'static str),
    /// The value is too short, was changed, belongs to another key, or another key is needed.
    /// Upstream's words, which people look for.
    #[error("cipher: message authentication failed")]
    NotAuthentic,
    /// The value is shorter than it can be.
    #[error("the stored data was shorter than the required size")]
    Short,
    /// The value was changed, or another key is needed, as far as a form that is not authenticated
    /// can tell.
    #[error("invalid padding on input")]
    Padding,
    /// The value was changed, or another key is needed. Upstream's words for a secretbox, which
    /// people look for.
    #[error("output array was not large enough for encryption")]
    Unopened,
    /// No random numbers can be had, or the value is too long.
    #[error("the value cannot be encrypted")]
    Failed,
    /// An error of a transformer from elsewhere.
    #[error("{0}")]
    Other(String),
}

/// Leaves values as they are, and refuses to read encrypted ones.
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

/// Several transformers, told apart by what their values begin with. Where that is the same, each
/// is tried.
#[derive(Debug)]
pub struct Transformers {
    all: Vec<Prefixed>,
    /// What is wrong with a value that none of them knows.
    unknown: TransformError,
    /// How many such values there were.
    unrecognized: Count,
}

#[derive(Clone, Debug)]
struct Prefixed {
    /// What stands before its values; never empty but for plain values.
    prefix: Bytes,
    transformer: Arc<dyn Transformer>,
    /// Written and read.
    sealed: Arc<Tries>,
    opened: Arc<Tries>,
}

/// What was tried: how long it took where it succeeded, and how often it did not.
#[derive(Debug)]
struct Tries {
    took: Histogram,
    errors: Count,
}

impl Tries {
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
            sealed: Tries::new(),
            opened: Tries::new(),
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
    /// A row that begins with the transformer that writes. `prefix` stands before its values; it
    /// is empty for [`Identity`], which reads what has none.
    pub fn writing(prefix: impl Into<Bytes>, transformer: impl Transformer) -> Self {
        let first = Prefixed::new(prefix, transformer);
        Self::of(vec![first], TransformError::UnknownForm)
    }

    /// These, of which the first writes.
    fn of(all: Vec<Prefixed>, unknown: TransformError) -> Self {
        Self {
            all,
            unknown,
            unrecognized: Count::default(),
        }
    }

    /// The same with one more that reads.
    #[must_use]
    pub fn reading(mut self, prefix: impl Into<Bytes>, transformer: impl Transformer) -> Self {
        self.all.push(Prefixed::new(prefix, transformer));
        self
    }

    /// A row that begins with a key that encrypts, under upstream's prefix for its name.
    pub fn encrypting(key: AesGcm) -> Self {
        Self::writing(key.prefix(), key)
    }

    /// The same with one more key that decrypts.
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
                // Who reads plain values says nothing about encrypted ones.
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
