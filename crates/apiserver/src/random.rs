//! Numbers that nobody needs to repeat: audit ids, and how long watches last.
//!
//! Not for secrets.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A random number.
pub(crate) fn number() -> u64 {
    // Each state is seeded anew by the standard library.
    RandomState::new().build_hasher().finish()
}

/// A random (version 4) uuid.
pub(crate) fn uid() -> String {
    let (high, low) = (number(), number());
    let high = (high & !0xf000) | 0x4000;
    let low = (low & !(3 << 62)) | (2 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_are_uuids_and_differ() {
        let uid = uid();
        assert_eq!((uid.len(), &uid[14..15]), (36, "4"));
        assert_ne!(uid, super::uid());
    }
}
