//! YAML as the API understands it: YAML 1.1 scalars (`yes` is true), one JSON tree for each
//! document, and printing as kubectl does.
//!
//! Parsing keeps the rules of upstream's parser, which every manifest in the world is tested
//! against; decision 0010 says why a general-purpose crate would not do. Aliases may not blow a
//! document up. It is not a serde format: types are read from the JSON tree.

mod compose;
mod natural_order;
mod print;
mod resolve;
mod scalar_style;

use compose::Composer;
pub use print::to_yaml;
use serde_json::Value;

/// Bytes of one document: 5 MiB, as upstream.
pub const DOCUMENT_BYTES_MAX: usize = 5 << 20;
/// Bytes of a whole stream of documents.
pub const STREAM_BYTES_MAX: usize = 256 << 20;
/// Bytes that aliases of one document may add to it, roughly counted.
pub const ALIAS_BYTES_MAX: usize = 16 << 20;
/// Collections nested in collections (block and flow are counted apart).
pub const DEPTH_MAX: usize = 200;

/// One document.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// What it says; null if it is empty.
    pub value: Value,
    /// Keys that were given more than once; the last one counts.
    pub duplicates: Vec<DuplicateKey>,
    /// The line at which it begins, from 1.
    pub line: usize,
}

/// A key that a map has already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: key {key:?} already set in map")]
#[non_exhaustive]
pub struct DuplicateKey {
    /// The line of the second one, from 1.
    pub line: usize,
    /// The key.
    pub key: String,
}

/// Why text is not YAML that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct YamlError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong there.
    pub kind: YamlErrorKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum YamlErrorKind {
    /// Not YAML.
    #[error("{0}")]
    Syntax(String),
    /// Not UTF-8.
    #[error("invalid UTF-8")]
    NotUtf8,
    /// A map or list as a key, or null.
    #[error("unsupported map key")]
    Key,
    /// An alias inside what it names.
    #[error("anchor value contains itself")]
    Recursive,
    /// Aliases blow the document up beyond [`ALIAS_BYTES_MAX`].
    #[error("document contains excessive aliasing")]
    Aliases,
    /// `<<` with something that is no map.
    #[error("map merge requires map or sequence of maps as the value")]
    Merge,
    /// A document or stream is too long.
    #[error("more than {max} bytes")]
    TooLong {
        /// The limit.
        max: usize,
    },
    /// Infinity or not-a-number, which JSON cannot say.
    #[error("unsupported value: {text}")]
    NotFinite {
        /// As written.
        text: String,
    },
    /// A scalar that is not what its tag says.
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
        // Upstream names the line from the second on.
        f.write_str("yaml: ")?;
        if self.line > 1 {
            write!(f, "line {}: ", self.line)?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for YamlError {}

/// The first document of a text; null if there is none.
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

/// All documents that say something; empty ones are left out.
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

/// The documents of a stream, one after the other; nothing comes after an error.
#[derive(Debug)]
pub struct Documents<'t> {
    composer: Option<Composer<'t>>,
}

impl<'t> Documents<'t> {
    /// Begins to read.
    ///
    /// # Errors
    /// Not UTF-8, or longer than [`STREAM_BYTES_MAX`].
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
