//! Indented JSON. The order of keys does not change.
//!
//! It is produced piece by piece, so that no large response is held for a slow client.

/// Indents compact JSON by two spaces, as Go does. For malformed JSON the output is unspecified.
pub(crate) fn indent(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut indenter = Indenter::default();
    indenter.push(json, &mut out);
    out
}

/// Indents JSON that arrives in pieces, which may be split anywhere.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Indenter {
    depth: usize,
    position: Position,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// Between values.
    #[default]
    Between,
    /// After an opening brace or bracket; it may be empty.
    Opened,
    InString,
    /// In a string, after a backslash.
    Escaped,
}

impl Indenter {
    /// Appends the next piece, indented, to `out`.
    pub(crate) fn push(&mut self, json: &[u8], out: &mut Vec<u8>) {
        for &byte in json {
            match self.position {
                Position::InString | Position::Escaped => {
                    out.push(byte);
                    self.position = match (self.position, byte) {
                        (Position::InString, b'\\') => Position::Escaped,
                        (Position::InString, b'"') => Position::Between,
                        _ => Position::InString,
                    };
                }
                Position::Between | Position::Opened => self.outside(byte, out),
            }
        }
    }

    fn outside(&mut self, byte: u8, out: &mut Vec<u8>) {
        if matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
            return;
        }
        let opened = std::mem::take(&mut self.position) == Position::Opened;
        let closes = matches!(byte, b'}' | b']');
        if opened && !closes {
            self.depth += 1;
            self.line(out);
        }
        match byte {
            b'}' | b']' => {
                if !opened {
                    self.depth = self.depth.saturating_sub(1);
                    self.line(out);
                }
                out.push(byte);
            }
            b'{' | b'[' => {
                out.push(byte);
                self.position = Position::Opened;
            }
            b'"' => {
                out.push(byte);
                self.position = Position::InString;
            }
            b',' => {
                out.push(byte);
                self.line(out);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(byte),
        }
    }

    fn line(self, out: &mut Vec<u8>) {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', self.depth * 2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"b":[1,{"a":"x\"},:[\\"},[],{}],"c":null}"#;

    #[test]
    fn json_is_indented_and_stays_the_same() {
        let pretty = String::from_utf8(indent(TEXT.as_bytes())).expect("it is text");
        let expected = "{\n  \"b\": [\n    1,\n    {\n      \"a\": \"x\\\"},:[\\\\\"\n    },\n    \
                        [],\n    {}\n  ],\n  \"c\": null\n}";
        assert_eq!(pretty, expected);
        let (before, after): (serde_json::Value, serde_json::Value) = (
            serde_json::from_str(TEXT).expect("it is JSON"),
            serde_json::from_str(&pretty).expect("it is JSON"),
        );
        assert_eq!(before, after);
    }

    #[test]
    fn it_does_not_matter_where_json_is_cut() {
        let whole = indent(TEXT.as_bytes());
        for at in 0..TEXT.len() {
            let mut out = Vec::new();
            let mut indenter = Indenter::default();
            let (before, after) = TEXT.as_bytes().split_at(at);
            indenter.push(before, &mut out);
            indenter.push(after, &mut out);
            assert_eq!(out, whole, "cut at {at}");
        }
    }
}
