//! `PemBlocks`: the blocks of a PEM text, as Go reads them.
//!
//! Text between blocks is skipped, and so are malformed blocks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// One block of a PEM text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PemBlock<'a> {
    /// What it is, such as `CERTIFICATE`.
    pub label: &'a str,
    /// Whether it has headers.
    pub has_headers: bool,
    /// The decoded content; empty if it cannot be told from the headers.
    pub content: Vec<u8>,
}

/// The blocks of a PEM text.
#[derive(Clone, Debug)]
pub struct PemBlocks<'a>(&'a str);

impl<'a> PemBlocks<'a> {
    /// Reads a text.
    pub fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// Returns what follows the last block.
    pub fn rest(&self) -> &'a str {
        self.0
    }
}

impl<'a> Iterator for PemBlocks<'a> {
    type Item = PemBlock<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        // A malformed block is skipped, as other text between blocks.
        loop {
            let (_, rest) = self.0.split_once(BEGIN)?;
            let (label, rest) = rest.split_once(DASHES)?;
            self.0 = rest;
            let end = format!("{END}{label}{DASHES}");
            let Some((body, after)) = rest.split_once(end.as_str()) else {
                continue;
            };
            let body = body.trim_matches(['\r', '\n', ' ', '\t']);
            let has_headers = body.contains(':');
            let encoded: String = body.split_ascii_whitespace().collect();
            let content = match STANDARD.decode(&encoded) {
                Ok(content) => content,
                Err(_) if has_headers => Vec::new(),
                Err(_) => continue,
            };
            self.0 = after.trim_start_matches(['\r', '\n', ' ', '\t']);
            return Some(PemBlock {
                label,
                has_headers,
                content,
            });
        }
    }
}
