//! Short formats for durations: `5m3s`, `2d`, `3y10d`.

use kubist_apimachinery::{MicroTime, ObjectMeta, Time};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Formats seconds for people. Longer durations are coarser. Because clocks differ, a second in the
/// future still counts as now.
pub(super) fn human_duration(seconds: i64) -> String {
    match seconds {
        ..=-2 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(seconds / DAY, "d", seconds % DAY / HOUR, "h"),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => two(seconds / YEAR, "y", seconds % YEAR / DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

fn two(large: i64, large_unit: &str, small: i64, small_unit: &str) -> String {
    match small {
        0 => format!("{large}{large_unit}"),
        _ => format!("{large}{large_unit}{small}{small_unit}"),
    }
}

/// Formats the time since `time`, or `<unknown>` if it is not set.
pub(super) fn since(time: Option<Time>, now: Time) -> String {
    match time {
        Some(time) if !time.is_zero() => human_duration(now.unix().saturating_sub(time.unix())),
        _ => "<unknown>".to_owned(),
    }
}

/// Formats the time since `time`, or `<unknown>` if it is not set.
pub(super) fn since_micro(time: Option<MicroTime>, now: Time) -> String {
    match time {
        Some(time) if !time.is_zero() => human_duration(now.unix().saturating_sub(time.unix())),
        _ => "<unknown>".to_owned(),
    }
}

/// Formats the time since an object was created.
pub(super) fn age(meta: &ObjectMeta, now: Time) -> String {
    since(meta.creation_timestamp, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_lose_detail_as_they_grow() {
        let expected = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (123, "2m3s"),
            (9 * MINUTE + 59, "9m59s"),
            (10 * MINUTE + 1, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (7 * HOUR + 59 * MINUTE + 59, "7h59m"),
            (8 * HOUR + MINUTE, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY - 1, "7d23h"),
            (8 * DAY + HOUR, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (3 * YEAR + 10 * DAY, "3y10d"),
            (8 * YEAR - 1, "7y364d"),
            (8 * YEAR + DAY, "8y"),
        ];
        for (seconds, text) in expected {
            assert_eq!(human_duration(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn a_time_that_is_not_set_has_no_age() {
        let now = Time::from_unix(1_700_000_000);
        assert_eq!(since(None, now), "<unknown>");
        assert_eq!(since(Some(Time::ZERO), now), "<unknown>");
        assert_eq!(since_micro(None, now), "<unknown>");
        assert_eq!(
            since_micro(Some(MicroTime::from_unix(1_699_999_990, 5)), now),
            "10s"
        );
    }
}
