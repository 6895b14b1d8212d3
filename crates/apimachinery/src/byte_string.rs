//! `ByteString`: arbitrary bytes; base64 (standard alphabet, padded) in JSON.

use std::ops::Deref;

/// Bytes of a `Secret`, a `ConfigMap`'s `binaryData` or a CA bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteString(pub Vec<u8>);

impl ByteString {
    /// The JSON form.
    pub fn to_base64(&self) -> String {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(&self.0)
    }

    /// Reads the JSON form; line breaks are skipped, as Go's decoder does.
    pub fn from_base64(text: &str) -> Option<Self> {
        use base64::Engine as _;
        let engine = base64::engine::general_purpose::STANDARD;
        if text.contains(['\n', '\r']) {
            let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
            return engine.decode(text).ok().map(Self);
        }
        engine.decode(text).ok().map(Self)
    }
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
