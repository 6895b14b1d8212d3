//! `AesCbc`: one AES-CBC key, in upstream's form: the vector, then the padded and encrypted value.
//!
//! Nothing is authenticated: with write access to storage, such values can be modified or moved to
//! other keys. It exists to read values of upstream's servers; use [`AesGcm`](super::AesGcm) for
//! writes.

use super::{AesKeyError, TransformError, Transformed, Transformer};
use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use bytes::Bytes;
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;

/// The common prefix of the values of all keys, as upstream.
pub(super) const AES_CBC: &str = "k8s:enc:aescbc:v1:";
/// The bytes of a block, and of the vector before the value.
const BLOCK: usize = 16;

/// One AES-CBC key.
pub struct AesCbc {
    key: Key,
    random: SystemRandom,
}

enum Key {
    Short([u8; 16]),
    Middle([u8; 24]),
    Long([u8; 32]),
}

impl AesCbc {
    /// Creates a key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// The key has another length.
    pub fn new(key: &[u8]) -> Result<Self, AesKeyError> {
        let found = match key.len() {
            16 => key.try_into().ok().map(Key::Short),
            24 => key.try_into().ok().map(Key::Middle),
            32 => key.try_into().ok().map(Key::Long),
            _ => None,
        };
        let key = found.ok_or(AesKeyError::Length { bytes: key.len() })?;
        Ok(Self {
            key,
            random: SystemRandom::new(),
        })
    }
}

fn encrypted<M: BlockModeEncrypt>(mode: M, value: &[u8]) -> Vec<u8> {
    mode.encrypt_padded_vec::<Pkcs7>(value)
}

fn decrypted<M: BlockModeDecrypt>(mode: M, value: &[u8]) -> Result<Vec<u8>, TransformError> {
    let decrypted = mode.decrypt_padded_vec::<Pkcs7>(value);
    decrypted.map_err(|_| TransformError::Padding)
}

impl Transformer for AesCbc {
    fn seal(&self, value: Bytes, _key: &[u8]) -> Result<Bytes, TransformError> {
        let mut vector = [0; BLOCK];
        self.random
            .fill(&mut vector)
            .map_err(|_| TransformError::Failed)?;
        let iv = (&vector).into();
        let sealed = match &self.key {
            Key::Short(key) => encrypted(cbc::Encryptor::<Aes128>::new(key.into(), iv), &value),
            Key::Middle(key) => encrypted(cbc::Encryptor::<Aes192>::new(key.into(), iv), &value),
            Key::Long(key) => encrypted(cbc::Encryptor::<Aes256>::new(key.into(), iv), &value),
        };
        Ok([&vector[..], &sealed].concat().into())
    }

    fn open(&self, value: &Bytes, _key: &[u8]) -> Result<Transformed, TransformError> {
        let (vector, sealed) = value
            .split_first_chunk::<BLOCK>()
            .ok_or(TransformError::Short)?;
        let iv = vector.into();
        let opened = match &self.key {
            Key::Short(key) => decrypted(cbc::Decryptor::<Aes128>::new(key.into(), iv), sealed),
            Key::Middle(key) => decrypted(cbc::Decryptor::<Aes192>::new(key.into(), iv), sealed),
            Key::Long(key) => decrypted(cbc::Decryptor::<Aes256>::new(key.into(), iv), sealed),
        };
        Ok(Transformed {
            value: opened?.into(),
            stale: false,
        })
    }
}

impl fmt::Debug for AesCbc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AesCbc").finish_non_exhaustive()
    }
}
