//! `LabelFilter`: a summary of an object's labels, by which most objects that a selector does not
//! select are recognized without reading their labels.
//!
//! It is a Bloom filter of 64 bits. It never excludes an object that is selected; an object that
//! passes must still be compared. It depends on the version of this crate, so it is not for storage
//! or for the wire.

use crate::KeyValues;

/// How many bits stand for a label.
const BITS: u32 = 3;
/// An odd number without a pattern.
const FACTOR: u64 = 0xa076_1d64_78bd_642f;

/// A summary of labels. Default: of labels that are not known, which passes every selector.
///
/// ```
/// use kubist_apimachinery::{LabelFilter, Object, ObjectMeta, Selector};
/// let labels = [("app".into(), "web".into())].into();
/// let meta = ObjectMeta { labels, ..ObjectMeta::default() };
/// let filter = LabelFilter::of(meta.labels());
/// let (web, db): (Selector, Selector) = ("app=web".parse()?, "app=db".parse()?);
/// assert!(filter.passes(web.label_filter()));
/// assert!(!filter.passes(db.label_filter()));
/// # Ok::<(), kubist_apimachinery::ParseSelectorError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelFilter(u64);

impl Default for LabelFilter {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl LabelFilter {
    /// Summarizes the labels of an object.
    pub fn of(labels: KeyValues<'_>) -> Self {
        Self::of_pairs(labels.iter())
    }

    /// Summarizes some labels.
    pub fn of_pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        Self(pairs.fold(0, |all, (key, value)| all | bits_of(key, value)))
    }

    /// Reports whether the summarized labels may include the required ones, of which there may be
    /// none.
    pub fn passes(self, required: Self) -> bool {
        self.0 & required.0 == required.0
    }
}

fn bits_of(key: &str, value: &str) -> u64 {
    let hash = mixed(mixed(0, key.as_bytes()), value.as_bytes());
    (0..BITS).fold(0, |bits, at| bits | 1 << (hash >> (at * 6) & 63))
}

/// Mixes text and its length into a hash, eight bytes at a time.
fn mixed(hash: u64, text: &[u8]) -> u64 {
    let mut hash = fold(hash ^ text.len() as u64);
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(hash ^ u64::from_le_bytes(last))
}

fn fold(hash: u64) -> u64 {
    let product = hash.wrapping_mul(FACTOR);
    product ^ product >> 32
}
