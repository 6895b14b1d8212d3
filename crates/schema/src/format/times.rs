//! Dates, times and durations.

use super::Compiled;
use kubist_apimachinery::Duration;
use regex::Regex;
use std::sync::LazyLock;

static TIME: Compiled = LazyLock::new(|| {
    Regex::new("^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$").ok()
});
static DURATION_PART: Compiled =
    LazyLock::new(|| Regex::new(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)").ok());

/// The units of durations by all their names; the last one is also a prefix of others.
const UNITS: [&[&str]; 8] = [
    &["ns", "nano"],
    &["us", "µs", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

/// Reports whether a text is a date such as `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| -> Option<u32> {
        let digits = text.get(range)?;
        let is_number = digits.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| digits.parse().ok())?
    };
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Reports whether a text is a date, a `T` and a time with a zone. What follows another `T` is
/// ignored, as by upstream.
pub(super) fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    let Some(expression) = TIME.as_ref() else {
        return false;
    };
    is_date(date)
        && expression
            .captures(time)
            .is_some_and(|it| &it[1] <= "23" && &it[2] <= "59" && &it[3] <= "59")
}

/// Reports whether a text is a duration: of Go, or with a part such as `3 days` anywhere.
pub(super) fn is_duration(text: &str) -> bool {
    if text.parse::<Duration>().is_ok() {
        return true;
    }
    let Some(expression) = DURATION_PART.as_ref() else {
        return false;
    };
    let mut has_unit = false;
    for part in expression.captures_iter(text) {
        if part[1].parse::<i64>().is_err() {
            return false;
        }
        let unit = part[2].to_lowercase();
        has_unit |= UNITS.iter().any(|names| {
            names.contains(&unit.as_str())
                || names.last().is_some_and(|last| unit.starts_with(last))
        });
    }
    has_unit
}
