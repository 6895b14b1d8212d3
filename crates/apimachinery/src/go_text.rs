//! The forms of Go text in upstream's messages: quoted strings and number errors.
//!
//! Clients and tests compare messages with upstream's, so they must be identical. It is not a
//! general formatter.

use std::fmt::Write as _;
use std::num::IntErrorKind;

/// Quotes `text` with Go's escapes (the verb `%q`).
///
/// ```
/// use kubist_apimachinery::go_text::quote;
/// assert_eq!(quote("a\"\n\u{1}é"), r#""a\"\n\x01é""#);
/// ```
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        push_escaped(&mut quoted, c);
    }
    quoted.push('"');
    quoted
}

/// Escapes the characters in JSON text that Go's encoder escapes: `<`, `>`, `&` and two line
/// separators.
///
/// ```
/// use kubist_apimachinery::go_text::escape_html;
/// assert_eq!(escape_html(r#""<é>""#), r#""\u003cé\u003e""#);
/// ```
pub fn escape_html(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            _ => text.push(c),
        }
    }
    text
}

/// Quotes `text` like Go's `time` package: bytes that are not printable ASCII become `\\x`.
pub fn quote_for_time(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=0x7f => quoted.push(char::from(byte)),
            // Writing to a String cannot fail.
            _ => drop(write!(quoted, "\\x{byte:02x}")),
        }
    }
    quoted.push('"');
    quoted
}

/// Reports whether Go's `unicode.IsPrint` holds: letters, marks, numbers, punctuation, symbols and
/// the ASCII space.
pub fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    // Go considers a combining mark printable; Rust escapes one at the start.
    let mut text = String::from("a");
    text.push(c);
    text.escape_debug().count() == 2
}

/// Why [`parse_int`] refused a text. Displays as Go's `strconv.NumError`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("strconv.{function}: parsing {}: {reason}", quote(.text))]
pub struct ParseIntError {
    function: &'static str,
    text: String,
    reason: &'static str,
}

/// Parses a decimal 64-bit integer like Go's `strconv.ParseInt(text, 10, 64)`.
pub fn parse_int(text: &str) -> Result<i64, ParseIntError> {
    parse_as("ParseInt", text)
}

/// Parses a decimal integer like Go's `strconv.Atoi`: as [`parse_int`], but with that name in
/// errors.
pub fn atoi(text: &str) -> Result<i64, ParseIntError> {
    parse_as("Atoi", text)
}

/// Parses an unsigned decimal integer like Go's `strconv.ParseUint(text, 10, 64)`.
pub fn parse_uint(text: &str) -> Result<u64, ParseIntError> {
    let fail = |reason| ParseIntError {
        function: "ParseUint",
        text: text.to_owned(),
        reason,
    };
    if text.starts_with(['+', '-']) {
        return Err(fail(INVALID_SYNTAX));
    }
    text.parse()
        .map_err(|error: std::num::ParseIntError| fail(reason(*error.kind())))
}

const INVALID_SYNTAX: &str = "invalid syntax";

fn parse_as(function: &'static str, text: &str) -> Result<i64, ParseIntError> {
    text.parse()
        .map_err(|error: std::num::ParseIntError| ParseIntError {
            function,
            text: text.to_owned(),
            reason: reason(*error.kind()),
        })
}

fn reason(kind: IntErrorKind) -> &'static str {
    match kind {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => INVALID_SYNTAX,
    }
}

fn push_escaped(quoted: &mut String, c: char) {
    let short = match c {
        '"' => Some("\\\""),
        '\\' => Some("\\\\"),
        '\u{7}' => Some("\\a"),
        '\u{8}' => Some("\\b"),
        '\u{c}' => Some("\\f"),
        '\n' => Some("\\n"),
        '\r' => Some("\\r"),
        '\t' => Some("\\t"),
        '\u{b}' => Some("\\v"),
        _ => None,
    };
    let code = u32::from(c);
    if let Some(short) = short {
        quoted.push_str(short);
    } else if is_print(c) {
        quoted.push(c);
    } else {
        // Writing to a String cannot fail.
        let _ = match code {
            0..0x80 => write!(quoted, "\\x{code:02x}"),
            0x80..0x1_0000 => write!(quoted, "\\u{code:04x}"),
            _ => write!(quoted, "\\U{code:08x}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_go_does() {
        for (text, expected) in [
            ("", r#""""#),
            ("a b", r#""a b""#),
            ("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#),
            ("\u{7f}\u{0}", r#""\x7f\x00""#),
            ("\u{a0}\u{200b}", r#""\u00a0\u200b""#),
            ("e\u{301}", "\"e\u{301}\""),
            ("\u{e0001}", r#""\U000e0001""#),
            ("日本 😀", r#""日本 😀""#),
        ] {
            assert_eq!(quote(text), expected);
        }
    }

    #[test]
    fn number_errors_have_gos_words() {
        assert_eq!(parse_int("+42"), Ok(42));
        let texts = [
            (
                parse_int("x"),
                r#"strconv.ParseInt: parsing "x": invalid syntax"#,
            ),
            (
                parse_int(""),
                r#"strconv.ParseInt: parsing "": invalid syntax"#,
            ),
            (
                atoi("1.5"),
                r#"strconv.Atoi: parsing "1.5": invalid syntax"#,
            ),
            (
                parse_int("9223372036854775808"),
                r#"strconv.ParseInt: parsing "9223372036854775808": value out of range"#,
            ),
            (
                parse_uint("-1").map(|_| 0),
                r#"strconv.ParseUint: parsing "-1": invalid syntax"#,
            ),
        ];
        for (result, expected) in texts {
            assert_eq!(
                result.map_err(|error| error.to_string()),
                Err(expected.to_owned())
            );
        }
    }
}
