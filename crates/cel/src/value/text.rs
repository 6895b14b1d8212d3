//! [`Text`] and [`Blob`]: strings and bytes, borrowed or shared.

use std::sync::Arc;

/// A string.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "strings are borrowed or shared")]
pub enum Text<'a> {
    /// Of the object or the program.
    Borrowed(&'a str),
    /// Made by the evaluation.
    Shared(Arc<str>),
}

/// Bytes.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "bytes are borrowed or shared")]
pub enum Blob<'a> {
    /// Of the program.
    Borrowed(&'a [u8]),
    /// Made by the evaluation.
    Shared(Arc<[u8]>),
}

impl Text<'_> {
    /// Returns the string.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }

    /// Returns the number of characters.
    pub fn characters(&self) -> u64 {
        let text = self.as_str();
        (if text.is_ascii() {
            text.len()
        } else {
            text.chars().count()
        }) as u64
    }
}

impl Blob<'_> {
    /// Returns the bytes.
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self::Borrowed(text)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self::Shared(text.into())
    }
}

impl From<Arc<str>> for Text<'_> {
    fn from(text: Arc<str>) -> Self {
        Self::Shared(text)
    }
}

impl From<Vec<u8>> for Blob<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}
