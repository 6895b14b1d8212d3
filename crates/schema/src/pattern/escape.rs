//! Escapes of single characters.

use super::PatternError;

/// A character, and the text after it.
pub(super) struct Escape<'a> {
    pub(super) c: u32,
    pub(super) rest: &'a str,
}

/// Reads an escape such as `\n`, `\.`, `\x41` or `\101`.
pub(super) fn parse_escape(text: &str) -> Result<Escape<'_>, PatternError> {
    let mut chars = text[1..].chars();
    let Some(c) = chars.next() else {
        return Err(PatternError::new(
            "trailing backslash at end of expression",
            "",
        ));
    };
    let plain = |c: char, rest| {
        Ok(Escape {
            c: u32::from(c),
            rest,
        })
    };
    let rest = chars.as_str();
    match c {
        '0'..='7' => {
            let is_octal = |c: &char| ('0'..='7').contains(c);
            if c != '0' && !rest.chars().next().is_some_and(|it| is_octal(&it)) {
                return Err(invalid(text, rest));
            }
            let more = rest.chars().take(2).take_while(is_octal).count();
            let digits = &text[1..2 + more];
            Ok(Escape {
                c: u32::from_str_radix(digits, 8).unwrap_or_default(),
                rest: &rest[more..],
            })
        }
        'x' => hexadecimal(text, rest),
        'a' => plain('\x07', rest),
        'f' => plain('\x0c', rest),
        'n' => plain('\n', rest),
        'r' => plain('\r', rest),
        't' => plain('\t', rest),
        'v' => plain('\x0b', rest),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => plain(c, rest),
        _ => Err(invalid(text, rest)),
    }
}

fn hexadecimal<'a>(text: &'a str, rest: &'a str) -> Result<Escape<'a>, PatternError> {
    let mut chars = rest.chars();
    let first = chars.next();
    if first == Some('{') {
        let (mut value, mut count) = (0_u32, 0);
        loop {
            let Some(c) = chars.next() else {
                return Err(invalid(text, ""));
            };
            if c == '}' && count > 0 {
                return Ok(Escape {
                    c: value,
                    rest: chars.as_str(),
                });
            }
            let digit = c.to_digit(16).map(|it| value * 16 + it);
            match digit.filter(|it| *it <= 0x0010_ffff) {
                Some(next) => value = next,
                None => return Err(invalid(text, chars.as_str())),
            }
            count += 1;
        }
    }
    let Some(first) = first else {
        return Err(invalid(text, rest));
    };
    // Go decodes the second digit even if the first one is none; at the end of the text there is
    // nothing to decode.
    let second = chars.next();
    let digits = first
        .to_digit(16)
        .zip(second.and_then(|it| it.to_digit(16)));
    match digits {
        Some((high, low)) => Ok(Escape {
            c: high * 16 + low,
            rest: chars.as_str(),
        }),
        None => Err(invalid(text, chars.as_str())),
    }
}

/// The error shows the text up to `rest`.
fn invalid(text: &str, rest: &str) -> PatternError {
    PatternError::new("invalid escape sequence", &text[..text.len() - rest.len()])
}
