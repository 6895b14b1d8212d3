//! `Scanner`: checks JSON syntax and reports mistakes in the words of Go's scanner.

use kubist_apimachinery::go_text;

/// Scans one text.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    pub(super) at: usize,
    depth_max: usize,
}

/// The error is Go's message.
pub(super) type Scan = Result<(), String>;

/// An open array or object.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Array,
    Object,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8], depth_max: usize) -> Self {
        Self {
            text,
            at: 0,
            depth_max,
        }
    }

    /// Scans the whole text, which must be one value.
    pub(super) fn document(&mut self) -> Scan {
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

    /// Scans values and opening brackets until the innermost value is complete.
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

    /// Scans the rest of a string.
    pub(super) fn string(&mut self) -> Scan {
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

    /// Scans the rest of a literal, after its first letter.
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

    /// Scans the rest of a number.
    pub(super) fn number(&mut self, first: u8) -> Scan {
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

    /// Returns the next byte that is not white space, without consuming it.
    fn peek(&mut self) -> Result<u8, String> {
        self.space();
        self.text.get(self.at).copied().ok_or_else(end)
    }

    /// Consumes the next byte. After the end it returns a space, as Go's scanner does: a space ends
    /// a number, and is a mistake within a literal or an escape.
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
        // Each byte is treated as one character.
        _ => {
            let quoted = go_text::quote(char::from(byte).encode_utf8(&mut [0; 2]));
            quoted.trim_matches('"').to_owned()
        }
    };
    format!("invalid character '{shown}' {context}")
}
