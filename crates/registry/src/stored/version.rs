//! `VersionPlace`: inserts a resource version into an encoded object without decoding it.
//!
//! A stored object contains the field, empty, because upstream's encoder writes every value field.
//! So an object is delivered as a copy in which one field is longer.

use kubist_apimachinery::wire::{push_varint, skip_field, varint, varint_length};

/// The protobuf tag of `metadata` in every kind.
const METADATA: u8 = 0x0a;
/// The protobuf tag of `metadata.resourceVersion`, followed by the length zero.
const EMPTY_VERSION: [u8; 2] = [0x32, 0];

/// The position of the resource version in an encoded object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionPlace {
    /// The offset of the empty field from the start of the metadata.
    at: u32,
    /// The length of the metadata.
    meta: u32,
}

/// The bits of each number in a word.
const PLACE_BITS: u32 = 24;

impl VersionPlace {
    /// Finds the position; `None` unless `raw` begins with metadata in which the field is empty.
    pub(crate) fn of(raw: &[u8]) -> Option<Self> {
        let (meta, _) = metadata(raw)?;
        let at = position_of_empty_version(meta)?;
        Some(Self {
            at: u32::try_from(at).ok()?,
            meta: u32::try_from(meta.len()).ok()?,
        })
    }

    /// Packs both numbers into the low 48 bits of a word; `None` if the metadata is too long for
    /// that.
    pub(crate) fn to_word(self) -> Option<u64> {
        (self.meta >> PLACE_BITS == 0)
            .then(|| u64::from(self.at) << PLACE_BITS | u64::from(self.meta))
    }

    /// Unpacks a position from the low 48 bits of a word.
    #[expect(clippy::cast_possible_truncation, reason = "24 bits are meant")]
    pub(crate) fn from_word(word: u64) -> Self {
        let mask = (1 << PLACE_BITS) - 1;
        Self {
            at: (word >> PLACE_BITS & mask) as u32,
            meta: (word & mask) as u32,
        }
    }

    /// Appends the object `raw`, which this position belongs to, with a resource version; 0 for
    /// none.
    pub(crate) fn fill(self, raw: &[u8], revision: u64, out: &mut Vec<u8>) {
        let mut digits = [0; DIGITS_MAX];
        let version = digits_of(revision, &mut digits);
        let meta = self.meta as usize;
        let start = 1 + varint_length(meta as u64);
        let (before, after) = raw.split_at((start + self.at as usize + 1).min(raw.len()));
        out.reserve(raw.len() + version.len() + 4);
        out.push(METADATA);
        push_varint((meta + version.len()) as u64, out);
        // The length before the version is one byte in both cases: versions have at most 20 digits.
        out.extend_from_slice(before.get(start..).unwrap_or_default());
        push_varint(version.len() as u64, out);
        out.extend_from_slice(version);
        out.extend_from_slice(after.get(1..).unwrap_or_default());
    }

    /// Returns the number of bytes that [`fill`](Self::fill) appends for an object of `raw` bytes.
    pub(crate) fn filled_length(self, raw: usize, revision: u64) -> usize {
        let version = version_length(revision);
        let meta = self.meta as usize;
        raw + version + varint_length((meta + version) as u64) - varint_length(meta as u64)
    }
}

/// The number of digits of the greatest revision.
const DIGITS_MAX: usize = 20;

/// Returns the decimal digits of a revision; empty for 0.
fn digits_of(mut revision: u64, digits: &mut [u8; DIGITS_MAX]) -> &[u8] {
    let mut start = DIGITS_MAX;
    while revision > 0 {
        start -= 1;
        digits[start] = b'0' + u8::try_from(revision % 10).expect("a digit is small");
        revision /= 10;
    }
    &digits[start..]
}

/// Returns the number of digits of a revision.
fn version_length(revision: u64) -> usize {
    revision
        .checked_ilog10()
        .map_or(0, |digits| digits as usize + 1)
}

/// Returns the metadata with its tag, which is a valid message by itself. `None` if the metadata is
/// not the first field or appears more than once.
pub(crate) fn first_field(raw: &[u8]) -> Option<&[u8]> {
    let (_, rest) = metadata(raw)?;
    Some(&raw[..raw.len() - rest.len()])
}

fn metadata(raw: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&tag, rest) = raw.split_first()?;
    if tag != METADATA {
        return None;
    }
    let (length, rest) = varint(rest).ok()?;
    let length = usize::try_from(length).ok()?;
    let (meta, rest) = rest.split_at_checked(length)?;
    // A second metadata field would merge with the first.
    (rest.first() != Some(&METADATA)).then_some((meta, rest))
}

fn position_of_empty_version(meta: &[u8]) -> Option<usize> {
    let mut rest = meta;
    loop {
        if rest.starts_with(&EMPTY_VERSION) {
            return Some(meta.len() - rest.len());
        }
        let (tag, after) = varint(rest).ok()?;
        let number = u32::try_from(tag >> 3).ok()?;
        // Fields are in the order of their numbers, and the version is the sixth.
        if !(1..6).contains(&number) {
            return None;
        }
        rest = skip_field(number, (tag & 7) as u8, after).ok()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::ConfigMap;
    use kubist_apimachinery::ObjectMeta;
    use kubist_apimachinery::wire::Wire;

    fn config_map(version: &str, annotation: usize) -> ConfigMap {
        let mut object = ConfigMap {
            metadata: ObjectMeta {
                name: "c".into(),
                namespace: "n".into(),
                uid: "u".into(),
                resource_version: version.into(),
                ..ObjectMeta::default()
            },
            ..ConfigMap::default()
        };
        let text = "x".repeat(annotation);
        object.metadata.annotations.insert("a".into(), text.into());
        object.data.insert("k".into(), "v".into());
        object
    }

    #[test]
    fn the_bytes_are_those_of_the_encoder() {
        // The encoded length of the metadata grows from one to two and from two to three bytes.
        for annotation in (0..130).chain(16_200..16_390) {
            let raw = config_map("", annotation).to_protobuf();
            let place = VersionPlace::of(&raw).unwrap();
            for (revision, version) in [(u64::MAX, "18446744073709551615"), (10, "10"), (0, "")] {
                let mut out = Vec::new();
                place.fill(&raw, revision, &mut out);
                assert_eq!(out, config_map(version, annotation).to_protobuf());
                assert_eq!(place.filled_length(raw.len(), revision), out.len());
            }
            let word = place.to_word().unwrap();
            assert_eq!(VersionPlace::from_word(word), place);
            assert_eq!(VersionPlace::from_word(word | 0xff << 48), place);
        }
    }

    #[test]
    fn other_encodings_are_left_to_the_decoder() {
        for raw in [
            &b""[..],
            b"\x12\x00",
            b"\x0a\x05x",
            b"\x0a\x02\x3a\x00",
            b"\x0a\x00\x0a\x00",
        ] {
            assert_eq!(VersionPlace::of(raw), None);
        }
        let stamped = config_map("3", 0).to_protobuf();
        assert_eq!(VersionPlace::of(&stamped), None);
        let long = VersionPlace {
            at: 1,
            meta: 1 << PLACE_BITS,
        };
        assert_eq!(long.to_word(), None);
    }
}
