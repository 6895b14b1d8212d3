//! `Secretbox`: one key of XSalsa20 with Poly1305, in upstream's form: the nonce, the tag, the
//! encrypted value.
//!
//! A value is authenticated, but not bound to its storage key: a value moved to another key can be
//! read there. Nonces are long enough to be random.

use super::{AesKeyError, TransformError, Transformed, Transformer};
use bytes::Bytes;
use crypto_secretbox::aead::AeadInPlace;
use crypto_secretbox::{KeyInit, Nonce, Tag, XSalsa20Poly1305};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;

/// The common prefix of the values of all keys, as upstream.
pub(super) const SECRETBOX: &str = "k8s:enc:secretbox:v1:";
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;

/// One key of a secretbox.
pub struct Secretbox {
    key: XSalsa20Poly1305,
    random: SystemRandom,
}

impl Secretbox {
    /// Creates a key of 32 bytes.
    ///
    /// # Errors
    /// The key has another length.
    pub fn new(key: &[u8]) -> Result<Self, AesKeyError> {
        let made = XSalsa20Poly1305::new_from_slice(key);
        let bytes = key.len();
        Ok(Self {
            key: made.map_err(|_| AesKeyError::Length { bytes })?,
            random: SystemRandom::new(),
        })
    }
}

impl Transformer for Secretbox {
    fn seal(&self, value: Bytes, _key: &[u8]) -> Result<Bytes, TransformError> {
        let mut nonce = [0; NONCE_BYTES];
        self.random
            .fill(&mut nonce)
            .map_err(|_| TransformError::Failed)?;
        let mut sealed = value.to_vec();
        let tag = self
            .key
            .encrypt_in_place_detached(Nonce::from_slice(&nonce), &[], &mut sealed)
            .map_err(|_| TransformError::Failed)?;
        Ok([&nonce[..], &tag, &sealed].concat().into())
    }

    fn open(&self, value: &Bytes, _key: &[u8]) -> Result<Transformed, TransformError> {
        let (nonce, rest) = value
            .split_first_chunk::<NONCE_BYTES>()
            .ok_or(TransformError::Short)?;
        let (tag, sealed) = rest
            .split_first_chunk::<TAG_BYTES>()
            .ok_or(TransformError::Short)?;
        let mut opened = sealed.to_vec();
        let (nonce, tag) = (Nonce::from_slice(nonce), Tag::from_slice(tag));
        let done = self
            .key
            .decrypt_in_place_detached(nonce, &[], &mut opened, tag);
        done.map_err(|_| TransformError::Unopened)?;
        Ok(Transformed {
            value: opened.into(),
            stale: false,
        })
    }
}

impl fmt::Debug for Secretbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secretbox").finish_non_exhaustive()
    }
}
