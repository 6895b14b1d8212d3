//! `Schedule`: the times of a cron expression, as upstream's library reads and computes them.
//!
//! Five fields, names of months and days, `@hourly` and its like, `@every 90s`, and a time zone in
//! front. A local time that a change of clocks leaves out does not come that day, one that it
//! repeats comes twice. It has no clock.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};
use kubist_apimachinery::Time;

/// How many years ahead a time is searched.
const YEARS: i16 = 5;

/// The least and the greatest value of a field, and the names of its values.
struct Field {
    least: u32,
    most: u32,
    names: &'static [&'static str],
}

const fn numbers(least: u32, most: u32) -> Field {
    Field {
        least,
        most,
        names: &[],
    }
}

const MONTHS: Field = Field {
    least: 1,
    most: 12,
    names: &[
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ],
};
const DAYS: Field = Field {
    least: 0,
    most: 6,
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};
const FIELDS: [Field; 5] = [numbers(0, 59), numbers(0, 23), numbers(1, 31), MONTHS, DAYS];

/// The times of a cron expression.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    times: Times,
}

#[derive(Clone, Debug)]
enum Times {
    /// This many seconds after the last.
    Every(i64),
    At(Box<Pattern>),
}

/// The values of each field, as bits.
#[derive(Clone, Debug)]
struct Pattern {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether a day must match both fields, because one of them is a star.
    both: bool,
    zone: TimeZone,
}

impl Schedule {
    /// Reads an expression; `zone` is that of expressions that name none.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str, zone: &TimeZone) -> Result<Self, String> {
        let zoned = text.strip_prefix("CRON_TZ=");
        let Some(zoned) = zoned.or_else(|| text.strip_prefix("TZ=")) else {
            return Self::in_zone(text, zone.clone());
        };
        let (name, rest) = zoned
            .split_once(' ')
            .ok_or_else(|| format!("a time zone without a schedule: {text}"))?;
        Self::in_zone(rest.trim(), zone_named(name)?)
    }

    fn in_zone(text: &str, zone: TimeZone) -> Result<Self, String> {
        if let Some(span) = text.strip_prefix("@every ") {
            let span = span.parse::<kubist_apimachinery::Duration>();
            let span = span.map_err(|error| format!("failed to parse duration {text}: {error}"))?;
            let seconds = span.to_std().map_or(1, |it| it.as_secs().max(1));
            let times = Times::Every(i64::try_from(seconds).unwrap_or(i64::MAX));
            return Ok(Self { times });
        }
        let text = match text {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            other => other,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return Err(format!("expected exactly 5 fields: {text}"));
        };
        let pattern = Pattern {
            minutes: values(minutes, &FIELDS[0])?,
            hours: values(hours, &FIELDS[1])?,
            days: values(days, &FIELDS[2])?,
            months: values(months, &FIELDS[3])?,
            weekdays: values(weekdays, &FIELDS[4])?,
            both: is_star(days) || is_star(weekdays),
            zone,
        };
        let times = Times::At(Box::new(pattern));
        Ok(Self { times })
    }

    /// Returns the first time after `after`; none if there is none in the next years.
    pub(super) fn next(&self, after: Time) -> Option<Time> {
        match &self.times {
            Times::Every(seconds) => Some(Time::from_unix(after.unix().checked_add(*seconds)?)),
            Times::At(pattern) => pattern.next(after),
        }
    }
}

/// Returns a time zone.
///
/// # Errors
/// There is none of this name.
pub(super) fn zone_named(name: &str) -> Result<TimeZone, String> {
    match name {
        "" | "UTC" | "Local" => Ok(TimeZone::UTC),
        name => TimeZone::get(name).map_err(|_| format!("unknown time zone {name}")),
    }
}

