//! Messages of Go's JSON decoder about malformed text, and its repair of invalid Unicode. Clients
//! and tests compare these messages.
//!
//! It runs only after another parser has refused the text.

mod replaced;
mod scanner;

use scanner::Scanner;

pub use replaced::replaced;

/// The maximum depth of arrays and objects in Go's scanner.
const DEPTH_MAX: usize = 10_000;
/// The maximum depth of arrays and objects in a parsed tree. Trees are read, written, compared and
/// dropped recursively; this depth uses a small part of a thread's stack. Upstream only has the
/// scanner's limit.
pub const TREE_DEPTH_MAX: usize = 127;

/// Returns Go's message about the first mistake; none if the text is one JSON value.
///
/// ```
/// let words = kubist_codec::go_json::mistake(b"[1,]");
/// assert_eq!(words.as_deref(), Some("invalid character ']' looking for beginning of value"));
/// ```
pub fn mistake(text: &[u8]) -> Option<String> {
    mistake_within(text, DEPTH_MAX)
}

fn mistake_within(text: &[u8], depth_max: usize) -> Option<String> {
    Scanner::new(text, depth_max).document().err()
}

/// Returns Go's message about JSON that cannot be parsed into a tree: a [mistake], a number that
/// does not fit a double, or, beyond [`TREE_DEPTH_MAX`], Go's message about its own depth limit.
/// None if the text can be parsed.
///
/// ```
/// let words = kubist_codec::go_json::refusal(br#"{"a":-1e400}"#);
/// let expected = "json: cannot unmarshal number -1e400 into Go value of type float64";
/// assert_eq!(words.as_deref(), Some(expected));
/// ```
pub fn refusal(text: &[u8]) -> Option<String> {
    mistake_within(text, TREE_DEPTH_MAX).or_else(|| {
        let number = too_large(text)?;
        Some(format!(
            "json: cannot unmarshal number {number} into Go value of type float64"
        ))
    })
}

/// Returns the first number in well-formed JSON that does not fit a double.
fn too_large(text: &[u8]) -> Option<&str> {
    let mut scanner = Scanner::new(text, DEPTH_MAX);
    while let Some(&byte) = text.get(scanner.at) {
        let start = scanner.at;
        scanner.at += 1;
        match byte {
            b'"' => scanner.string().ok()?,
            b'-' | b'0'..=b'9' => {
                scanner.number(byte).ok()?;
                let number = std::str::from_utf8(text.get(start..scanner.at)?).ok()?;
                if number.parse::<f64>().is_ok_and(f64::is_infinite) {
                    return Some(number);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_as_go_does() {
        for (text, expected) in [
            ("", "unexpected end of JSON input"),
            (r#"{"a":"#, "unexpected end of JSON input"),
            (
                r#"{"a":1} x"#,
                "invalid character 'x' after top-level value",
            ),
            (
                "{a:1}",
                "invalid character 'a' looking for beginning of object key string",
            ),
            (r#"{"a" 1}"#, "invalid character '1' after object key"),
            (
                r#"{"a":1 2}"#,
                "invalid character '2' after object key:value pair",
            ),
            ("[1 2]", "invalid character '2' after array element"),
            (
                "[1,]",
                "invalid character ']' looking for beginning of value",
            ),
            (
                "nul!",
                "invalid character '!' in literal null (expecting 'l')",
            ),
            ("-x", "invalid character 'x' in numeric literal"),
            ("01", "invalid character '1' after top-level value"),
            (
                "1.x",
                "invalid character 'x' after decimal point in numeric literal",
            ),
            (r#""\q""#, "invalid character 'q' in string escape code"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            (
                "\u{c7}",
                "invalid character 'Ã' looking for beginning of value",
            ),
            (
                "\\",
                r"invalid character '\\' looking for beginning of value",
            ),
            ("{}\u{c}", r"invalid character '\f' after top-level value"),
            ("n", "invalid character ' ' in literal null (expecting 'u')"),
            ("-", "invalid character ' ' in numeric literal"),
            (
                "[1e",
                "invalid character ' ' in exponent of numeric literal",
            ),
            ("\"a", "unexpected end of JSON input"),
            ("\"\\", "invalid character ' ' in string escape code"),
            (
                "\"\\u0",
                "invalid character ' ' in \\u hexadecimal character escape",
            ),
        ] {
            assert_eq!(
                mistake(text.as_bytes()).as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn bytes_are_shown_and_valid_text_has_no_mistake() {
        for (byte, shown) in [
            (0x9a, r"\u009a"),
            (0xa0, r"\u00a0"),
            (0x7f, r"\x7f"),
            (0, r"\x00"),
            (0xd6, "Ö"),
        ] {
            let expected = format!("invalid character '{shown}' looking for beginning of value");
            assert_eq!(mistake(&[byte]), Some(expected));
        }
        for fine in [
            r#" {"a":[1,-0.5e+7,{}],"b":[]} "#,
            "null",
            "[[],[true]]",
            r#""\u00e9""#,
        ] {
            assert_eq!(mistake(fine.as_bytes()), None, "{fine}");
        }
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        let words = "invalid character '[' exceeded max depth";
        assert_eq!(mistake(nested(DEPTH_MAX).as_bytes()), None);
        let deep = nested(DEPTH_MAX + 1);
        assert_eq!(mistake(deep.as_bytes()).as_deref(), Some(words));
    }

    #[test]
    fn text_beyond_the_tree_limits_is_refused_in_gos_words() {
        let nested = |levels: usize| "{\"\":".repeat(levels) + "1" + &"}".repeat(levels);
        let words = "invalid character '{' exceeded max depth";
        for (text, expected) in [
            (nested(TREE_DEPTH_MAX), None),
            (nested(TREE_DEPTH_MAX + 1), Some(words)),
            (
                "[1e308,\"1e999\",-2E+400]".to_owned(),
                Some("json: cannot unmarshal number -2E+400 into Go value of type float64"),
            ),
        ] {
            assert_eq!(refusal(text.as_bytes()).as_deref(), expected, "{text}");
            let tree = serde_json::from_str::<serde_json::Value>(&text);
            assert_eq!(tree.is_err(), expected.is_some(), "{text}");
        }
    }
}
