//! Percent-encoding of the parts of a URL, as Go has it.

use crate::value::format::quote;
use std::fmt::Write as _;

/// A part of a URL. Each has characters that need no encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    Host,
    Zone,
    UserInfo,
    Query,
    Fragment,
}

impl Part {
    /// Reports whether a byte must be encoded.
    pub(super) fn encodes(self, byte: u8) -> bool {
        let plain: &[u8] = match self {
            Self::Path => b"$&+,/:;=@",
            Self::Host | Self::Zone => b"!\"$&'()*+,:;<=>[]",
            Self::UserInfo => b"$&+,;=",
            Self::Query => b"",
            Self::Fragment => b"!$&()*+,/:;=?@",
        };
        !(byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || plain.contains(&byte))
    }
}

/// Decodes text. Fails with what is wrong with it.
pub(super) fn decoded(text: &str, part: Part) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'%' {
            if matches!(part, Part::Host | Part::Zone) && byte.is_ascii() && part.encodes(byte) {
                let character = quote(&char::from(byte).to_string());
                return Err(format!("invalid character {character} in host name"));
            }
            let is_space = byte == b'+' && part == Part::Query;
            decoded.push(if is_space { b' ' } else { byte });
            at += 1;
            continue;
        }
        let escape = &bytes[at..bytes.len().min(at + 3)];
        let value = match escape {
            [_, high, low] => hex(*high).zip(hex(*low)),
            _ => None,
        };
        let value = value.map(|(high, low)| high << 4 | low);
        let is_percent = value == Some(b'%');
        let is_allowed = match (part, value) {
            (_, None) => false,
            (Part::Host, Some(value)) => is_percent || !value.is_ascii(),
            (Part::Zone, Some(value)) => is_percent || value == b' ' || !Part::Host.encodes(value),
            _ => true,
        };
        match value {
            Some(value) if is_allowed => decoded.push(value),
            _ => return Err(format!("invalid URL escape {}", quote_bytes(escape))),
        }
        at += 3;
    }
    Ok(decoded)
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

/// Encodes bytes.
pub(super) fn encoded(bytes: &[u8], part: Part) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if part.encodes(*byte) {
            _ = write!(text, "%{byte:02X}");
        } else {
            text.push(char::from(*byte));
        }
    }
    text
}

/// Reports whether text can be the encoding of a part.
pub(super) fn is_encoded(text: &str, part: Part) -> bool {
    text.bytes()
        .all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || !part.encodes(byte))
}

/// Converts bytes to text.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Quotes bytes that may end within a character.
fn quote_bytes(bytes: &[u8]) -> String {
    let mut quoted = String::new();
    for chunk in bytes.utf8_chunks() {
        let text = quote(chunk.valid());
        quoted.push_str(&text[1..text.len() - 1]);
        for byte in chunk.invalid() {
            _ = write!(quoted, "\\x{byte:02x}");
        }
    }
    format!("\"{quoted}\"")
}