impl Pattern {
    fn next(&self, after: Time) -> Option<Time> {
        let after = after.timestamp()?;
        let start = Timestamp::from_second(after.as_second().checked_add(1)?).ok()?;
        let mut at = start.to_zoned(self.zone.clone());
        if at.second() > 0 {
            at = at
                .checked_add((60 - i64::from(at.second())).seconds())
                .ok()?;
        }
        let last_year = at.year() + YEARS;
        while at.year() <= last_year {
            let next = if self.months & bit(at.month()) == 0 {
                let first = at.date().first_of_month().checked_add(1.month()).ok()?;
                first.to_zoned(self.zone.clone()).ok()?
            } else if !self.is_day(at.date()) {
                at.date()
                    .tomorrow()
                    .ok()?
                    .to_zoned(self.zone.clone())
                    .ok()?
            } else if self.hours & bit(at.hour()) == 0 {
                later(&at, 60 - i64::from(at.minute()))?
            } else if self.minutes & bit(at.minute()) == 0 {
                later(&at, 1)?
            } else {
                return Some(at.timestamp().into());
            };
            at = next;
        }
        None
    }

    fn is_day(&self, date: Date) -> bool {
        let day = self.days & bit(date.day()) != 0;
        let weekday = self.weekdays & bit(date.weekday().to_sunday_zero_offset()) != 0;
        if self.both {
            day && weekday
        } else {
            day || weekday
        }
    }
}

fn later(at: &Zoned, minutes: i64) -> Option<Zoned> {
    at.checked_add(minutes.minutes()).ok()
}

fn bit(value: i8) -> u64 {
    1 << value.unsigned_abs()
}

/// Reports whether a field stands for everything. With a step it does not.
fn is_star(field: &str) -> bool {
    field
        .split(',')
        .any(|it| matches!(it, "*" | "?" | "*/1" | "?/1"))
}

fn values(field: &str, of: &Field) -> Result<u64, String> {
    let parts = field.split(',').filter(|it| !it.is_empty());
    parts
        .map(|it| range(it, of))
        .try_fold(0, |sum, bits| Ok(sum | bits?))
}

fn range(text: &str, of: &Field) -> Result<u64, String> {
    let wrong = || format!("not a range from {} to {}: {text}", of.least, of.most);
    let (ends, step) = match text.split_once('/') {
        Some((ends, step)) => (ends, Some(step.parse::<u32>().map_err(|_| wrong())?)),
        None => (text, None),
    };
    let (first, last) = match ends.split_once('-') {
        _ if matches!(ends, "*" | "?") => (of.least, of.most),
        Some((first, last)) => (number(first, of)?, number(last, of)?),
        None if step.is_some() => (number(ends, of)?, of.most),
        None => (number(ends, of)?, number(ends, of)?),
    };
    let step = step.unwrap_or(1);
    if first < of.least || last > of.most || first > last || step == 0 {
        return Err(wrong());
    }
    let step = usize::try_from(step).map_err(|_| wrong())?;
    Ok((first..=last)
        .step_by(step)
        .fold(0, |bits, it| bits | 1 << it))
}

fn number(text: &str, of: &Field) -> Result<u32, String> {
    let lower = text.to_lowercase();
    let named = (of.least..).zip(of.names).find(|(_, name)| **name == lower);
    match named {
        Some((value, _)) => Ok(value),
        None => text.parse().map_err(|_| format!("not a number: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by a program that uses upstream's library (`github.com/robfig/cron/v3`): schedule,
    /// time, and the next three times.
    const UPSTREAM: &str = include_str!("upstream_times.txt");

    #[test]
    fn times_are_those_of_upstream() {
        assert!(UPSTREAM.lines().count() > 100);
        for line in UPSTREAM.lines() {
            let mut parts = line.split('|');
            let text = parts.next().expect("a schedule");
            let schedule = Schedule::parse(text, &TimeZone::UTC).expect(text);
            let mut at: Time = parts.next().and_then(|it| it.parse().ok()).expect("a time");
            for expected in parts {
                let next = schedule.next(at);
                assert_eq!(next, expected.parse().ok(), "{line}");
                at = next.unwrap_or(at);
            }
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for text in [
            "",
            "* * * *",
            "61 * * * *",
            "* * * * 7",
            "5-1 * * * *",
            "*/0 * * * *",
            "x * * * *",
            "@never",
            "@every x",
            "TZ=Nowhere/City * * * * *",
            "TZ=UTC",
        ] {
            assert!(Schedule::parse(text, &TimeZone::UTC).is_err(), "{text}");
        }
    }
}
