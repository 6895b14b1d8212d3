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
