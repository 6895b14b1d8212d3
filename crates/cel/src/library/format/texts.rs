//! Formats of texts that are not names.

use jiff::civil::Date;

/// Reports whether a text is a UUID, with or without hyphens.
pub(super) fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    [8, 4, 4, 4, 12].into_iter().enumerate().all(|(at, count)| {
        if at > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        let taken = length.min(count);
        rest = &rest[taken..];
        taken == count
    }) && rest.is_empty()
}

/// Reports whether a text is Base64 of at least one byte, with padding.
pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    !digits.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && digits
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || it == b'+' || it == b'/')
}

/// Parses digits only.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    if !text.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Reports whether a text is a date such as `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let (Some(year), Some(month), Some(day), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    if (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return false;
    }
    let (Some(year), Some(month), Some(day)) = (number(year), number(month), number(day)) else {
        return false;
    };
    Date::new(year, month, day).is_ok()
}

/// Reports whether a text begins with a date and a time. The offset is not checked, nor what
/// follows another `t`.
pub(super) fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    match (parts.next(), parts.next()) {
        (Some(date), Some(time)) => text.len() >= 4 && is_date(date) && is_time(time),
        _ => false,
    }
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some((clock, rest)) = bytes.split_at_checked(8) else {
        return false;
    };
    let is_pair = |at: usize, max: &[u8; 2]| {
        let pair = &clock[at..at + 2];
        pair.iter().all(u8::is_ascii_digit) && pair <= &max[..]
    };
    let is_clock = is_pair(0, b"23")
        && clock[2] == b':'
        && is_pair(3, b"59")
        && clock[5] == b':'
        && is_pair(6, b"59");
    let Ok(rest) = std::str::from_utf8(rest) else {
        return false;
    };
    is_clock && without_offset(rest).is_some_and(is_fraction)
}

/// Splits off `z` or an offset such as `+01:00`.
fn without_offset(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_suffix('z') {
        return Some(rest);
    }
    let (rest, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let is_offset = match offset.as_bytes() {
        [b'+' | b'-', a, b, b':', c, d] => [a, b, c, d].iter().all(|it| it.is_ascii_digit()),
        _ => false,
    };
    is_offset.then_some(rest)
}

/// Reports whether a text is empty, or digits behind any one character.
fn is_fraction(text: &str) -> bool {
    let mut characters = text.chars();
    match characters.next() {
        None => true,
        Some('\n') => false,
        Some(_) => {
            let digits = characters.as_str();
            !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
        }
    }
}
