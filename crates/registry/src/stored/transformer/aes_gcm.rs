//! `AesGcm`: one AES-GCM key, in upstream's form: the nonce, the encrypted value, the tag.
//!
//! The storage key of a value is authenticated with it. Nonces are random, so a key should be
//! replaced before it has written [`AesGcm::WRITES_MAX`] values; the writes are not counted.

use super::{TransformError, Transformed, Transformer};
use bytes::Bytes;
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;

/// The common prefix of the values of all keys, as upstream.
pub(super) const AES_GCM: &str = "k8s:enc:aesgcm:v1:";

/// One AES-GCM key with its name.
pub struct AesGcm {
    name: String,
    key: LessSafeKey,
    random: SystemRandom,
}

/// The error of an unusable key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AesKeyError {
    /// The key is not one of AES-128 or AES-256.
    #[error("an AES-GCM key must have 16 or 32 bytes, not {bytes}")]
    Length {
        /// Its length.
        bytes: usize,
    },
    /// The name is invalid in a prefix.
    #[error("a key name must not be empty or contain a colon")]
    Name,
}

impl AesGcm {
    /// The maximum of values that one key should write, as upstream advises for random nonces.
    pub const WRITES_MAX: u64 = 200_000;

    /// Creates a key, with the name that identifies it in stored values.
    pub fn new(name: impl Into<String>, key: &[u8]) -> Result<Self, AesKeyError> {
        let name = name.into();
        if name.is_empty() || name.contains(':') {
            return Err(AesKeyError::Name);
        }
        let length = AesKeyError::Length { bytes: key.len() };
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            32 => &AES_256_GCM,
            _ => return Err(length),
        };
        let key = UnboundKey::new(algorithm, key).map_err(|_| length)?;
        Ok(Self {
            name,
            key: LessSafeKey::new(key),
            random: SystemRandom::new(),
        })
    }

    /// Returns the prefix of its values, as upstream.
    pub fn prefix(&self) -> Bytes {
        format!("{AES_GCM}{}:", self.name).into()
    }
}

impl Transformer for AesGcm {
    fn seal(&self, value: Bytes, key: &[u8]) -> Result<Bytes, TransformError> {
        let mut nonce = [0; NONCE_LEN];
        self.random
            .fill(&mut nonce)
            .map_err(|_| TransformError::Failed)?;
        let mut sealed = value.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.key
            .seal_in_place_append_tag(unique, Aad::from(key), &mut sealed)
            .map_err(|_| TransformError::Failed)?;
        Ok([&nonce[..], &sealed].concat().into())
    }

    fn open(&self, value: &Bytes, key: &[u8]) -> Result<Transformed, TransformError> {
        let (nonce, sealed) = value
            .split_first_chunk::<NONCE_LEN>()
            .ok_or(TransformError::NotAuthentic)?;
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self
            .key
            .open_in_place(nonce, Aad::from(key), &mut sealed)
            .map_err(|_| TransformError::NotAuthentic)?
            .len();
        sealed.truncate(opened);
        Ok(Transformed {
            value: sealed.into(),
            stale: false,
        })
    }
}

impl fmt::Debug for AesGcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AesGcm")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
