//! `NameHasher` and `NameText`: what a store knows of a name besides the object that has it.
//!
//! Names are found by a hash, and short ones are compared in the store's own memory, so that a
//! look-up touches no object that it does not return. Neither is for display; the object has its
//! name.

use hashbrown::DefaultHashBuilder;
use std::hash::{BuildHasher, Hasher};

/// The maximum length of namespace and name together that is stored. A Pod of a Deployment has
/// about 20 to 40 bytes; longer names are compared with the object's.
const TEXT_MAX: usize = 46;

/// Replaces the length for longer names.
const LONG: u8 = u8::MAX;

/// Hashes names and index values, with a seed of its own, which clones share: chosen names do not
/// collide. Nothing that a caller sees may depend on a hash, because it differs in every run.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameHasher(DefaultHashBuilder);

/// A short name: namespace and name in a row, zeros, the length of the namespace, and the total
/// length. A long name is all zeros and a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameText([u8; TEXT_MAX + 2]);

impl NameHasher {
    #[inline]
    pub(crate) fn name(&self, namespace: &str, name: &str) -> u32 {
        let mut hasher = self.0.build_hasher();
        hasher.write(namespace.as_bytes());
        hasher.write(name.as_bytes());
        masked(hasher.finish())
    }

    #[inline]
    pub(crate) fn value(&self, value: &str) -> u32 {
        let mut hasher = self.0.build_hasher();
        hasher.write(value.as_bytes());
        masked(hasher.finish())
    }
}

/// Keeps few bits of the hash in unit tests, so that collisions occur; otherwise they are rare.
#[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
fn masked(hash: u64) -> u32 {
    hash as u32 & if cfg!(test) { 0xf000_0003 } else { u32::MAX }
}

impl Default for NameText {
    fn default() -> Self {
        Self([0; TEXT_MAX + 2])
    }
}

impl NameText {
    #[expect(clippy::cast_possible_truncation, reason = "short lengths fit a byte")]
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
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
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.0[TEXT_MAX + 1] == LONG
    }

    /// Reports whether this is the text of a name; false if it is not stored.
    #[inline]
    pub(crate) fn is(&self, namespace: &str, name: &str) -> bool {
        let (middle, end) = (
            usize::from(self.0[TEXT_MAX]),
            usize::from(self.0[TEXT_MAX + 1]),
        );
        middle == namespace.len()
            && end == middle + name.len()
            && end <= TEXT_MAX
            && self.0[..middle] == *namespace.as_bytes()
            && self.0[middle..end] == *name.as_bytes()
    }
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
        assert!(text("shop", "web").is("shop", "web"));
        for (namespace, name) in [("sho", "pweb"), ("shop", "we"), ("shop", "wed"), ("", "")] {
            assert!(!text("shop", "web").is(namespace, name));
        }
    }

    #[test]
    fn names_of_any_length_are_compared_to_the_end() {
        for length in 1..=TEXT_MAX - 4 {
            let name = "x".repeat(length);
            let text = NameText::new("shop", &name);
            assert!(text.is("shop", &name));
            for at in 0..length {
                let mut other = name.clone();
                other.replace_range(at..=at, "y");
                assert!(!text.is("shop", &other), "{other}");
            }
        }
    }

    #[test]
    fn a_name_that_is_too_long_is_not_stored() {
        let fits = "x".repeat(TEXT_MAX - 4);
        assert!(!NameText::new("shop", &fits).is_long());
        assert!(NameText::new("shop", &fits).is("shop", &fits));
        let long = fits + "x";
        assert!(NameText::new("shop", &long).is_long());
        assert!(!NameText::new("shop", &long).is("shop", &long));
        assert_eq!(size_of::<NameText>(), 48);
    }
}
