//! `Str`: the string type of all API types.
//!
//! It has sixteen bytes, is immutable, and stores a text of up to sixteen bytes in place: most
//! keys, names, phases and reasons need no allocation. Clones of a longer one share it, so an
//! image name that ten thousand objects repeat is stored once (see
//! [`Interner`](crate::wire::Interner)).
//!
//! It is not a string builder: build a `String` and convert it.

use lean_string::LeanStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// An immutable string: short texts are in place, and clones of longer ones share one allocation.
///
/// ```
/// use kubist_apimachinery::Str;
/// let name: Str = "web-0".into();
/// assert_eq!(name, "web-0");
/// assert!(Str::default().is_empty());
/// ```
#[derive(Clone, Default)]
pub struct Str(LeanStr);

impl Str {
    /// The most bytes of a text that needs no allocation.
    pub const IN_PLACE_MAX: usize = 2 * size_of::<usize>();

    /// Returns the text.
    #[inline]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Reports whether both share one allocation, which equal strings need not, or are equal
    /// without any.
    pub fn same_allocation(&self, other: &Self) -> bool {
        std::ptr::eq(self.as_str(), other.as_str())
            || (self.len() <= Self::IN_PLACE_MAX && self == other)
    }

    /// Returns the bytes on the heap; clones share them.
    pub(crate) fn heap_size(&self) -> usize {
        // The text is behind one count of references.
        let allocated = self.len() > Self::IN_PLACE_MAX;
        if allocated {
            size_of::<usize>() + self.len()
        } else {
            0
        }
    }
}

impl Deref for Str {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Str {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Str {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<&str> for Str {
    #[inline]
    fn from(text: &str) -> Self {
        Self(LeanStr::from(text))
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<&String> for Str {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<&Self> for Str {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl From<Cow<'_, str>> for Str {
    fn from(text: Cow<'_, str>) -> Self {
        Self::from(&*text)
    }
}

impl From<Str> for serde_json::Value {
    fn from(text: Str) -> Self {
        Self::String(text.into())
    }
}

impl From<Str> for String {
    fn from(text: Str) -> Self {
        (*text).to_owned()
    }
}

impl PartialEq for Str {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Str {}

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Str {
    // As that of `str`, which it is borrowed as.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl PartialEq<str> for Str {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Str {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialEq<String> for Str {
    fn eq(&self, other: &String) -> bool {
        **self == **other
    }
}

impl PartialEq<Str> for str {
    fn eq(&self, other: &Str) -> bool {
        *self == **other
    }
}

impl PartialEq<Str> for &str {
    fn eq(&self, other: &Str) -> bool {
        **self == **other
    }
}

impl PartialEq<Str> for String {
    fn eq(&self, other: &Str) -> bool {
        **self == **other
    }
}

impl PartialOrd<str> for Str {
    fn partial_cmp(&self, other: &str) -> Option<Ordering> {
        (**self).partial_cmp(other)
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl Serialize for Str {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Str {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Str;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Str, E> {
                Ok(text.into())
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher as _;

    #[test]
    fn it_has_two_words_and_so_has_an_optional_one() {
        assert_eq!(size_of::<Str>(), 16);
        assert_eq!(size_of::<Option<Str>>(), 16);
    }

    #[test]
    fn texts_around_the_limit_are_kept_compared_and_hashed_like_str() {
        let hasher = hashbrown::DefaultHashBuilder::default();
        let texts: Vec<String> = (0..40)
            .map(|length| "x".repeat(length))
            .chain(["é".repeat(8), "é".repeat(9), "\0\u{10ffff}".to_owned()])
            .collect();
        for text in &texts {
            let it = Str::from(text.as_str());
            assert_eq!(it, *text);
            assert_eq!(it.clone(), it);
            assert!(it.clone().same_allocation(&it));
            assert_eq!(hasher.hash_one(&it), hasher.hash_one(text.as_str()));
            for other in &texts {
                assert_eq!(it.cmp(&Str::from(other)), text.cmp(other));
            }
        }
    }

    #[test]
    fn only_texts_beyond_the_limit_are_allocated() {
        let long = "x".repeat(Str::IN_PLACE_MAX + 1);
        let short = &long[1..];
        assert!(Str::from(short).same_allocation(&Str::from(short)));
        assert!(!Str::from(&long).same_allocation(&Str::from(&long)));
        assert_eq!(Str::from(short).heap_size(), 0);
        assert_eq!(Str::from(&long).heap_size(), 8 + long.len());
    }
}
