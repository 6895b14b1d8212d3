//! Random numbers for audit ids, token ids and timeouts.
//!
//! Not for secrets.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A random number.
pub(crate) fn number() -> u64 {
    // The standard library seeds each state differently.
    RandomState::new().build_hasher().finish()
}

/// A random (version 4) UUID.
pub(crate) fn uid() -> String {
    kubist_registry::uuid_v4(number(), number())
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
