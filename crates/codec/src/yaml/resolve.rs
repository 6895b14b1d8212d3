//! Resolution of plain scalars by the YAML 1.1 rules of upstream's parser.

/// The meaning of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    /// A date or time: a string here, but quoted when it is printed as a string.
    Timestamp,
    /// `<<`.
    Merge,
    Text,
}

/// Resolves `text` that is not quoted and has no tag.
pub(super) fn resolve(text: &str) -> Meaning {
    let Some(&first) = text.as_bytes().first() else {
        return Meaning::Null;
    };
    match first {
        b'+' | b'-' | b'0'..=b'9' => word(text).unwrap_or_else(|| number(text)),
        b'.' => word(text).or_else(|| float(text)).unwrap_or(Meaning::Text),
        b'~' | b'<' | b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => {
            word(text).unwrap_or(Meaning::Text)
        }
        _ => Meaning::Text,
    }
}

fn word(text: &str) -> Option<Meaning> {
    Some(match text {
        "~" | "null" | "Null" | "NULL" => Meaning::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Meaning::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Meaning::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => Meaning::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Meaning::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Meaning::Float(f64::NEG_INFINITY),
        "<<" => Meaning::Merge,
        _ => return None,
    })
}

fn number(text: &str) -> Meaning {
    if is_timestamp(text) {
        return Meaning::Timestamp;
    }
    let plain: String = text.chars().filter(|&character| character != '_').collect();
    integer(&plain)
        .or_else(|| float(&plain))
        .unwrap_or(Meaning::Text)
}

/// Parses decimal, `0x`, `0b`, `0o`, and octal with a leading zero.
fn integer(text: &str) -> Option<Meaning> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
    match i64::try_from(if negative { -value } else { value }) {
        Ok(value) => Some(Meaning::Int(value)),
        Err(_) if text.starts_with(['-', '+']) => None,
        Err(_) => u64::try_from(value).ok().map(Meaning::Uint),
    }
}

fn float(text: &str) -> Option<Meaning> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (mantissa, ""),
    };
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    if let Some(exponent) = exponent {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if exponent.is_empty() || !digits(exponent) {
            return None;
        }
    }
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .map(Meaning::Float)
}

/// Matches `2006-1-2`, `2006-1-2 15:4:5.9` and `2006-1-2T15:4:5.9Z` or with an offset.
fn is_timestamp(text: &str) -> bool {
    timestamp(text).is_some()
}

fn timestamp(text: &str) -> Option<()> {
    let (year, rest) = text.split_once('-')?;
    let (month, rest) = rest.split_once('-')?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (day, rest) = rest.split_at(end);
    let year = field(year, 4, 4, 0..=9999)?;
    let month = field(month, 1, 2, 1..=12)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    field(day, 1, 2, 1..=days)?;
    let Some(separator) = rest.chars().next() else {
        return Some(());
    };
    let clock = &rest[separator.len_utf8()..];
    let (clock, zoned) = match separator {
        ' ' => (clock, false),
        'T' | 't' => (clock, true),
        _ => return None,
    };
    let (hour, rest) = clock.split_once(':')?;
    let (minute, rest) = rest.split_once(':')?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let (seconds, zone) = rest.split_at(end);
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    field(hour, 1, 2, 0..=23)?;
    field(minute, 1, 2, 0..=59)?;
    field(second, 1, 2, 0..=59)?;
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match (zoned, zone) {
        (false, "") | (true, "Z") => Some(()),
        (true, zone) => {
            let (hour, minute) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
            field(hour, 2, 2, 0..=24)?;
            field(minute, 2, 2, 0..=59)?;
            Some(())
        }
        _ => None,
    }
}

fn field(
    text: &str,
    digits_min: usize,
    digits_max: usize,
    range: std::ops::RangeInclusive<u32>,
) -> Option<u32> {
    let fits = (digits_min..=digits_max).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = fits.then(|| text.parse().ok())??;
    range.contains(&value).then_some(value)
}

/// Reports whether the text is a base-60 number (`12:30:45`) to older parsers.
pub(super) fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let Some(first) = parts.next() else {
        return false;
    };
    let digits = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    };
    if !first.starts_with(|c: char| c.is_ascii_digit()) || !digits(first) {
        return false;
    }
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else {
        return false;
    };
    let sixty = |text: &str| match text.as_bytes() {
        [digit] | [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    middle.iter().all(|part| sixty(part)) && sixty(last) && digits(fraction)
}
