//! How values are changed on their way to storage and back: encryption at rest.
//!
//! [`Identity`] leaves them as they are, [`AesGcm`] encrypts them under one key ([`AesCbc`] too,
//! for what upstream's servers wrote with it), and [`Transformers`] puts several in a row for the
//! rotation of keys: the first writes, any reads, and what another than the first wrote is stale,
//! so that its next update rewrites it even if nothing has changed. The forms are upstream's; so
//! is a value's tie to its key under AES-GCM: one that is moved to another key cannot be read
//! there. [`EncryptionConfiguration`] makes them from upstream's file.

mod aes_cbc;
mod aes_gcm;
mod configuration;

pub use aes_cbc::AesCbc;
pub use aes_gcm::{AesGcm, AesKeyError};
pub use configuration::{
    ConfigurationMistake, EncryptionConfiguration, EncryptionConfigurationError,
};

use crate::metrics::Count;
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;

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
}

/// What one of several transformers has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransformCounts {
    /// What its values begin with; empty for plain ones.
    pub prefix: String,
    /// Values written.
    pub sealed: u64,
    /// Values that could not be written.
    pub seal_errors: u64,
    /// Values read.
    pub opened: u64,
    /// Values that could not be read.
    pub open_errors: u64,
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
}

/// Several transformers, told apart by what their values begin with. Where that is the same, each
/// is tried.
#[derive(Debug)]
pub struct Transformers {
    all: Vec<Prefixed>,
    /// What is wrong with a value that none of them knows.
    unknown: TransformError,
}

#[derive(Clone, Debug)]
struct Prefixed {
    /// What stands before its values; never empty but for plain values.
    prefix: Bytes,
    transformer: Arc<dyn Transformer>,
    /// Written and read, without an error and with one.
    sealed: Arc<[Count; 2]>,
    opened: Arc<[Count; 2]>,
}

impl Prefixed {
    fn new(prefix: impl Into<Bytes>, transformer: impl Transformer) -> Self {
        Self::shared(prefix.into(), Arc::new(transformer))
    }

    fn shared(prefix: Bytes, transformer: Arc<dyn Transformer>) -> Self {
        Self {
            prefix,
            transformer,
            sealed: Arc::default(),
            opened: Arc::default(),
        }
    }
}

impl Transformers {
    /// A row that begins with the transformer that writes. `prefix` stands before its values; it
    /// is empty for [`Identity`], which reads what has none.
    pub fn writing(prefix: impl Into<Bytes>, transformer: impl Transformer) -> Self {
        Self {
            all: vec![Prefixed::new(prefix, transformer)],
            unknown: TransformError::UnknownForm,
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
        let value = first.transformer.seal(value, key);
        first.sealed[usize::from(value.is_err())].add(1);
        let value = value?;
        if first.prefix.is_empty() {
            return Ok(value);
        }
        Ok([&first.prefix[..], &value[..]].concat().into())
    }

    fn open(&self, value: &Bytes, key: &[u8]) -> Result<Transformed, TransformError> {
        let mut failed = None;
        for (index, it) in self.all.iter().enumerate() {
            if !value.starts_with(&it.prefix) {
                continue;
            }
            let opened = it.transformer.open(&value.slice(it.prefix.len()..), key);
            it.opened[usize::from(opened.is_err())].add(1);
            match opened {
                Ok(transformed) => {
                    return Ok(Transformed {
                        stale: transformed.stale || index > 0,
                        ..transformed
                    });
                }
                // Who reads plain values says nothing about encrypted ones.
                Err(_) if it.prefix.is_empty() => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| self.unknown.clone()))
    }

    fn counts(&self) -> Vec<TransformCounts> {
        let count = |it: &Prefixed| TransformCounts {
            prefix: String::from_utf8_lossy(&it.prefix).into_owned(),
            sealed: it.sealed[0].value(),
            seal_errors: it.sealed[1].value(),
            opened: it.opened[0].value(),
            open_errors: it.opened[1].value(),
        };
        self.all.iter().map(count).collect()
    }
}

#[cfg(test)]
mod tests;
