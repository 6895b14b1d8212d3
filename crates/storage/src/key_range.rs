//! `KeyRange`: a half-open range of keys in byte order.
//!
//! It is not a pattern; a prefix is one of the ranges that it can express.

use bytes::Bytes;

/// The keys from `start` (inclusive) to `end` (exclusive), in byte order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyRange {
    start: Bytes,
    end: Option<Bytes>,
}

impl KeyRange {
    /// All keys.
    pub fn all() -> Self {
        Self {
            start: Bytes::new(),
            end: None,
        }
    }

    /// A single key.
    pub fn key(key: impl Into<Bytes>) -> Self {
        let start = key.into();
        let mut end = Vec::with_capacity(start.len() + 1);
        end.extend_from_slice(&start);
        end.push(0);
        Self {
            start,
            end: Some(end.into()),
        }
    }

    /// All keys that begin with `prefix`.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start = prefix.into();
        let end = prefix_end(&start);
        Self { start, end }
    }

    /// The keys from `start` up to but excluding `end`. Empty unless `end` is above `start`.
    pub fn between(start: impl Into<Bytes>, end: impl Into<Bytes>) -> Self {
        Self {
            start: start.into(),
            end: Some(end.into()),
        }
    }

    /// The keys from `start` on.
    pub fn starting_at(start: impl Into<Bytes>) -> Self {
        Self {
            start: start.into(),
            end: None,
        }
    }

    /// The rest of this range from `start` on, to continue a paged read. A `start` below the start
    /// of the range changes nothing.
    pub fn resumed_at(&self, start: impl Into<Bytes>) -> Self {
        Self {
            start: start.into().max(self.start.clone()),
            end: self.end.clone(),
        }
    }

    /// Returns the first key that can be in the range.
    pub fn start(&self) -> &Bytes {
        &self.start
    }

    /// Returns the first key above the range; `None` if it has no upper end.
    pub fn end(&self) -> Option<&Bytes> {
        self.end.as_ref()
    }

    /// Reports whether `key` is in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= &self.start[..] && self.end.as_ref().is_none_or(|end| key < &end[..])
    }

    /// Returns the key, if the range can contain exactly one.
    pub fn as_key(&self) -> Option<&Bytes> {
        let (last, rest) = self.end.as_ref()?.split_last()?;
        (*last == 0 && rest == &self.start[..]).then_some(&self.start)
    }

    /// Returns the prefix, if the range is a prefix.
    pub fn as_prefix(&self) -> Option<&Bytes> {
        (self.end == prefix_end(&self.start)).then_some(&self.start)
    }
}

/// Returns the first key above all keys with `prefix`; `None` if every byte is the highest.
fn prefix_end(prefix: &[u8]) -> Option<Bytes> {
    let kept = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix[..=kept].to_vec();
    end[kept] += 1;
    Some(end.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_holds_exactly_the_keys_that_begin_with_it() {
        let range = KeyRange::prefix("a/");
        assert!(range.contains(b"a/") && range.contains(b"a/\xff\xff"));
        assert!(!range.contains(b"a") && !range.contains(b"a0"));
        assert_eq!(range.as_prefix().map(|it| &it[..]), Some(&b"a/"[..]));
        assert_eq!(range.as_key(), None);
    }

    #[test]
    fn prefix_of_highest_bytes_has_no_upper_end() {
        assert_eq!(KeyRange::prefix(&b"\xff\xff"[..]).end(), None);
        assert_eq!(
            KeyRange::prefix(&b"a\xff"[..]).end(),
            Some(&Bytes::from("b"))
        );
        assert_eq!(KeyRange::prefix(""), KeyRange::all());
    }

    #[test]
    fn key_range_holds_one_key() {
        let range = KeyRange::key("a");
        assert!(range.contains(b"a") && !range.contains(b"a\0") && !range.contains(b""));
        assert_eq!(range.as_key(), Some(&Bytes::from("a")));
        assert_eq!(range.as_prefix(), None);
    }

    #[test]
    fn resuming_never_leaves_the_range() {
        let range = KeyRange::prefix("b/");
        assert_eq!(range.resumed_at("a"), range);
        assert!(!range.resumed_at("b/k\0").contains(b"b/k"));
        assert!(!range.resumed_at("z").contains(b"z"));
        assert!(!KeyRange::between("z", "a").contains(b"m"));
    }
}
