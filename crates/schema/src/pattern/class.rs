//! Character classes: `[…]`, `\d` and its like, and `\p{…}`.

use super::PatternError;
use super::escape::{Escape, parse_escape};
use super::parser::Flags;
use super::unicode_name::Names;
use std::fmt::Write as _;

/// The names in `[:…:]`. They mean the same in Go and here.
const POSIX_NAMES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// Reads `[…]`, writes it, and returns the text after it.
pub(super) fn parse<'a>(
    whole: &'a str,
    flags: Flags,
    names: &mut Names,
    out: &mut String,
) -> Result<&'a str, PatternError> {
    let mut rest = &whole[1..];
    out.push_str(if flags.folds_case { "(?i:[" } else { "[" });
    if let Some(after) = rest.strip_prefix('^') {
        rest = after;
        out.push('^');
    }
    let (start, mut is_first) = (out.len(), true);
    while is_first || !rest.starts_with(']') {
        is_first = false;
        if let Some(after) = posix(rest, out)? {
            rest = after;
            continue;
        }
        if let Some(after) = parse_item(rest, names, out)? {
            rest = after;
            continue;
        }
        rest = range(rest, whole, out)?;
    }
    if out.len() == start {
        // A class of surrogates only.
        out.push_str("[^\\x{0}-\\x{10FFFF}]");
    }
    out.push_str(if flags.folds_case { "])" } else { "]" });
    Ok(&rest[1..])
}

/// Reads `\d`, `\p{…}` and the like outside of a class.
pub(super) fn parse_named<'a>(
    text: &'a str,
    flags: Flags,
    names: &mut Names,
    out: &mut String,
) -> Result<Option<&'a str>, PatternError> {
    let start = out.len();
    out.push_str(if flags.folds_case { "(?i:[" } else { "[" });
    let after = parse_item(text, names, out)?;
    if after.is_none() {
        out.truncate(start);
        return Ok(None);
    }
    out.push_str(if flags.folds_case { "])" } else { "]" });
    Ok(after)
}

/// Reads `\d`, `\p{…}` and the like as an item of a class.
fn parse_item<'a>(
    text: &'a str,
    names: &mut Names,
    out: &mut String,
) -> Result<Option<&'a str>, PatternError> {
    let Some(escaped) = text.strip_prefix('\\') else {
        return Ok(None);
    };
    let Some(c) = escaped.chars().next() else {
        return Ok(None);
    };
    let after = &escaped[c.len_utf8()..];
    let class = match c {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        's' => "[\\t\\n\\x0C\\r\\x20]",
        'S' => "[^\\t\\n\\x0C\\r\\x20]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        'p' | 'P' => return unicode(text, c == 'P', names, out),
        _ => return Ok(None),
    };
    out.push_str(class);
    Ok(Some(after))
}

fn unicode<'a>(
    text: &'a str,
    is_negated: bool,
    names: &mut Names,
    out: &mut String,
) -> Result<Option<&'a str>, PatternError> {
    const INVALID: &str = "invalid character class range";
    let Some(c) = text[2..].chars().next() else {
        // Upstream's decoder returns an error character of no length, which names nothing.
        return Err(PatternError::new(INVALID, text));
    };
    let (name, end) = if c == '{' {
        let Some(end) = text.find('}') else {
            return Err(PatternError::new(INVALID, text));
        };
        (&text[3..end], end + 1)
    } else {
        let end = 2 + c.len_utf8();
        (&text[2..end], end)
    };
    let (name, is_negated) = match name.strip_prefix('^') {
        Some(name) => (name, !is_negated),
        None => (name, is_negated),
    };
    let Some(class) = names.class(name, is_negated) else {
        return Err(PatternError::new(INVALID, &text[..end]));
    };
    out.push_str(&class);
    Ok(Some(&text[end..]))
}

/// Reads `[:alpha:]` as an item of a class.
fn posix<'a>(text: &'a str, out: &mut String) -> Result<Option<&'a str>, PatternError> {
    let Some(inner) = text.strip_prefix("[:") else {
        return Ok(None);
    };
    let Some((name, after)) = inner.split_once(":]") else {
        return Ok(None);
    };
    if !POSIX_NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
        let shown = &text[..text.len() - after.len()];
        return Err(PatternError::new("invalid character class range", shown));
    }
    out.extend(["[:", name, ":]"]);
    Ok(Some(after))
}

/// Reads a character, or two with a dash between them.
fn range<'a>(text: &'a str, whole: &str, out: &mut String) -> Result<&'a str, PatternError> {
    let Escape { c: low, rest } = class_char(text, whole)?;
    let (high, rest) = match rest.strip_prefix('-') {
        Some(after) if !after.is_empty() && !after.starts_with(']') => {
            let Escape { c: high, rest } = class_char(after, whole)?;
            (high, rest)
        }
        _ => (low, rest),
    };
    if high < low {
        let shown = &text[..text.len() - rest.len()];
        return Err(PatternError::new("invalid character class range", shown));
    }
    push_range(out, low, high);
    Ok(rest)
}

fn class_char<'a>(text: &'a str, whole: &str) -> Result<Escape<'a>, PatternError> {
    let Some(c) = text.chars().next() else {
        return Err(PatternError::new("missing closing ]", whole));
    };
    if c == '\\' {
        return parse_escape(text);
    }
    Ok(Escape {
        c: u32::from(c),
        rest: &text[c.len_utf8()..],
    })
}

/// Writes a range without the surrogates in it, which are in no text.
fn push_range(out: &mut String, low: u32, high: u32) {
    const SURROGATES: std::ops::RangeInclusive<u32> = 0xd800..=0xdfff;
    for (low, high) in [
        (low, high.min(SURROGATES.start() - 1)),
        (low.max(SURROGATES.end() + 1), high),
    ] {
        if low <= high {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\x{{{low:X}}}-\\x{{{high:X}}}");
        }
    }
}
