//! Repair of invalid Unicode in JSON text, as Go does it.

/// Returns the text as Go reads it, if that differs: in strings, half of a surrogate pair and each
/// byte that is not UTF-8 become U+FFFD. Mistakes outside of strings remain.
///
/// ```
/// let text = kubist_codec::go_json::replaced(br#"{"a":"\ud800"}"#);
/// assert_eq!(text.as_deref(), Some(&br#"{"a":"\ufffd"}"#[..]));
/// ```
pub fn replaced(text: &[u8]) -> Option<Vec<u8>> {
    let mut replaced = Vec::new();
    let (mut kept, mut at, mut in_string) = (0, 0, false);
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        let (length, replacement) = match byte {
            b'"' => {
                in_string = !in_string;
                (1, None)
            }
            b'\\' if in_string => escape(rest),
            0x80.. if in_string => character(rest),
            _ => (1, None),
        };
        if let Some(replacement) = replacement {
            replaced.extend_from_slice(&text[kept..at]);
            replaced.extend_from_slice(replacement.as_bytes());
            kept = at + length;
        }
        at += length;
    }
    if kept == 0 {
        return None;
    }
    replaced.extend_from_slice(text.get(kept..).unwrap_or_default());
    Some(replaced)
}

/// Returns the length of an escape, and its replacement if it is half of a pair.
fn escape(text: &[u8]) -> (usize, Option<&'static str>) {
    match (code_unit(text), text.get(6..).and_then(code_unit)) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, None),
        (Some(0xd800..=0xdfff), _) => (6, Some("\\ufffd")),
        _ => (2, None),
    }
}

/// Returns the number in `\u1234`.
fn code_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Returns the length of a character, and the replacement of an invalid one.
fn character(text: &[u8]) -> (usize, Option<&'static str>) {
    // Longer than any character, and short because this runs for each of them.
    let text = text.get(..4).unwrap_or(text);
    let first = text.utf8_chunks().next().map_or("", |it| it.valid());
    match first.chars().next() {
        Some(found) => (found.len_utf8(), None),
        None => (1, Some("\u{fffd}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_characters_become_the_replacement_character() {
        let cases: [(&[u8], &str); 8] = [
            (br#"["\ud800"]"#, r#"["\ufffd"]"#),
            (br#"["\ud800\u0041"]"#, r#"["\ufffd\u0041"]"#),
            (br#"["\udc00\uD800\uDC00"]"#, r#"["\ufffd\uD800\uDC00"]"#),
            (br#"["\ud800\ud83d\ude00"]"#, r#"["\ufffd\ud83d\ude00"]"#),
            (br#"{"\udfff":"\\ud800"}"#, r#"{"\ufffd":"\\ud800"}"#),
            (
                b"[\"a\xff\xfe\xe2\x82z\"]",
                "[\"a\u{fffd}\u{fffd}\u{fffd}\u{fffd}z\"]",
            ),
            (
                b"[\"\xc3\xa9\xed\xa0\x80\xf0\x9f\x98\x80\xf0\x9f\"]",
                "[\"é\u{fffd}\u{fffd}\u{fffd}😀\u{fffd}\u{fffd}\"]",
            ),
            (b"[\"\xff", "[\"\u{fffd}"),
        ];
        for (text, expected) in cases {
            let found = replaced(text).expect("something is wrong in it");
            assert_eq!(std::str::from_utf8(&found), Ok(expected));
        }
    }

    #[test]
    fn strings_and_other_mistakes_are_left_unchanged() {
        let texts: [&[u8]; 7] = [
            br#"{"a":"\ud83d\ude00\n\"\u12"}"#,
            "[\"é😀\"]".as_bytes(),
            br#""\ud80"#,
            br#""\"#,
            b"",
            b"\xff{}",
            br"[\ud800]",
        ];
        for text in texts {
            assert_eq!(replaced(text), None, "{text:?}");
        }
    }
}
