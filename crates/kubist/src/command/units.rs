//! Formatting of numbers.

use std::time::Duration;

/// `4.2 MB`: three significant digits, decimal units.
pub(super) fn bytes(count: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = count as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 999.5 {
            return match unit {
                "B" => format!("{count} B"),
                _ if value < 9.995 => format!("{value:.2} {unit}"),
                _ if value < 99.95 => format!("{value:.1} {unit}"),
                _ => format!("{value:.0} {unit}"),
            };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// `12,345`.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 object`, `2,000 objects`.
pub(super) fn of(number: u64, one: &str) -> String {
    let more = if number == 1 { "" } else { "s" };
    format!("{} {one}{more}", count(number))
}

/// `0.34 ms`, `1.24 s`.
pub(super) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let millis = seconds * 1e3;
    match () {
        () if seconds >= 1.0 => format!("{seconds:.2} s"),
        () if millis >= 10.0 => format!("{millis:.0} ms"),
        () => format!("{millis:.2} ms"),
    }
}

/// `3m20s`, as kubectl shows ages: two units at most.
pub(super) fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => format!("{minutes}m{}s", seconds % 60),
        () if hours < 3 => format!("{minutes}m"),
        () if hours < 8 => format!("{hours}h{}m", minutes % 60),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => format!("{days}d{}h", hours % 24),
        () => format!("{days}d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_000), "1.00 kB");
        assert_eq!(bytes(48_213), "48.2 kB");
        assert_eq!(bytes(999_600), "1.00 MB");
        assert_eq!(bytes(7_000_000_000_000), "7.0 TB");
    }

    #[test]
    fn counts_have_commas_between_thousands() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(of(0, "Pod"), "0 Pods");
        assert_eq!(of(1, "Pod"), "1 Pod");
        assert_eq!(of(2_000, "object"), "2,000 objects");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(duration(Duration::from_micros(340)), "0.34 ms");
        assert_eq!(duration(Duration::from_millis(87)), "87 ms");
        assert_eq!(duration(Duration::from_millis(1_240)), "1.24 s");
        assert_eq!(age(Duration::from_secs(59)), "59s");
        assert_eq!(age(Duration::from_secs(200)), "3m20s");
        assert_eq!(age(Duration::from_secs(3 * 3600 + 120)), "3h2m");
        assert_eq!(age(Duration::from_secs(86400 * 9)), "9d");
    }
}
