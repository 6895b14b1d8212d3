//! CBOR to JSON.

use super::{CborError, FALSE, NULL, TRUE, times};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ciborium_ll::{Decoder, Header};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

/// Levels of containers in a value, as in other bodies.
const DEPTH_MAX: usize = 126;
/// Tags of times: a text, and seconds.
const TIME_TEXT: u64 = 0;
const TIME_SECONDS: u64 = 1;
/// Tags of integers of any length.
const BIG_INTEGERS: [u64; 2] = [2, 3];
/// Simple values have a byte of their own from here on.
const LONG_SIMPLE_MIN: u8 = 32;
const LONG_SIMPLE: u8 = 0xf8;

/// What a tag says that the bytes below it become.
#[derive(Clone, Copy, Debug)]
enum Later {
    /// Text, as they are.
    Text,
    Base64Url,
    Base64,
    Base16,
}

impl Later {
    fn of_tag(tag: u64) -> Option<Self> {
        match tag {
            21 => Some(Self::Base64Url),
            22 => Some(Self::Base64),
            23 => Some(Self::Base16),
            _ => None,
        }
    }

    /// Returns the text of bytes. As in JSON, those that are no text are replaced.
    fn text(self, bytes: Vec<u8>) -> String {
        match self {
            Self::Text => match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            },
            Self::Base64Url => URL_SAFE_NO_PAD.encode(bytes),
            Self::Base64 => STANDARD.encode(bytes),
            Self::Base16 => bytes.iter().fold(String::new(), |mut text, byte| {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
                text
            }),
        }
    }
}

/// Returns the JSON form of one value.
///
/// ```
/// use kubist_codec::cbor;
/// let json = cbor::to_json(&[0xa1, 0x61, b'a', 0x43, b'x', b'"', b'y'])?;
/// assert_eq!(json, br#"{"a":"x\"y"}"#);
/// # Ok::<(), cbor::CborError>(())
/// ```
///
/// # Errors
/// The bytes are not exactly one value, or it has no JSON form.
pub fn to_json(bytes: &[u8]) -> Result<Vec<u8>, CborError> {
    to_json_within(bytes, usize::MAX)
}

/// Returns the JSON form of one value, if it has at most so many bytes. JSON can be longer many
/// times: two bytes are a time of 22.
///
/// # Errors
/// Those of [`to_json`], and that it would be longer.
pub fn to_json_within(bytes: &[u8], max: usize) -> Result<Vec<u8>, CborError> {
    if bytes.is_empty() {
        return Err(CborError::Empty);
    }
    let capacity = bytes.len() + bytes.len() / 4;
    let mut reader = Reader {
        bytes,
        decoder: Decoder::from(bytes),
        json: Limited {
            bytes: Vec::with_capacity(capacity.min(max)),
            max,
        },
    };
    let first = reader.header()?;
    reader.value(first, Later::Text, 0)?;
    let offset = reader.decoder.offset();
    if offset < bytes.len() {
        let count = bytes.len() - offset;
        return Err(CborError::Trailing { count, offset });
    }
    let mut json = reader.json.bytes;
    json.shrink_to_fit();
    Ok(json)
}

/// Returns what upstream's errors call the type of a value, whose tags do not matter.
pub fn type_name(bytes: &[u8]) -> &'static str {
    let mut decoder = Decoder::from(bytes);
    while let Ok(header) = decoder.pull() {
        if !matches!(header, Header::Tag(_)) {
            return name_of(header);
        }
    }
    "tag"
}

fn name_of(header: Header) -> &'static str {
    match header {
        Header::Positive(_) => "positive integer",
        Header::Negative(_) => "negative integer",
        Header::Bytes(_) => "byte string",
        Header::Text(_) => "UTF-8 text string",
        Header::Array(_) => "array",
        Header::Map(_) => "map",
        Header::Tag(_) => "tag",
        Header::Float(_) | Header::Simple(_) | Header::Break => "primitives",
    }
}

/// JSON that may not become longer than it may be.
struct Limited {
    bytes: Vec<u8>,
    max: usize,
}

impl Limited {
    fn push(&mut self, json: &[u8]) -> Result<(), CborError> {
        if json.len() > self.max - self.bytes.len() {
            return Err(CborError::TooLong { max: self.max });
        }
        self.bytes.extend_from_slice(json);
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), CborError> {
        let max = self.max;
        // Only the limit can make it fail.
        serde_json::to_writer(self, text).map_err(|_| CborError::TooLong { max })
    }
}

