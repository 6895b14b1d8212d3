//! Tokens of an expression. What is not a token is reported in ANTLR's words and left out.

/// A token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    /// The offset of the first character, in characters.
    pub(crate) offset: u32,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An operator or a bracket, or one of the words `in`, `true`, `false` and `null`.
    Symbol,
    Ident,
    Escaped,
    Int,
    Uint,
    Float,
    String,
    Bytes,
    End,
}

const SYMBOLS: [&str; 28] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!",
    "?", ":", "+", "*", "/", "%", "in", "true", "false", "null",
];

/// The words among the symbols.
const WORDS: [&str; 4] = ["in", "true", "false", "null"];

/// Returns the tokens, the last of which is [`Kind::End`], and what is not one with its offset.
pub(crate) fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<(u32, String)>) {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    let (mut rest, mut offset) = (text, 0_u32);
    while let Some(first) = rest.chars().next() {
        let length = match matched(rest) {
            Ok((Some(kind), length)) => {
                found.push(Token {
                    kind,
                    text: &rest[..length],
                    offset,
                });
                length
            }
            Ok((None, length)) => length,
            Err(progress) => {
                let progress = progress.max(first.len_utf8());
                let shown = rest[..progress]
                    .replace('\n', "\\n")
                    .replace('\t', "\\t")
                    .replace('\r', "\\r");
                errors.push((
                    offset,
                    format!("Syntax error: token recognition error at: '{shown}'"),
                ));
                progress
            }
        };
        offset += u32::try_from(rest[..length].chars().count()).unwrap_or(u32::MAX);
        rest = &rest[length..];
    }
    found.push(Token {
        kind: Kind::End,
        text: "<EOF>",
        offset,
    });
    (found, errors)
}

/// Returns the token at the start, if it is not a space or a comment, and its length; or how much
/// of the text was looked at.
fn matched(text: &str) -> Result<(Option<Kind>, usize), usize> {
    let bytes = text.as_bytes();
    let run =
        |from: usize, is: fn(&u8) -> bool| bytes[from..].iter().take_while(|it| is(it)).count();
    match bytes[0] {
        b'\t' | b' ' | b'\r' | b'\n' | 0xc => Ok((
            None,
            run(0, |it| matches!(it, b'\t' | b' ' | b'\r' | b'\n' | 0xc)),
        )),
        b'/' if bytes.get(1) == Some(&b'/') => Ok((None, text.find('\n').unwrap_or(text.len()))),
        b'0'..=b'9' => Ok(number(text)),
        b'.' if bytes.get(1).is_some_and(u8::is_ascii_digit) => Ok(number(text)),
        b'"' | b'\'' => quoted(text, false).map(|length| (Some(Kind::String), length)),
        b'`' => {
            let length = 1 + run(1, |it| {
                it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.' | b'-' | b'/' | b' ')
            });
            match bytes.get(length) {
                Some(b'`') if length > 1 => Ok((Some(Kind::Escaped), length + 1)),
                _ => Err(length + text[length..].chars().next().map_or(0, char::len_utf8)),
            }
        }
        b'_' | b'a'..=b'z' | b'A'..=b'Z' => Ok(word(text)),
        _ => match SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)) {
            Some(symbol) => Ok((Some(Kind::Symbol), symbol.len())),
            None => Err(match bytes[0] {
                b'=' | b'&' | b'|' => 1 + text[1..].chars().next().map_or(0, char::len_utf8),
                _ => 0,
            }),
        },
    }
}

/// Matches a word, or a string with a prefix.
fn word(text: &str) -> (Option<Kind>, usize) {
    let length = text
        .bytes()
        .take_while(|it| it.is_ascii_alphanumeric() || *it == b'_')
        .count();
    let prefix = &text[..length.min(2)];
    if length <= 2 && text[length..].starts_with(['"', '\'']) {
        let (is_bytes, raw) = match prefix.as_bytes() {
            [b'r' | b'R'] => (false, true),
            [b'b' | b'B'] => (true, false),
            [b'b' | b'B', b'r' | b'R'] => (true, true),
            _ => return (Some(Kind::Ident), length),
        };
        if let Ok(quoted) = quoted(&text[length..], raw) {
            let kind = if is_bytes { Kind::Bytes } else { Kind::String };
            return (Some(kind), length + quoted);
        }
    }
    let kind = if WORDS.contains(&&text[..length]) {
        Kind::Symbol
    } else {
        Kind::Ident
    };
    (Some(kind), length)
}

fn number(text: &str) -> (Option<Kind>, usize) {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take_while(|it| it.is_ascii_digit())
            .count()
    };
    let is_suffix = |at: usize| matches!(bytes.get(at), Some(b'u' | b'U'));
    if text.starts_with("0x") {
        let count = bytes[2..]
            .iter()
            .take_while(|it| it.is_ascii_hexdigit())
            .count();
        if count > 0 {
            let suffixed = is_suffix(2 + count);
            return (
                Some(if suffixed { Kind::Uint } else { Kind::Int }),
                2 + count + usize::from(suffixed),
            );
        }
    }
    let mut length = digits(0);
    let mut is_float = false;
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
        is_float = true;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let count = digits(length + 1 + sign);
        if count > 0 {
            length += 1 + sign + count;
            is_float = true;
        }
    }
    if is_float {
        return (Some(Kind::Float), length);
    }
    let suffixed = is_suffix(length);
    (
        Some(if suffixed { Kind::Uint } else { Kind::Int }),
        length + usize::from(suffixed),
    )
}

/// Returns the length of a string from its quote on, or how much of the text was looked at.
fn quoted(text: &str, raw: bool) -> Result<usize, usize> {
    let quote = &text[..1];
    let long = quote.repeat(3);
    if text.starts_with(&long)
        && let Ok(length) = body(text, &long, raw)
    {
        return Ok(length);
    }
    body(text, quote, raw)
}

fn body(text: &str, quote: &str, raw: bool) -> Result<usize, usize> {
    let is_long = quote.len() == 3;
    let mut at = quote.len();
    loop {
        let rest = &text[at..];
        if rest.starts_with(quote) {
            return Ok(at + quote.len());
        }
        let Some(character) = rest.chars().next() else {
            return Err(at);
        };
        let next = at + character.len_utf8();
        match character {
            '\n' | '\r' if !is_long => return Err(next),
            '\\' if !raw => match escape_length(&rest[1..]) {
                Ok(length) => at = next + length,
                Err(length) => return Err(next + length),
            },
            _ => at = next,
        }
    }
}

/// Returns the length of an escape sequence behind its backslash, or how much was looked at.
fn escape_length(text: &str) -> Result<usize, usize> {
    let bytes = text.as_bytes();
    let Some(first) = text.chars().next() else {
        return Err(0);
    };
    let (skipped, count, is_digit): (usize, usize, fn(&u8) -> bool) = match first {
        'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`' => return Ok(1),
        '0'..='3' => (1, 2, |it| matches!(it, b'0'..=b'7')),
        'x' | 'X' => (1, 2, u8::is_ascii_hexdigit),
        'u' => (1, 4, u8::is_ascii_hexdigit),
        'U' => (1, 8, u8::is_ascii_hexdigit),
        _ => return Err(first.len_utf8()),
    };
    for at in skipped..skipped + count {
        if !bytes.get(at).is_some_and(is_digit) {
            return Err(at + text[at..].chars().next().map_or(0, char::len_utf8));
        }
    }
    Ok(skipped + count)
}
