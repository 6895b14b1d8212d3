//! Values of literals: numbers, and strings without their quotes and escapes.

/// Returns the content of a string literal.
pub(crate) fn unescape_string(literal: &str) -> Result<String, &'static str> {
    let bytes = unescape(literal, false)?;
    String::from_utf8(bytes).map_err(|_| "unable to unescape string")
}

/// Returns the content of a string or, without its prefix, bytes literal.
pub(crate) fn unescape(literal: &str, is_bytes: bool) -> Result<Vec<u8>, &'static str> {
    let normalized = literal.replace("\r\n", "\n").replace('\r', "\n");
    let (raw, text) = match normalized.strip_prefix(['r', 'R']) {
        Some(text) => (true, text),
        None => (false, normalized.as_str()),
    };
    let quotes = if text.len() >= 6 && (text.starts_with("'''") || text.starts_with("\"\"\"")) {
        3
    } else {
        1
    };
    let content = text
        .get(quotes..text.len().saturating_sub(quotes))
        .ok_or("unable to unescape string")?;
    if raw || !content.contains('\\') {
        return Ok(content.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], is_bytes, &mut out)?;
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// Decodes an escape sequence behind its backslash, and returns the rest.
fn escape<'t>(text: &'t str, is_bytes: bool, out: &mut Vec<u8>) -> Result<&'t str, &'static str> {
    let first = text
        .chars()
        .next()
        .ok_or("unable to unescape string, found '\\' as last character")?;
    let simple = match first {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '`' | '?' => u8::try_from(first).unwrap_or(b'?'),
        'x' | 'X' => return number(&text[1..], 2, 16, is_bytes, out),
        'u' | 'U' if is_bytes => return Err("unable to unescape string"),
        'u' => return number(&text[1..], 4, 16, false, out),
        'U' => return number(&text[1..], 8, 16, false, out),
        '0'..='3' => return number(text, 3, 8, is_bytes, out),
        _ => return Err("unable to unescape string"),
    };
    out.push(simple);
    Ok(&text[1..])
}

fn number<'t>(
    text: &'t str,
    digits: usize,
    radix: u32,
    is_bytes: bool,
    out: &mut Vec<u8>,
) -> Result<&'t str, &'static str> {
    let code = text
        .get(..digits)
        .and_then(|it| u32::from_str_radix(it, radix).ok());
    let code = code.ok_or("unable to unescape string")?;
    if is_bytes {
        out.push(u8::try_from(code).map_err(|_| "unable to unescape string")?);
    } else {
        let character = char::from_u32(code).ok_or("invalid unicode code point")?;
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(&text[digits..])
}

/// Parses a signed integer.
pub(crate) fn int(negative: bool, text: &str) -> Option<i64> {
    let sign = if negative { "-" } else { "" };
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(&format!("{sign}{digits}"), 16).ok(),
        None => format!("{sign}{text}").parse().ok(),
    }
}

/// Parses an unsigned integer with its suffix.
pub(crate) fn uint(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['u', 'U']);
    match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// Parses a floating-point number; one that is too large is none.
pub(crate) fn double(negative: bool, text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok().filter(|it: &f64| it.is_finite())?;
    Some(if negative { -number } else { number })
}
