//! What Go's JSON scanner says about malformed text, and what it reads where a text is not quite
//! one. Clients and tests compare these messages.
//!
//! It runs only after a real parser has refused the text.

mod replaced;

use kubist_apimachinery::go_text;

pub use replaced::replaced;

/// Arrays and objects inside one another, as Go's scanner.
const DEPTH_MAX: usize = 10_000;
/// Arrays and objects inside one another in a tree that is read here. Trees are read, written,
/// compared and dropped by recursion; this leaves a small part of a thread's stack to that.
/// Upstream has no limit but its scanner's.
pub const TREE_DEPTH_MAX: usize = 127;

/// Go's message about the first mistake; none if the text is one JSON value.
///
/// ```
/// let words = kubist_codec::go_json::mistake(b"[1,]");
/// assert_eq!(words.as_deref(), Some("invalid character ']' looking for beginning of value"));
/// ```
pub fn mistake(text: &[u8]) -> Option<String> {
    mistake_within(text, DEPTH_MAX)
}

fn mistake_within(text: &[u8], depth_max: usize) -> Option<String> {
    let mut scanner = Scanner {
        text,
        at: 0,
        depth_max,
    };
    scanner.document().err()
}

/// Go's message about JSON that cannot be made a tree: a [mistake], a number that no double holds,
/// or, beyond [`TREE_DEPTH_MAX`], what Go says beyond its own limit. None if none of that is there.
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

/// The first number in well-formed JSON that no double holds.
fn too_large(text: &[u8]) -> Option<&str> {
    let mut scanner = Scanner {
        text,
        at: 0,
        depth_max: DEPTH_MAX,
    };
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

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    depth_max: usize,
}

type Scan = Result<(), String>;

/// What is open, innermost last.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Array,
    Object,
}

impl Scanner<'_> {
    fn document(&mut self) -> Scan {
        let mut open: Vec<Open> = Vec::new();
        self.begin_value(&mut open)?;
        while let Some(&innermost) = open.last() {
            let after = match innermost {
                Open::Array => "after array element",
                Open::Object => "after object key:value pair",
            };
            match (innermost, self.peek()?) {
                (Open::Array, b']') | (Open::Object, b'}') => {
                    self.at += 1;
                    open.pop();
                }
                (_, b',') => {
                    self.at += 1;
                    if innermost == Open::Object {
                        self.key()?;
                    }
                    self.begin_value(&mut open)?;
                }
                (_, byte) => return Err(invalid(byte, after)),
            }
        }
        self.space();
        match self.text.get(self.at) {
            None => Ok(()),
            Some(&byte) => Err(invalid(byte, "after top-level value")),
        }
    }

    /// Scans values and openings until the innermost value is complete.
    fn begin_value(&mut self, open: &mut Vec<Open>) -> Scan {
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'[' | b'{' if open.len() >= self.depth_max => {
                    return Err(invalid(byte, "exceeded max depth"));
                }
                b'[' if self.peek()? == b']' => {
                    self.at += 1;
                    return Ok(());
                }
                b'[' => open.push(Open::Array),
                b'{' if self.peek()? == b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                b'{' => {
                    self.key()?;
                    open.push(Open::Object);
                }
                b'"' => return self.string(),
                b'-' | b'0'..=b'9' => return self.number(byte),
                b't' => return self.literal("true"),
                b'f' => return self.literal("false"),
                b'n' => return self.literal("null"),
                _ => return Err(invalid(byte, "looking for beginning of value")),
            }
        }
    }

    fn key(&mut self) -> Scan {
        let byte = self.peek()?;
        if byte != b'"' {
            return Err(invalid(byte, "looking for beginning of object key string"));
        }
        self.at += 1;
        self.string()?;
        let byte = self.peek()?;
        if byte != b':' {
            return Err(invalid(byte, "after object key"));
        }
        self.at += 1;
        Ok(())
    }

    /// The rest of a string.
    fn string(&mut self) -> Scan {
        while self.at < self.text.len() {
            match self.next() {
                b'"' => return Ok(()),
                b'\\' => match self.next() {
                    b'u' => {
                        for _ in 0..4 {
                            let byte = self.next();
                            if !byte.is_ascii_hexdigit() {
                                return Err(invalid(byte, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    byte => return Err(invalid(byte, "in string escape code")),
                },
                byte if byte < 0x20 => return Err(invalid(byte, "in string literal")),
                _ => {}
            }
        }
        Err(end())
    }

    /// The rest of a literal, after its first letter.
    fn literal(&mut self, word: &str) -> Scan {
        for &expected in &word.as_bytes()[1..] {
            let byte = self.next();
            if byte != expected {
                let expected = char::from(expected);
                let context = format!("in literal {word} (expecting '{expected}')");
                return Err(invalid(byte, &context));
            }
        }
        Ok(())
    }

    /// The rest of a number.
    fn number(&mut self, first: u8) -> Scan {
        let mut digit = first;
        if first == b'-' {
            digit = self.next();
            if !digit.is_ascii_digit() {
                return Err(invalid(digit, "in numeric literal"));
            }
        }
        if digit != b'0' {
            self.digits();
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn some_digits(&mut self, context: &str) -> Scan {
        let byte = self.next();
        if !byte.is_ascii_digit() {
            return Err(invalid(byte, context));
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The next byte that is not white space, which stays.
    fn peek(&mut self) -> Result<u8, String> {
        self.space();
        self.text.get(self.at).copied().ok_or_else(end)
    }

    /// The next byte. After the end there is a space, as for Go's scanner: it ends a number, and is
    /// a mistake within a literal or an escape.
    fn next(&mut self) -> u8 {
        let byte = self.text.get(self.at).copied().unwrap_or(b' ');
        self.at += 1;
        byte
    }
}

fn end() -> String {
    "unexpected end of JSON input".to_owned()
}

fn invalid(byte: u8, context: &str) -> String {
    let shown = match byte {
        b'\'' => r"\'".to_owned(),
        b'"' => "\"".to_owned(),
        // Each byte is taken for a character of its own.
        _ => {
            let quoted = go_text::quote(char::from(byte).encode_utf8(&mut [0; 2]));
            quoted.trim_matches('"').to_owned()
        }
    };
    format!("invalid character '{shown}' {context}")
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
    fn bytes_are_shown_and_what_is_fine_is_no_mistake() {
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
    fn what_no_tree_can_be_made_of_is_told_in_the_words_of_gos_limits() {
        let nested = |levels: usize| "{\"\":".repeat(levels) + "1" + &"}".repeat(levels);
        let words = "invalid character '{' exceeded max depth";
        for (text, said) in [
            (nested(TREE_DEPTH_MAX), None),
            (nested(TREE_DEPTH_MAX + 1), Some(words)),
            (
                "[1e308,\"1e999\",-2E+400]".to_owned(),
                Some("json: cannot unmarshal number -2E+400 into Go value of type float64"),
            ),
        ] {
            assert_eq!(refusal(text.as_bytes()).as_deref(), said, "{text}");
            let tree = serde_json::from_str::<serde_json::Value>(&text);
            assert_eq!(tree.is_err(), said.is_some(), "{text}");
        }
    }
}