impl io::Write for Limited {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let pushed = self.push(json).map_err(io::Error::other);
        pushed.map(|()| json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    decoder: Decoder<&'a [u8]>,
    json: Limited,
}

impl Reader<'_> {
    fn header(&mut self) -> Result<Header, CborError> {
        let offset = self.decoder.offset();
        let pulled = self.decoder.pull().map_err(|error| match error {
            ciborium_ll::Error::Io(_) => CborError::Incomplete,
            ciborium_ll::Error::Syntax(at) => malformed(self.bytes.get(at).copied()),
        })?;
        match pulled {
            // The long form of what has a short one is malformed, not only wasteful.
            Header::Simple(value)
                if value < LONG_SIMPLE_MIN && self.bytes.get(offset) == Some(&LONG_SIMPLE) =>
            {
                let why = format!("invalid simple value {value} for type primitives");
                Err(CborError::refused(why))
            }
            header => Ok(header),
        }
    }

    /// Writes the value that a header begins.
    fn value(&mut self, header: Header, later: Later, depth: usize) -> Result<(), CborError> {
        if depth > DEPTH_MAX {
            let why = format!("exceeded max nested level {DEPTH_MAX}");
            return Err(CborError::refused(why));
        }
        match header {
            Header::Positive(number) | Header::Negative(number) => self.integer(number, header),
            Header::Float(number) => {
                let number = finite(number)?;
                self.json.push(number.to_string().as_bytes())
            }
            Header::Simple(value) => self.json.push(simple(value)?.as_bytes()),
            Header::Tag(tag) => self.tagged(tag, later, depth),
            Header::Bytes(_) | Header::Text(_) => {
                let text = self.text(header, later)?;
                self.json.string(&text)
            }
            Header::Array(length) => self.array(length, later, depth),
            Header::Map(length) => self.map(length, later, depth),
            Header::Break => Err(CborError::refused("unexpected \"break\" code")),
        }
    }

    fn integer(&mut self, number: u64, header: Header) -> Result<(), CborError> {
        let number = signed(number, header, "int64")?;
        self.json.push(number.to_string().as_bytes())
    }

    fn tagged(&mut self, tag: u64, later: Later, depth: usize) -> Result<(), CborError> {
        if BIG_INTEGERS.contains(&tag) {
            return Err(CborError::not_accepted("tag", "bignum"));
        }
        let header = self.header()?;
        match (tag, header) {
            (TIME_TEXT, Header::Text(_)) => {
                let text = self.text(header, Later::Text)?;
                times::check_text(&text)?;
                self.json.string(&text)
            }
            (TIME_SECONDS, Header::Positive(seconds) | Header::Negative(seconds)) => {
                let seconds = signed(seconds, header, "time.Time")?;
                self.json.string(&times::of_seconds(seconds)?)
            }
            (TIME_SECONDS, Header::Float(seconds)) => {
                finite(seconds)?;
                self.json.string(&times::of_float(seconds)?)
            }
            (TIME_TEXT | TIME_SECONDS, other) => {
                let expected = if tag == TIME_TEXT {
                    "text string"
                } else {
                    "integer or floating-point number"
                };
                Err(CborError::refused(format!(
                    "tag number {tag} must be followed by {expected}, got {}",
                    name_of(other)
                )))
            }
            (_, header) => {
                let later = Later::of_tag(tag).unwrap_or(later);
                self.value(header, later, depth + 1)
            }
        }
    }

    fn array(
        &mut self,
        length: Option<usize>,
        later: Later,
        depth: usize,
    ) -> Result<(), CborError> {
        self.json.push(b"[")?;
        let mut count = 0;
        while Some(count) != length {
            let header = self.header()?;
            if length.is_none() && header == Header::Break {
                break;
            }
            if count > 0 {
                self.json.push(b",")?;
            }
            self.value(header, later, depth + 1)?;
            count += 1;
        }
        self.json.push(b"]")
    }

    fn map(&mut self, length: Option<usize>, later: Later, depth: usize) -> Result<(), CborError> {
        self.json.push(b"{")?;
        let mut keys = BTreeSet::new();
        while Some(keys.len()) != length {
            let header = self.header()?;
            if length.is_none() && header == Header::Break {
                break;
            }
            if !keys.is_empty() {
                self.json.push(b",")?;
            }
            let key = self.text(header, later)?;
            self.json.string(&key)?;
            let index = keys.len();
            if keys.contains(&key) {
                return Err(CborError::DuplicateKey { key, index });
            }
            keys.insert(key);
            self.json.push(b":")?;
            let value = self.header()?;
            self.value(value, later, depth + 1)?;
        }
        self.json.push(b"}")
    }

