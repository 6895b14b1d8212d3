//! YAML and protobuf bodies that are expensive for their size: nested aliases, many anchors, deep
//! nesting, garbage, and entries of two bytes that decode to an object each. All are dry runs.

use crate::call::{Call, PROTOBUF, YAML};
use crate::fill::config_maps;
use std::fmt::Write as _;

/// Levels of aliases; each refers ten times to the level below.
const ALIAS_LEVELS: u8 = 12;
/// Unused anchors.
const ANCHORS: usize = 100_000;
/// Levels of deep values.
const LEVELS: usize = 10_000;
/// Lines of a string.
const LINES: usize = 200_000;
/// Random bytes.
const GARBAGE_BYTES: usize = 1_000_000;
/// Empty entries.
const EMPTY_ENTRIES: usize = 150_000;

/// The prefix of a protobuf body.
const MAGIC: &[u8] = b"k8s\0";

/// Returns all bodies.
pub(super) fn calls() -> Vec<Call> {
    let path = config_maps() + "?dryRun=All";
    let yaml = |label, body: String| Call::post(label, path.as_str(), body).content_type(YAML);
    let protobuf =
        |label, body: Vec<u8>| Call::post(label, path.as_str(), body).content_type(PROTOBUF);
    vec![
        yaml("YAML, aliases of aliases", aliases()),
        yaml("YAML, anchors", anchors()),
        yaml("YAML, deep", deep()),
        yaml("YAML, deep by indentation", indented()),
        yaml("YAML, long text", text()),
        protobuf("protobuf, garbage", garbage()),
        protobuf("protobuf, garbage in an envelope", envelope(&garbage())),
        protobuf("protobuf, empty references", envelope(&empty_references())),
        protobuf("protobuf, deep", envelope(&nested())),
    ]
}

const YAML_HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n";

fn aliases() -> String {
    let mut text = YAML_HEAD.to_owned();
    text += "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
    for level in 1..ALIAS_LEVELS {
        let (name, below) = (char::from(b'a' + level), char::from(b'a' + level - 1));
        let items = vec![format!("*{below}"); 10].join(", ");
        writeln!(text, "{name}: &{name} [{items}]").expect("a string takes what it is given");
    }
    text
}

fn anchors() -> String {
    let mut text = YAML_HEAD.to_owned() + "unknown:\n";
    for number in 0..ANCHORS {
        writeln!(text, "- &a{number} x").expect("a string takes what it is given");
    }
    text
}

fn deep() -> String {
    let (open, close) = ("[".repeat(LEVELS), "]".repeat(LEVELS));
    format!("{YAML_HEAD}unknown: {open}{close}\n")
}

/// Nests one level deeper in each line.
fn indented() -> String {
    let mut text = YAML_HEAD.to_owned() + "unknown:\n";
    for level in 1..2_000 {
        text += &" ".repeat(level);
        text += "a:\n";
    }
    text
}

fn text() -> String {
    YAML_HEAD.to_owned() + "data:\n  a: |\n" + &"    line\n".repeat(LINES)
}

/// Returns the same bytes each time (`SplitMix64`).
fn garbage() -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let mut state: u64 = 1;
    while bytes.len() < GARBAGE_BYTES {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes());
    }
    bytes
}

/// Wraps a config map in the envelope.
fn envelope(raw: &[u8]) -> Vec<u8> {
    let mut kind = field(1, b"v1");
    kind.extend(field(2, b"ConfigMap"));
    let mut bytes = MAGIC.to_vec();
    bytes.extend(field(1, &kind));
    bytes.extend(field(2, raw));
    bytes
}

/// Returns metadata (field 1) with empty owner references (field 13).
fn empty_references() -> Vec<u8> {
    let mut metadata = field(1, b"x");
    for _ in 0..EMPTY_ENTRIES {
        metadata.extend(field(13, b""));
    }
    field(1, &metadata)
}

/// Nests metadata: field 1 is a message at the first level and a string below.
fn nested() -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1_000 {
        bytes = field(1, &bytes);
    }
    bytes
}

/// Returns a field of bytes.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![(number << 3) | 2];
    let mut rest = content.len();
    while rest >= 128 {
        bytes.push(u8::try_from(rest % 128).expect("it has seven bits") | 0x80);
        rest /= 128;
    }
    bytes.push(u8::try_from(rest).expect("it has seven bits"));
    bytes.extend_from_slice(content);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fit_into_what_a_body_may_have() {
        for call in calls() {
            let bytes = call.body().len();
            assert!((100..=3 << 20).contains(&bytes), "{}: {bytes}", call.label);
        }
    }

    #[test]
    fn fields_are_written_as_protobuf_has_them() {
        assert_eq!(field(2, b"ab"), [0x12, 2, b'a', b'b']);
        assert_eq!(field(13, b""), [0x6a, 0]);
        assert_eq!(field(1, &[7; 300])[..3], [0x0a, 0xac, 0x02]);
        assert!(envelope(b"").starts_with(b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x00"));
    }
}
