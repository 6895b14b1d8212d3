//! `LabelFilter`: a summary of an object's labels, by which most objects that a selector does not
//! select are recognized without reading their labels.
//!
//! It is a Bloom filter of 64 bits. It never excludes an object that is selected; an object that
//! passes must still be compared. It depends on the version of this crate, so it is not for storage
//! or for the wire.

use crate::{KeyValues, Operator, Selector};

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
/// assert!(filter.passes(LabelFilter::required(&web)));
/// assert!(!filter.passes(LabelFilter::required(&db)));
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
        let bits = labels.iter().map(|(key, value)| bits_of(key, value));
        Self(bits.fold(0, |all, bits| all | bits))
    }

    /// Summarizes the labels that an object must have to be selected.
    pub fn required(selector: &Selector) -> Self {
        let exact = selector.requirements().iter().filter_map(|requirement| {
            match (requirement.operator(), requirement.values()) {
                (Operator::Equals | Operator::DoubleEquals | Operator::In, [value]) => {
                    Some(bits_of(requirement.key(), value))
                }
                _ => None,
            }
        });
        Self(exact.fold(0, |all, bits| all | bits))
    }

    /// Reports whether the summarized labels may include the required ones.
    pub fn passes(self, required: Self) -> bool {
        self.0 & required.0 == required.0
    }

    /// Reports whether every object passes this requirement.
    pub fn is_empty(self) -> bool {
        self.0 == 0
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Object, ObjectMeta};
    use proptest::prelude::*;

    fn labelled(labels: &[(u8, u8)]) -> ObjectMeta {
        let label = |it: &(u8, u8)| (format!("k{}", it.0).into(), format!("v{}", it.1).into());
        ObjectMeta {
            labels: labels.iter().map(label).collect(),
            ..ObjectMeta::default()
        }
    }

    proptest! {
        #[test]
        fn what_is_selected_passes(
            labels in prop::collection::vec((0u8..6, 0u8..4), 0..8),
            terms in prop::collection::vec((0u8..6, 0u8..4, 0u8..6), 0..4),
        ) {
            let terms = terms.iter().map(|(key, value, form)| match form {
                0 => format!("k{key}=v{value}"),
                1 => format!("k{key} in (v{value})"),
                2 => format!("k{key} in (v{value},v0)"),
                3 => format!("k{key}!=v{value}"),
                4 => format!("k{key}"),
                _ => format!("!k{key}"),
            });
            let selector = terms.collect::<Vec<_>>().join(",");
            let selector: Selector = selector.parse().expect("valid");
            let meta = labelled(&labels);
            let required = LabelFilter::required(&selector);
            if selector.matches_object(&meta) {
                prop_assert!(LabelFilter::of(meta.labels()).passes(required));
            }
            prop_assert!(LabelFilter::default().passes(required));
        }
    }

    #[test]
    fn of_objects_with_other_labels_few_pass() {
        let selector: Selector = "k7=v7".parse().expect("valid");
        let required = LabelFilter::required(&selector);
        let others =
            (0..250u8).map(|it| labelled(&[(0, it), (1, it / 2), (2, it / 4), (3, it / 8)]));
        let passing = others.filter(|it| LabelFilter::of(it.labels()).passes(required));
        assert!(passing.count() < 12);
    }
}
