//! `Schedule`: the times of a cron expression. It has no clock.

use cronexpr::{Crontab, FallbackTimezoneOption, ParseOptions, parse_crontab_with};
use jiff::Timestamp;
use kubist::apimachinery::Time;

/// A schedule that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the schedule {text:?} is not a cron expression, as in \"*/5 * * * *\"")]
pub(crate) struct ScheduleError {
    text: String,
    source: cronexpr::Error,
}

/// The times of a cron expression.
#[derive(Debug)]
pub(crate) struct Schedule {
    crontab: Crontab,
}

impl Schedule {
    pub(crate) fn parse(text: &str) -> Result<Self, ScheduleError> {
        let mut options = ParseOptions::default();
        options.fallback_timezone_option = FallbackTimezoneOption::UTC;
        match parse_crontab_with(text, options) {
            Ok(crontab) => Ok(Self { crontab }),
            Err(source) => Err(ScheduleError {
                text: text.to_owned(),
                source,
            }),
        }
    }

    /// Returns the first time after `after`; none if there is none in four years.
    pub(crate) fn next(&self, after: Time) -> Option<Time> {
        let after: Timestamp = after.timestamp()?;
        let next = self.crontab.find_next(after).ok()?;
        Some(next.timestamp().into())
    }

    /// Returns the last time that is after `after` and not after `now`.
    ///
    /// However many there are between, few are computed: `next` grows with its argument, so the
    /// last second whose next time has come is found by halving.
    pub(crate) fn latest(&self, after: Time, now: Time) -> Option<Time> {
        let has_come = |it: Time| self.next(it).filter(|next| *next <= now);
        let mut latest = has_come(after)?;
        let (mut low, mut high) = (after.unix(), now.unix());
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            match has_come(Time::from_unix(middle)) {
                Some(time) => (low, latest) = (middle, time),
                None => high = middle,
            }
        }
        Some(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        text.parse().expect(text)
    }

    #[test]
    fn the_latest_time_is_found_among_any_number() {
        for (schedule, after, now, latest) in [
            (
                "*/5 * * * *",
                "2026-01-01T00:00:00Z",
                "2026-01-01T00:04:59Z",
                None,
            ),
            (
                "*/5 * * * *",
                "2026-01-01T00:00:00Z",
                "2026-01-01T00:05:00Z",
                Some("2026-01-01T00:05:00Z"),
            ),
            (
                "*/5 * * * *",
                "1990-01-01T00:00:00Z",
                "2026-01-01T00:07:10Z",
                Some("2026-01-01T00:05:00Z"),
            ),
            (
                "0 3 * 1 *",
                "2025-12-30T00:00:00Z",
                "2026-11-01T00:00:00Z",
                Some("2026-01-31T03:00:00Z"),
            ),
            (
                "0 3 * * * Europe/Berlin",
                "2026-07-01T00:00:00Z",
                "2026-07-02T00:00:00Z",
                Some("2026-07-01T01:00:00Z"),
            ),
        ] {
            let found = Schedule::parse(schedule).expect(schedule);
            let found = found.latest(time(after), time(now));
            assert_eq!(found, latest.map(time), "{schedule} until {now}");
        }
    }

    #[test]
    fn what_is_no_schedule_is_named() {
        for text in [
            "",
            "* * * *",
            "61 * * * *",
            "every day",
            "* * * * * Nowhere/City",
        ] {
            let error = Schedule::parse(text).expect_err(text).to_string();
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
        let never = Schedule::parse("0 0 30 2 *").expect("it can be read");
        assert_eq!(never.next(time("2026-01-01T00:00:00Z")), None);
    }
}
