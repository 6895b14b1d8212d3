//! `ByteString`: arbitrary bytes; base64 (standard alphabet, padded) in JSON.

use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Deref;

/// The bytes of a `Secret`, a `ConfigMap`'s `binaryData` or a CA bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteString(pub Vec<u8>);

impl ByteString {
    /// Returns the base64 text.
    pub fn to_base64(&self) -> String {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(&self.0)
    }

    /// Decodes base64 text; line breaks are skipped, as by Go's decoder.
    pub fn from_base64(text: &str) -> Option<Self> {
        Self::parse_base64(text).ok()
    }

    /// The same.
    ///
    /// # Errors
    /// The index of the first invalid byte, as Go's decoder counts it.
    pub fn parse_base64(text: &str) -> Result<Self, usize> {
        use base64::Engine as _;
        let engine = GeneralPurpose::new(
            &base64::alphabet::STANDARD,
            GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
        );
        let decoded = if text.contains(['\n', '\r']) {
            let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
            engine.decode(text)
        } else {
            engine.decode(text)
        };
        decoded
            .map(Self)
            .map_err(|_| first_wrong_byte(text.as_bytes()))
    }
}

/// Returns the position of the first invalid byte, or the end if the text is incomplete.
fn first_wrong_byte(text: &[u8]) -> usize {
    let in_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let (mut place, mut padding) = (0, 0);
    for (index, &byte) in text.iter().enumerate() {
        match byte {
            b'\n' | b'\r' => continue,
            b'=' if place % 4 >= 2 && padding < 2 => padding += 1,
            _ if padding == 0 && in_alphabet(byte) => {}
            // Of two padding characters, the first is reported if the second is invalid.
            _ if padding == 1 => return index - 1,
            _ => return index,
        }
        place += 1;
        if padding > 0 && place % 4 == 0 {
            let rest = text[index + 1..].iter();
            let after = rest
                .take_while(|byte| matches!(byte, b'\n' | b'\r'))
                .count();
            return index + 1 + after;
        }
    }
    if padding > 0 {
        return text.len();
    }
    // The start of an incomplete quantum.
    text.len().saturating_sub(place % 4)
}

impl Deref for ByteString {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for ByteString {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for ByteString {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl Serialize for ByteString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for ByteString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = crate::Str::deserialize(deserializer)?;
        Self::parse_base64(&text).map_err(|index| {
            let text = format!("illegal base64 data at input byte {index}");
            serde::de::Error::custom(text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_reads_and_writes_base64() {
        let read = serde_json::from_str::<ByteString>("\"YWJj\"").expect("it is base64");
        assert_eq!(read, ByteString(b"abc".to_vec()));
        assert_eq!(
            serde_json::to_string(&read).ok().as_deref(),
            Some("\"YWJj\"")
        );
        let error = serde_json::from_str::<ByteString>("\"ab*d\"").map_err(|it| it.to_string());
        let error = error.expect_err("it is not base64");
        assert!(
            error.starts_with("illegal base64 data at input byte 2"),
            "{error}"
        );
    }

    #[test]
    fn the_first_wrong_byte_is_named() {
        for (text, index) in [
            ("***", 0),
            ("ab*d", 2),
            ("YWJj*", 4),
            ("YW==YQ", 4),
            ("Y===", 1),
            ("YW=x", 2),
            ("YW=", 3),
            ("YWJjY", 4),
            ("YW\n", 1),
        ] {
            assert_eq!(ByteString::parse_base64(text), Err(index), "{text}");
        }
        assert_eq!(
            ByteString::parse_base64("YR=="),
            Ok(ByteString(b"a".to_vec()))
        );
        let parsed = ByteString::parse_base64("YW\r\nJj\n");
        assert_eq!(parsed, Ok(ByteString(b"abc".to_vec())));
    }
}
