//! Finds generated values in a text: uids, times, addresses, names, hashes.

use std::borrow::Cow;

/// The length of the suffix of a generated name.
pub(crate) const SUFFIX_LENGTH: usize = 5;
/// The beginnings of prefixes of generated names.
const GENERATED: &str = "gen-";
/// The service addresses of both servers.
const SERVICES: &str = "10.96.";

/// A generated value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Uid,
    /// A current time, in seconds.
    Time,
    /// A current time, with a fraction.
    ExactTime,
    Address,
    Generated,
    Hash,
}

/// Returns the generated value at the start of a text, and its length in bytes of ASCII.
pub(crate) fn at_start(text: &str, today: i64) -> Option<(Found, usize)> {
    let bytes = text.as_bytes();
    if matches_form(bytes, b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
        return Some((Found::Uid, 36));
    }
    if let Some(length) = time(text, today) {
        let found = if length == 20 {
            Found::Time
        } else {
            Found::ExactTime
        };
        return Some((found, length));
    }
    if let Some(rest) = text.strip_prefix(SERVICES) {
        let is_part = |it: u8| it.is_ascii_digit() || it == b'.';
        let length = rest.bytes().take_while(|it| is_part(*it)).count();
        let address: Result<std::net::Ipv4Addr, _> = text[..SERVICES.len() + length].parse();
        return address
            .is_ok()
            .then_some((Found::Address, SERVICES.len() + length));
    }
    if let Some(rest) = text.strip_prefix("hash=") {
        let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        return (length > 0).then_some((Found::Hash, "hash=".len() + length));
    }
    let rest = text.strip_prefix(GENERATED)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let suffix = rest[digits..].strip_prefix('-')?;
    let is_letter = |it: &u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let length = suffix.bytes().take_while(is_letter).count();
    let whole = GENERATED.len() + digits + 1 + SUFFIX_LENGTH;
    (digits > 0 && length == SUFFIX_LENGTH).then_some((Found::Generated, whole))
}

/// `x` stands for a hexadecimal digit, `0` for a decimal one.
fn matches_form(bytes: &[u8], form: &[u8]) -> bool {
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'x' => byte.is_ascii_hexdigit(),
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    };
    bytes.len() >= form.len() && bytes.iter().zip(form).all(fits)
}

/// Returns the length of a time of today or an adjacent day.
fn time(text: &str, today: i64) -> Option<usize> {
    let bytes = text.as_bytes();
    if !matches_form(bytes, b"0000-00-00T00:00:00") {
        return None;
    }
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().ok();
    let day = days(number(0, 4)?, number(5, 7)?, number(8, 10)?);
    if (day - today).abs() > 1 {
        return None;
    }
    let rest = &bytes[19..];
    let fraction = match rest.strip_prefix(b".") {
        Some(digits) => 1 + digits.iter().take_while(|it| it.is_ascii_digit()).count(),
        None => 0,
    };
    (rest.get(fraction) == Some(&b'Z')).then_some(20 + fraction)
}

/// Returns the days since 1970 of a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let of_year = (153 * month + 2) / 5 + day - 1;
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Reports whether a table cell is an age, as in `3m4s`.
pub(crate) fn is_age(text: &str) -> bool {
    let is_part = |it: u8| it.is_ascii_digit() || matches!(it, b's' | b'm' | b'h' | b'd' | b'y');
    let begins = text.bytes().next().is_some_and(|it| it.is_ascii_digit());
    let ends = text
        .bytes()
        .last()
        .is_some_and(|it| it.is_ascii_alphabetic());
    begins && ends && text.bytes().all(is_part)
}

