//! Puts a resource version into an encoded object, without decoding it.
//!
//! In storage the field is there and empty, because upstream's encoder writes every value field;
//! so delivering an object is copying it with one field longer.

use kubist_apimachinery::wire::{skip_field, varint};

/// `metadata` of every kind, as a protobuf tag.
const METADATA: u8 = 0x0a;
/// `metadata.resourceVersion`, as a protobuf tag, with the length zero.
const EMPTY_VERSION: [u8; 2] = [0x32, 0];

/// Appends `raw` with `version` as its resource version. False, with nothing appended, if `raw`
/// does not begin with metadata in which the field is empty.
pub(crate) fn with_resource_version(raw: &[u8], version: &str, out: &mut Vec<u8>) -> bool {
    let Some((meta, rest)) = metadata(raw) else {
        return false;
    };
    let Some(at) = position_of_empty_version(meta) else {
        return false;
    };
    out.reserve(raw.len() + version.len() + 4);
    out.push(METADATA);
    push_varint(meta.len() + version.len(), out);
    // The length before the version is one byte in both cases: versions have at most 20 digits.
    out.extend_from_slice(&meta[..=at]);
    push_varint(version.len(), out);
    out.extend_from_slice(version.as_bytes());
    out.extend_from_slice(&meta[at + EMPTY_VERSION.len()..]);
    out.extend_from_slice(rest);
    true
}

/// How many bytes [`with_resource_version`] appends for a version of so many digits; None where it
/// appends nothing.
pub(crate) fn length_with_version(raw: &[u8], version: usize) -> Option<usize> {
    let (meta, rest) = metadata(raw)?;
    position_of_empty_version(meta)?;
    let meta = meta.len() + version;
    Some(1 + varint_length(meta) + meta + rest.len())
}

/// The metadata with its tag: a message that has only that. None if it does not come first, or
/// not once.
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

fn varint_length(value: usize) -> usize {
    let bits = (usize::BITS - value.leading_zeros()).max(1);
    bits.div_ceil(7) as usize
}

fn push_varint(mut value: usize, out: &mut Vec<u8>) {
    loop {
        let low = u8::try_from(value & 0x7f).expect("seven bits");
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
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
        // The length of the metadata grows over the border of one and of two bytes.
        for annotation in (0..130).chain(16_200..16_390) {
            let raw = config_map("", annotation).to_protobuf();
            let mut out = Vec::new();
            assert!(with_resource_version(
                &raw,
                "18446744073709551615",
                &mut out
            ));
            let expected = config_map("18446744073709551615", annotation).to_protobuf();
            assert_eq!(out, expected, "{annotation}");
            assert_eq!(length_with_version(&raw, 20), Some(out.len()));
            assert_eq!(length_with_version(&raw, 0), Some(raw.len()));
        }
    }

    #[test]
    fn what_is_not_as_stored_is_left_to_the_decoder() {
        let mut out = Vec::new();
        for raw in [
            &b""[..],
            b"\x12\x00",
            b"\x0a\x05x",
            b"\x0a\x02\x3a\x00",
            b"\x0a\x00\x0a\x00",
        ] {
            assert!(!with_resource_version(raw, "7", &mut out));
            assert_eq!(length_with_version(raw, 1), None);
        }
        let stamped = config_map("3", 0).to_protobuf();
        assert!(!with_resource_version(&stamped, "7", &mut out));
        assert_eq!(out, b"");
    }
}
