//! `NameKey`: a name as the tries of a store know it: its hash, and its text where that is short.
//!
//! The text stands beside the hash, in the same cache line, so that to find an object by name no
//! other object's memory is touched, and the found one's only to share it. It is not a name to
//! show: that is the object's own.

use kubist_apimachinery::Object;
use std::hash::{DefaultHasher, Hasher};

/// Bytes of namespace and name together that are held in place. A Pod of a Deployment has some 20
/// to 40; of longer names, only the hash is.
const TEXT_MAX: usize = 46;

/// In the place of the length, for names that are longer.
const LONG: u8 = u8::MAX;

/// What a name is looked up by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameKey {
    pub(crate) hash: u64,
    pub(crate) text: NameText,
}

/// A short name: namespace and name in a row, zeros, the namespace's length, and both lengths
/// together. A long one is all zeros but for a mark.
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

    /// Whether it does not tell the name.
    pub(crate) fn is_long(&self) -> bool {
        self.0[TEXT_MAX + 1] == LONG
    }
}

/// The hash of an index value.
pub(crate) fn hash_value(value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value.as_bytes());
    masked(hasher.finish())
}

/// Equal hashes of different names hardly happen; in unit tests they do. The hash is keyed with a
/// constant, so that iteration order is the same in every run; it is a strong one, so that nobody
/// who picks names makes many of them meet, and names that begin alike only make a path longer.
fn masked(hash: u64) -> u64 {
    hash & if cfg!(test) { 0xf000_0003 } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_wherever_the_namespace_ends() {
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
