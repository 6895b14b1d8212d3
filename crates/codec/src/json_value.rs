//! `ValueScanner`: finds the end of a JSON value, across chunks, without decoding it.
//!
//! It counts brackets and skips strings, which is enough to find the end. The value is validated by
//! its decoder, so a corrupt item does not affect its neighbours.

/// The position of the scanner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// Before the first byte.
    #[default]
    Start,
    /// Inside brackets, outside strings.
    Structure,
    /// Inside a string.
    Text,
    /// After a backslash in a string.
    Escape,
    /// Inside a number, `true`, `false` or `null`.
    Scalar,
}

/// The state of a scan, kept across chunks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ValueScanner {
    mode: Mode,
    depth: u32,
}

/// Classes of bytes outside strings.
const PLAIN: u8 = 0;
const QUOTE: u8 = 1;
const OPEN: u8 = 2;
const CLOSE: u8 = 3;

const CLASS: [u8; 256] = {
    let mut class = [PLAIN; 256];
    class[b'"' as usize] = QUOTE;
    class[b'{' as usize] = OPEN;
    class[b'[' as usize] = OPEN;
    class[b'}' as usize] = CLOSE;
    class[b']' as usize] = CLOSE;
    class
};

/// Reports whether a JSON value may begin with `byte`.
pub(crate) const fn begins_value(byte: u8) -> bool {
    matches!(
        byte,
        b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'
    )
}

impl ValueScanner {
    /// Continues the scan. The first byte of a value must satisfy [`begins_value`]. Returns how
    /// many of `bytes` belong to the value, once its end is among them; none until then.
    pub(crate) fn scan(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut index = 0;
        loop {
            match self.mode {
                Mode::Start => {
                    self.mode = match bytes.get(index)? {
                        b'"' => Mode::Text,
                        b'{' | b'[' => {
                            self.depth = 1;
                            Mode::Structure
                        }
                        _ => Mode::Scalar,
                    };
                    index += 1;
                }
                Mode::Structure => {
                    index += self.structure(&bytes[index..])?;
                    if self.depth == 0 {
                        return Some(index);
                    }
                    self.mode = Mode::Text;
                }
                Mode::Text => {
                    index += text_end(&bytes[index..])?;
                    if bytes[index] == b'\\' {
                        self.mode = Mode::Escape;
                    } else if self.depth == 0 {
                        return Some(index + 1);
                    } else {
                        self.mode = Mode::Structure;
                    }
                    index += 1;
                }
                Mode::Escape => {
                    bytes.get(index)?;
                    index += 1;
                    self.mode = Mode::Text;
                }
                Mode::Scalar => {
                    let rest = &bytes[index..];
                    return rest
                        .iter()
                        .position(|&byte| ends_scalar(byte))
                        .map(|end| index + end);
                }
            }
        }
    }

    /// Consumes bytes up to and including the quote that opens a string, or the bracket that closes
    /// the value (then `depth` is zero).
    fn structure(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut depth = self.depth;
        for (index, &byte) in bytes.iter().enumerate() {
            match CLASS[usize::from(byte)] {
                QUOTE => {
                    self.depth = depth;
                    return Some(index + 1);
                }
                OPEN => depth = depth.saturating_add(1),
                CLOSE => {
                    depth -= 1;
                    if depth == 0 {
                        self.depth = 0;
                        return Some(index + 1);
                    }
                }
                _ => {}
            }
        }
        self.depth = depth;
        None
    }
}

const fn ends_scalar(byte: u8) -> bool {
    matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
}

/// Returns the index of the next quote or backslash.
///
/// Most strings in API objects are shorter than 32 bytes, where a vectorised search costs more than
/// it saves; so the first four words are checked here.
fn text_end(bytes: &[u8]) -> Option<usize> {
    const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
    const ESCAPES: u64 = u64::from_ne_bytes([b'\\'; 8]);
    let mut index = 0;
    while let Some(word) = bytes[index..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let found = zero_bytes(word ^ QUOTES) | zero_bytes(word ^ ESCAPES);
        if found != 0 {
            return Some(index + (found.trailing_zeros() / 8) as usize);
        }
        index += 8;
        if index == 32 {
            break;
        }
    }
    memchr::memchr2(b'"', b'\\', &bytes[index..]).map(|end| index + end)
}

/// Sets the top bit of each zero byte. Bytes above the lowest zero byte may be marked wrongly; the
/// lowest is always right.
const fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    word.wrapping_sub(LOW) & !word & HIGH
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn text_ends_at_the_first_quote_or_backslash() {
        for length in 0..80 {
            for end in *b"\"\\" {
                let mut text = vec![b'x'; length];
                assert_eq!(text_end(&text), None);
                text.push(end);
                text.extend_from_slice(b"!\"#\\ \x00\x80\xff\xa2\xdc");
                assert_eq!(text_end(&text), Some(length));
            }
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,20}".prop_map(Value::from),
            "[\\\\\"{}\\[\\], a]{0,40}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("\\PC{0,8}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_end_of_a_value_is_found_at_any_split(value in json(), pretty: bool) {
            let text = if pretty {
                serde_json::to_vec_pretty(&value).unwrap()
            } else {
                serde_json::to_vec(&value).unwrap()
            };
            let mut followed = text.clone();
            followed.extend_from_slice(b",\"}]");
            for split in 0..=followed.len() {
                let mut scanner = ValueScanner::default();
                let (first, second) = followed.split_at(split);
                let end = scanner
                    .scan(first)
                    .or_else(|| scanner.scan(second).map(|end| split + end));
                prop_assert_eq!(end, Some(text.len()), "split at {}", split);
            }
        }

        #[test]
        fn garbage_never_panics(bytes: Vec<u8>) {
            let mut scanner = ValueScanner::default();
            if let Some(end) = scanner.scan(&bytes) {
                prop_assert!(end <= bytes.len());
            }
        }
    }
}
