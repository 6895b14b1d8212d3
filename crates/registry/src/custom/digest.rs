//! `Digest`: identifies content of definitions that is kept once.

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};

/// A SHA-256 digest.
pub(crate) type Digest = [u8; SHA256_OUTPUT_LEN];

/// Returns the digest of a text.
pub(crate) fn digest_of(text: &str) -> Digest {
    let made = digest(&SHA256, text.as_bytes());
    let mut bytes = [0; SHA256_OUTPUT_LEN];
    bytes.copy_from_slice(made.as_ref());
    bytes
}
