//! `CborEncoder`: JSON in pieces, as it is made, into CBOR.

use super::MAGIC;
use ciborium_ll::{Encoder, Header};
use memchr::memchr2;
use serde_json::Number;

/// Encodes JSON values that follow each other, and arrive in pieces that end anywhere. It holds the
/// string or number that has begun, and nothing else.
///
/// The JSON must be valid, as a serializer writes it; of other text the result is unspecified.
///
/// ```
/// use kubist_codec::cbor::{CborEncoder, to_json};
/// let mut encoder = CborEncoder::new();
/// let mut cbor = Vec::new();
/// for piece in [r#"{"a":[1,-"#, r#"2.5,"x\"#, r#""y"]}"#] {
///     encoder.push(piece.as_bytes(), &mut cbor);
/// }
/// assert_eq!(to_json(&cbor).unwrap(), br#"{"a":[1,-2.5,"x\"y"]}"#);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CborEncoder {
    depth: usize,
    /// The begun token.
    token: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Between tokens.
    #[default]
    Between,
    /// In a number, `true`, `false` or `null`.
    Word,
    /// In a string, whether it has escapes, and whether the last byte begins one.
    String { escapes: bool, escaped: bool },
}

impl CborEncoder {
    /// An encoder at the beginning of a value.
    pub fn new() -> Self {
        Self::default()
    }

    /// Encodes a piece, and appends what is complete.
    pub fn push(&mut self, mut json: &[u8], cbor: &mut Vec<u8>) {
        while let Some(&first) = json.first() {
            json = match self.state {
                State::Between => {
                    self.begin(first, cbor);
                    &json[1..]
                }
                State::Word if is_word(first) => {
                    self.token.push(first);
                    &json[1..]
                }
                State::Word => {
                    self.end_word(cbor);
                    json
                }
                State::String { escapes, escaped } => self.string(json, escapes, escaped, cbor),
            };
        }
    }

    /// Encodes a number or word that only the end of the text ends.
    pub fn finish(&mut self, cbor: &mut Vec<u8>) {
        if self.state == State::Word {
            self.end_word(cbor);
        }
    }

    /// Handles a byte between two tokens.
    fn begin(&mut self, byte: u8, cbor: &mut Vec<u8>) {
        match byte {
            b'{' | b'[' => {
                let header = if byte == b'{' {
                    Header::Map(None)
                } else {
                    Header::Array(None)
                };
                self.header(header, cbor);
                self.depth += 1;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                push(Header::Break, cbor);
            }
            b'"' => {
                self.state = State::String {
                    escapes: false,
                    escaped: false,
                };
            }
            byte if is_word(byte) => {
                self.token.push(byte);
                self.state = State::Word;
            }
            _ => {}
        }
    }

    /// Begins a value; one that is not inside another has the tag before it.
    fn header(&self, header: Header, cbor: &mut Vec<u8>) {
        if self.depth == 0 {
            cbor.extend_from_slice(&MAGIC);
        }
        push(header, cbor);
    }

    fn end_word(&mut self, cbor: &mut Vec<u8>) {
        let header = header_of(&self.token);
        self.header(header, cbor);
        self.token.clear();
        self.state = State::Between;
    }

    /// Reads on in a string. Returns what is behind what was read.
    fn string<'a>(
        &mut self,
        json: &'a [u8],
        escapes: bool,
        escaped: bool,
        cbor: &mut Vec<u8>,
    ) -> &'a [u8] {
        if escaped {
            self.token.push(json[0]);
            self.state = State::String {
                escapes,
                escaped: false,
            };
            return &json[1..];
        }
        let Some(at) = memchr2(b'"', b'\\', json) else {
            self.token.extend_from_slice(json);
            return &[];
        };
        if json[at] == b'\\' {
            self.token.extend_from_slice(&json[..=at]);
            self.state = State::String {
                escapes: true,
                escaped: true,
            };
            return &json[at + 1..];
        }
        if escapes {
            self.token.extend_from_slice(&json[..at]);
            let text = unescaped(&self.token);
            self.bytes(text.as_bytes(), cbor);
        } else if self.token.is_empty() {
            self.bytes(&json[..at], cbor);
        } else {
            self.token.extend_from_slice(&json[..at]);
            let token = std::mem::take(&mut self.token);
            self.bytes(&token, cbor);
        }
        self.token.clear();
        self.state = State::Between;
        &json[at + 1..]
    }

    /// As upstream, strings are bytes: nobody needs to check them again.
    fn bytes(&self, bytes: &[u8], cbor: &mut Vec<u8>) {
        self.header(Header::Bytes(Some(bytes.len())), cbor);
        cbor.extend_from_slice(bytes);
    }
}

fn push(header: Header, cbor: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _infallible = Encoder::from(cbor).push(header);
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn header_of(token: &[u8]) -> Header {
    match token {
        b"true" => Header::Simple(super::TRUE),
        b"false" => Header::Simple(super::FALSE),
        b"null" => Header::Simple(super::NULL),
        token => {
            let number = serde_json::from_slice::<Number>(token).ok();
            // Go makes floats of integers beyond i64 in JSON, and refuses them in CBOR.
            number.map_or(Header::Simple(super::NULL), |number| {
                match number.as_i64() {
                    Some(number) if number < 0 => Header::Negative(!number.cast_unsigned()),
                    Some(number) => Header::Positive(number.cast_unsigned()),
                    None => Header::Float(number.as_f64().unwrap_or_default()),
                }
            })
        }
    }
}

/// Returns the text of a string between its quotes.
fn unescaped(token: &[u8]) -> String {
    let quoted = [b"\"", token, b"\""].concat();
    serde_json::from_slice(&quoted).unwrap_or_else(|_| String::from_utf8_lossy(token).into_owned())
}
