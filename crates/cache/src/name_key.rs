//! `NameKey`: the key of an object name in the tries of a store: its hash, and its text if it is
//! short.
//!
//! The text is in the same cache line as the hash, so that a look-up touches no other object's
//! memory, and the memory of the found object only to clone its `Arc`. The key is not for display;
//! the object has its name.

use kubist_apimachinery::Object;
use std::hash::{DefaultHasher, Hasher};

/// The maximum length of namespace and name together that is stored inline. A Pod of a Deployment
/// has about 20 to 40 bytes; of longer names only the hash is stored.
const TEXT_MAX: usize = 46;

/// Replaces the length for longer names.
const LONG: u8 = u8::MAX;

/// The key by which a name is looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameKey {
    pub(crate) hash: u64,
    pub(crate) text: NameText,
}

/// A short name: namespace and name in a row, zeros, the length of the namespace, and the total
/// length. A long name is all zeros and a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameText([u8; TEXT_MAX + 2]);

impl NameKey {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        let text = NameText::new(namespace, name);
        if text.is_long() {
            hasher.write(namespace.as_bytes());
            hasher.write_u8(LONG);
            hasher.write(name.as_bytes());
        } else {
            hasher.write(&text.0);
        }
        let hash = masked(hasher.finish());
        Self { hash, text }
    }

    pub(crate) fn of<K: Object>(object: &K) -> Self {
        Self::new(object.namespace(), object.name())
    }
}

impl Default for NameText {
    fn default() -> Self {
        Self([0; TEXT_MAX + 2])
    }
}

impl NameText {
    #[expect(clippy::cast_possible_truncation, reason = "short lengths fit a byte")]
    fn new(namespace: &str, name: &str) -> Self {
        let mut text = Self::default();
        let (namespace, name) = (namespace.as_bytes(), name.as_bytes());
        let length = namespace.len() + name.len();
        let bytes = &mut text.0;
        if length > TEXT_MAX {
            bytes[TEXT_MAX + 1] = LONG;
            return text;
        }
        bytes[..namespace.len()].copy_from_slice(namespace);
        bytes[namespace.len()..length].copy_from_slice(name);
        bytes[TEXT_MAX] = namespace.len() as u8;
        bytes[TEXT_MAX + 1] = length as u8;
        text
    }

    /// Reports whether the text is not stored.
    pub(crate) fn is_long(&self) -> bool {
        self.0[TEXT_MAX + 1] == LONG
    }
}

/// Returns the hash of an index value.
pub(crate) fn hash_value(value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value.as_bytes());
    masked(hasher.finish())
}

/// Keeps few bits of the hash in unit tests, so that collisions occur; otherwise they are very
/// rare. The hash has a constant key, so that the iteration order is the same in every run. It is a
/// strong hash, so that chosen names do not collide, and names with a common prefix only lengthen a
/// path.
fn masked(hash: u64) -> u64 {
    hash & if cfg!(test) { 0xf000_0003 } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinguished_wherever_the_namespace_ends() {
        let text = |namespace, name| NameText::new(namespace, name);
        assert_eq!(text("shop", "web"), text("shop", "web"));
        assert_ne!(text("shop", "web"), text("sho", "pweb"));
        assert_ne!(text("", "shopweb"), text("shopweb", ""));
        assert_ne!(text("shop", "web"), text("shop", "web\0"));
    }

    #[test]
    fn a_name_that_is_too_long_tells_its_hash_alone() {
        let fits = "x".repeat(TEXT_MAX - 4);
        assert!(!NameText::new("shop", &fits).is_long());
        let long = fits + "x";
        assert!(NameText::new("shop", &long).is_long());
        assert_eq!(size_of::<NameKey>(), 56);
    }
}