    /// Reads a string. A text must be UTF-8, each of its pieces by itself.
    fn text(&mut self, header: Header, later: Later) -> Result<String, CborError> {
        match header {
            Header::Text(length) => {
                let text = self.pieces(length, header)?;
                // Its pieces were checked.
                Ok(Later::Text.text(text))
            }
            Header::Bytes(length) => Ok(later.text(self.pieces(length, header)?)),
            Header::Break => Err(CborError::refused("unexpected \"break\" code")),
            other => Err(CborError::refused(format!(
                "cannot unmarshal {} into Go value of type string",
                name_of(other)
            ))),
        }
    }

    /// Reads a string of a length, or its pieces up to their end.
    fn pieces(&mut self, length: Option<usize>, of: Header) -> Result<Vec<u8>, CborError> {
        let mut all = Vec::new();
        if let Some(length) = length {
            self.piece(length, of, &mut all)?;
            return Ok(all);
        }
        loop {
            let header = self.header()?;
            match (header, of) {
                (Header::Break, _) => return Ok(all),
                (Header::Bytes(Some(length)), Header::Bytes(_))
                | (Header::Text(Some(length)), Header::Text(_)) => {
                    self.piece(length, of, &mut all)?;
                }
                (Header::Bytes(None), Header::Bytes(_)) | (Header::Text(None), Header::Text(_)) => {
                    return Err(CborError::refused(format!(
                        "indefinite-length {} chunk is not definite-length",
                        name_of(of)
                    )));
                }
                _ => {
                    return Err(CborError::refused(format!(
                        "wrong element type {} for indefinite-length {}",
                        name_of(header),
                        name_of(of)
                    )));
                }
            }
        }
    }

    fn piece(&mut self, length: usize, of: Header, all: &mut Vec<u8>) -> Result<(), CborError> {
        let begin = self.decoder.offset();
        // The length is the client's word: nothing is allocated for what is not there.
        if length > self.bytes.len() - begin {
            return Err(CborError::Incomplete);
        }
        let start = all.len();
        all.resize(start + length, 0);
        let piece = &mut all[start..];
        let read = ciborium_io::Read::read_exact(&mut self.decoder, piece);
        read.map_err(|_| CborError::Incomplete)?;
        if matches!(of, Header::Text(_)) && std::str::from_utf8(piece).is_err() {
            return Err(CborError::refused("invalid UTF-8 string"));
        }
        Ok(())
    }
}

/// Says what is wrong with a byte that begins no value.
fn malformed(first: Option<u8>) -> CborError {
    const TYPES: [&str; 8] = [
        "positive integer",
        "negative integer",
        "byte string",
        "UTF-8 text string",
        "array",
        "map",
        "tag",
        "primitives",
    ];
    let Some(first) = first else {
        return CborError::Incomplete;
    };
    let (name, more) = (TYPES[usize::from(first >> 5)], first & 0x1f);
    CborError::refused(format!(
        "invalid additional information {more} for type {name}"
    ))
}

fn simple(value: u8) -> Result<&'static str, CborError> {
    match value {
        FALSE => Ok("false"),
        TRUE => Ok("true"),
        NULL => Ok("null"),
        _ => {
            let what = format!("simple value {value} is not recognized");
            Err(CborError::not_accepted("primitives", &what))
        }
    }
}

fn finite(number: f64) -> Result<serde_json::Number, CborError> {
    serde_json::Number::from_f64(number).ok_or_else(|| {
        let what = if number.is_nan() { "NaN" } else { "infinity" };
        CborError::not_accepted("primitives", &format!("floating-point {what}"))
    })
}

/// Returns a number, or `-1 - number` if it is a negative one's.
fn signed(number: u64, header: Header, into: &str) -> Result<i64, CborError> {
    let is_negative = matches!(header, Header::Negative(_));
    match i64::try_from(number) {
        Ok(number) if is_negative => Ok(-1 - number),
        Ok(number) => Ok(number),
        Err(_) => {
            let shown = if is_negative {
                Cow::from((-1 - i128::from(number)).to_string())
            } else {
                Cow::from(number.to_string())
            };
            Err(CborError::refused(format!(
                "cannot unmarshal {} into Go value of type {into} ({shown} overflows Go's int64)",
                name_of(header)
            )))
        }
    }
}
