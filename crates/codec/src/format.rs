//! `Format`: the encodings of the API, and detection of the encoding of given bytes.
//!
//! It does not decode anything. CBOR and encrypted values are detected so that errors can name
//! them.

use crate::envelope;
use kubist_apimachinery::wire::Encoding;

/// An encoding of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new encoding must be handled everywhere"
)]
pub enum Format {
    /// JSON text.
    Json,
    /// YAML text.
    Yaml,
    /// A protobuf message in the `k8s\0` envelope.
    Protobuf,
}

impl Format {
    /// All formats, in the order in which servers list and prefer them.
    pub const ALL: &'static [Self] = &[Self::Json, Self::Yaml, Self::Protobuf];
    /// The formats of custom resources.
    pub const TEXT: &'static [Self] = &[Self::Json, Self::Yaml];

    /// Returns the media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }

    /// Returns the format of a media type without parameters.
    pub fn of_media_type(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.media_type().eq_ignore_ascii_case(name))
    }

    /// Returns the encoding of the objects in lists and watches of this format; none for YAML,
    /// which has no streams.
    pub const fn encoding(self) -> Option<Encoding> {
        match self {
            Self::Json => Some(Encoding::Json),
            Self::Yaml => None,
            Self::Protobuf => Some(Encoding::Protobuf),
        }
    }
}

/// The detected content of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Only white space.
    Empty,
    /// JSON: begins with `{` or `[`.
    Json,
    /// Protobuf: begins with the `k8s\0` envelope.
    Protobuf,
    /// CBOR: begins with its self-description tag.
    Cbor,
    /// A value encrypted for storage (`k8s:enc:`).
    Encrypted,
    /// Anything else, which can only be YAML.
    Yaml,
}

impl Content {
    /// CBOR's self-description tag, 55799.
    const CBOR_TAG: [u8; 3] = [0xd9, 0xd9, 0xf7];
    const ENCRYPTED: &'static [u8] = b"k8s:enc:";

    /// Detects the content by its first bytes. It works for request bodies, files and stored
    /// values.
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.starts_with(&envelope::MAGIC) {
            return Self::Protobuf;
        }
        if bytes.starts_with(&Self::CBOR_TAG) {
            return Self::Cbor;
        }
        if bytes.starts_with(Self::ENCRYPTED) {
            return Self::Encrypted;
        }
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => Self::Empty,
            Some(b'{' | b'[') => Self::Json,
            Some(_) => Self::Yaml,
        }
    }

    /// Returns the format, if it can be decoded.
    pub fn format(self) -> Option<Format> {
        match self {
            Self::Json => Some(Format::Json),
            Self::Protobuf => Some(Format::Protobuf),
            Self::Yaml => Some(Format::Yaml),
            Self::Empty | Self::Cbor | Self::Encrypted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_recognised_by_its_first_bytes() {
        let cases: [(&[u8], Content); 8] = [
            (b"", Content::Empty),
            (b" \n\t", Content::Empty),
            (b" {\"a\":1}", Content::Json),
            (b"[]", Content::Json),
            (b"k8s\0\x0a", Content::Protobuf),
            (b"k8s:enc:aescbc:v1:key:xyz", Content::Encrypted),
            (b"\xd9\xd9\xf7\xa0", Content::Cbor),
            (b"apiVersion: v1", Content::Yaml),
        ];
        for (bytes, content) in cases {
            assert_eq!(Content::of(bytes), content, "{bytes:?}");
        }
    }

    #[test]
    fn media_types_are_found_in_any_case() {
        assert_eq!(
            Format::of_media_type("Application/JSON"),
            Some(Format::Json)
        );
        assert_eq!(Format::of_media_type("text/plain"), None);
    }
}