/// Returns a table cell without node ports, as in `80:30123/TCP`.
pub(crate) fn without_ports(text: &str) -> String {
    let parts = text.split(',').map(|part| match part.split_once(':') {
        Some((port, rest)) if is_port(rest) => {
            let protocol = rest.split_once('/').map_or("", |(_, protocol)| protocol);
            format!("{port}:<port>/{protocol}")
        }
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join(",")
}

fn is_port(text: &str) -> bool {
    let port = text
        .split_once('/')
        .and_then(|(port, _)| port.parse::<u16>().ok());
    port.is_some_and(|port| (30_000..32_768).contains(&port))
}

/// Returns a text, which may quote objects, without their `managedFields`.
pub(crate) fn without_owners(text: &str) -> Cow<'_, str> {
    let Some((start, end)) = owners(text) else {
        return Cow::Borrowed(text);
    };
    let rest = without_owners(&text[end..]);
    Cow::Owned(format!("{}{rest}", &text[..start]))
}

/// Returns the range of the first `managedFields`, with one of the commas around them.
fn owners(text: &str) -> Option<(usize, usize)> {
    const NAME: &str = "managedFields";
    let name = text.find(NAME)?;
    // The name is quoted once or, within a quoted text, with a backslash.
    let start = text[..name].trim_end_matches(['"', '\\']).len();
    let after = &text[name + NAME.len()..];
    let list = after.trim_start_matches(['"', '\\']).strip_prefix(":[")?;
    let mut depth = 1_usize;
    let length = list.char_indices().find_map(|(place, it)| {
        match it {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(place + 1)
    })?;
    let end = text.len() - list.len() + length;
    if text[end..].starts_with(',') {
        return Some((start, end + 1));
    }
    let is_last = text[..start].ends_with(',');
    Some((start - usize::from(is_last), end))
}

/// Returns a text with empty lists and maps of quoted Go values removed: only Go distinguishes nil
/// from empty. The field names of such values begin with capital letters.
pub(crate) fn without_empty(text: &str) -> Cow<'_, str> {
    const VALUE: [&str; 2] = ["Invalid value: ", "Unsupported value: "];
    if !text.contains("[]") && !text.contains("{}") {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(['[', '{']) {
        let (before, at) = rest.split_at(place);
        replaced.push_str(before);
        let is_empty = at.starts_with("[]") || at.starts_with("{}");
        if is_empty && (is_field(&replaced) || VALUE.iter().any(|it| replaced.ends_with(it))) {
            replaced.push_str("null");
            rest = &at[2..];
        } else {
            replaced.push_str(&at[..1]);
            rest = &at[1..];
        }
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

/// Reports whether a text ends with the quoted name of a Go field and a colon.
fn is_field(text: &str) -> bool {
    let name = text.strip_suffix(": ").or_else(|| text.strip_suffix(':'));
    let name = name.and_then(|it| it.strip_suffix('"')?.rsplit('"').next());
    name.is_some_and(|it| {
        it.starts_with(|it: char| it.is_ascii_uppercase())
            && it.bytes().all(|it| it.is_ascii_alphanumeric())
    })
}

/// Returns a text without the name of a scheme, which depends on the server's build.
pub(crate) fn without_scheme(text: &str) -> Cow<'_, str> {
    const SCHEME: &str = " in scheme \"";
    let Some(start) = text.find(SCHEME) else {
        return Cow::Borrowed(text);
    };
    let start = start + SCHEME.len();
    match text[start..].find('"') {
        Some(end) => Cow::Owned(format!(
            "{}<scheme>{}",
            &text[..start],
            &text[start + end..]
        )),
        None => Cow::Borrowed(text),
    }
}

/// Replaces numbers in a text, except digits in words and names.
/// names.
pub(crate) fn with_numbers(text: &str, is_replaced: impl Fn(&str) -> bool) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|it: char| it.is_ascii_digit()) {
        let length = rest[start..].bytes().take_while(u8::is_ascii_digit).count();
        let (before, after) = (&rest[..start], &rest[start + length..]);
        let number = &rest[start..start + length];
        replaced.push_str(before);
        let is_part =
            ends_with_name(&replaced) || after.starts_with(|it: char| it.is_ascii_alphabetic());
        replaced.push_str(if !is_part && is_replaced(number) {
            "<n>"
        } else {
            number
        });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

/// Reports whether the digits that follow are part of a word, or of a name like `a-1` or `a-1-2`.
fn ends_with_name(text: &str) -> bool {
    let word = text.rsplit(|it: char| !it.is_ascii_alphanumeric() && it != '-');
    let word = word.map(|it| it.trim_end_matches('-')).next();
    let is_joined = text.ends_with('-') || text.ends_with(|it: char| it.is_ascii_alphanumeric());
    is_joined && word.is_some_and(|it| it.contains(|it: char| it.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(2026, 1, 2), 1_767_312_000 / 86_400);
    }

    #[test]
    fn each_is_found_at_the_start_with_its_length() {
        let today = days(2026, 1, 2);
        let found = |text: &str| at_start(text, today);
        let uid = "11111111-2222-3333-4444-55555555555f.";
        assert_eq!(found(uid), Some((Found::Uid, 36)));
        assert_eq!(found("2026-01-03T00:00:00Z,"), Some((Found::Time, 20)));
        let exact = "2026-01-03T00:00:00.123456Z";
        assert_eq!(found(exact), Some((Found::ExactTime, exact.len())));
        assert_eq!(found("2026-01-05T00:00:00Z"), None);
        assert_eq!(found("2026-01-03T00:00:00"), None);
        assert_eq!(found("10.96.0.12/32"), Some((Found::Address, 10)));
        assert_eq!(found("10.96.0.1234"), None);
        assert_eq!(found("gen-3-x7k2p "), Some((Found::Generated, 11)));
        assert_eq!(found("gen-3-"), None);
        assert_eq!(found("hash=0AF\""), Some((Found::Hash, 8)));
        assert_eq!(found("\u{e4}"), None);
    }

    #[test]
    fn ages_and_ports_of_cells_are_told() {
        assert!(is_age("3m4s") && is_age("0s") && is_age("5d"));
        assert!(!is_age("3") && !is_age("<none>") && !is_age("") && !is_age("s"));
        assert_eq!(without_ports("80:31000/TCP,53/UDP"), "80:<port>/TCP,53/UDP");
        assert_eq!(without_ports("a:b"), "a:b");
    }

    #[test]
    fn what_is_empty_is_nothing_where_go_shows_it() {
        for (text, expected) in [
            (
                r#"Invalid value: {"Requests":[],"a":[],"Limits":{}}: x"#,
                r#"Invalid value: {"Requests":null,"a":[],"Limits":null}: x"#,
            ),
            ("Invalid value: {}: x", "Invalid value: null: x"),
            (
                "+ \"Modes\": [],\n- \"Modes\": [",
                "+ \"Modes\": null,\n- \"Modes\": [",
            ),
            (r#"{"data":{},"x":"[]"}"#, r#"{"data":{},"x":"[]"}"#),
        ] {
            assert_eq!(without_empty(text), expected);
        }
    }

    #[test]
    fn numbers_are_replaced_where_they_are_to_be() {
        let replaced = with_numbers("1 is not 22 (3)", |number| number == "22");
        assert_eq!(replaced, "1 is not <n> (3)");
        let words = with_numbers("a1 1b c1d 1.2-1", |number| number == "1");
        assert_eq!(words, "a1 1b c1d <n>.2-<n>");
        let hexadecimal = with_numbers("(613a22b6) v22 22", |number| number == "22");
        assert_eq!(hexadecimal, "(613a22b6) v22 <n>");
        let names = with_numbers("\"tag-3a-22-5\" -22", |number| number == "22");
        assert_eq!(names, "\"tag-3a-22-5\" -<n>");
    }
}
