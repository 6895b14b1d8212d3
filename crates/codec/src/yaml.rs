//! YAML as the API reads it: YAML 1.1 scalars (`yes` is true), one JSON tree for each document, and
//! output like kubectl's.
//!
//! Parsing follows upstream's parser, against which manifests are written; decision 10 says why a
//! general-purpose crate does not suffice. Alias expansion is bounded. It is not a serde format:
//! types are decoded from the JSON tree.

mod compose;
mod natural_order;
mod print;
mod resolve;
mod scalar_style;

use compose::Composer;
pub use print::to_yaml;
use serde_json::Value;

/// The most bytes of one document: 5 MiB, as in upstream.
pub const DOCUMENT_BYTES_MAX: usize = 5 << 20;
/// The most bytes of a stream of documents.
pub const STREAM_BYTES_MAX: usize = 256 << 20;
/// The most bytes, roughly counted, that aliases may add to one document.
pub const ALIAS_BYTES_MAX: usize = 16 << 20;
/// The maximum depth of collections (block and flow are counted separately).
pub const DEPTH_MAX: usize = 200;

/// One document.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// The content; null if it is empty.
    pub value: Value,
    /// Keys that occur more than once; the last value wins.
    pub duplicates: Vec<DuplicateKey>,
    /// The line of its start, from 1.
    pub line: usize,
}

/// A repeated key in a map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: key {key:?} already set in map")]
#[non_exhaustive]
pub struct DuplicateKey {
    /// The line of the repetition, from 1.
    pub line: usize,
    /// The key.
    pub key: String,
}

/// Why YAML text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct YamlError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The problem.
    pub kind: YamlErrorKind,
}

/// The kind of a YAML error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum YamlErrorKind {
    /// The text is not YAML.
    #[error("{0}")]
    Syntax(String),
    /// The text is not UTF-8.
    #[error("invalid UTF-8")]
    NotUtf8,
    /// A key is a map, a list or null.
    #[error("unsupported map key")]
    Key,
    /// An alias is inside the node that it refers to.
    #[error("anchor value contains itself")]
    Recursive,
    /// Aliases expand the document beyond [`ALIAS_BYTES_MAX`].
    #[error("document contains excessive aliasing")]
    Aliases,
    /// The value of `<<` is not a map.
    #[error("map merge requires map or sequence of maps as the value")]
    Merge,
    /// A document or stream is too long.
    #[error("more than {max} bytes")]
    TooLong {
        /// The limit.
        max: usize,
    },
    /// The number is infinite or not a number, which JSON cannot express.
    #[error("unsupported value: {text}")]
    NotFinite {
        /// The number as written.
        text: String,
    },
    /// A scalar does not match its tag.
    #[error("cannot decode `{text}` as a {tag}")]
    Tag {
        /// The tag, without its prefix.
        tag: String,
        /// The scalar.
        text: String,
    },
}

impl std::fmt::Display for YamlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Upstream names the line only from the second on.
        f.write_str("yaml: ")?;
        if self.line > 1 {
            write!(f, "line {}: ", self.line)?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for YamlError {}

/// Parses the first document of a text; null if there is none.
///
/// ```
/// let document = kubist_codec::yaml::parse(b"replicas: 0x10\nready: yes\n")?;
/// assert_eq!(document.value, serde_json::json!({"replicas": 16, "ready": true}));
/// # Ok::<(), kubist_codec::yaml::YamlError>(())
/// ```
pub fn parse(text: &[u8]) -> Result<Document, YamlError> {
    Documents::new(text)?
        .next()
        .unwrap_or_else(|| Ok(Document::default()))
}

/// Parses all documents that are not empty.
pub fn parse_all(text: &[u8]) -> Result<Vec<Document>, YamlError> {
    Documents::new(text)?
        .filter(|document| !is_empty(document))
        .collect()
}

fn is_empty(document: &Result<Document, YamlError>) -> bool {
    document
        .as_ref()
        .is_ok_and(|document| document.value.is_null())
}

/// Iterates over the documents of a stream; ends after an error.
#[derive(Debug)]
pub struct Documents<'t> {
    composer: Option<Composer<'t>>,
}

impl<'t> Documents<'t> {
    /// Starts reading.
    ///
    /// # Errors
    /// The text is not UTF-8, or longer than [`STREAM_BYTES_MAX`].
    pub fn new(text: &'t [u8]) -> Result<Self, YamlError> {
        let max = STREAM_BYTES_MAX;
        if text.len() > max {
            return Err(YamlError {
                line: 1,
                column: 1,
                kind: YamlErrorKind::TooLong { max },
            });
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let text = std::str::from_utf8(text).map_err(|error| {
            let before = &text[..error.valid_up_to()];
            let line = 1 + memchr::memchr_iter(b'\n', before).count();
            let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
            YamlError {
                line,
                column: column + 1,
                kind: YamlErrorKind::NotUtf8,
            }
        })?;
        Ok(Self {
            composer: Some(Composer::new(text)),
        })
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Document, YamlError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.composer.as_mut()?.document();
        if !matches!(next, Ok(Some(_))) {
            self.composer = None;
        }
        next.transpose()
    }
}

#[cfg(test)]
mod tests;
