//! [`Timestamp`]: a point in time between the years 1 and 9999, with the offset it was written in.

use super::civil::{self, Civil};
use super::duration::Duration;
use crate::error::EvalError;
use jiff::tz::TimeZone;
use std::cmp::Ordering;
use std::fmt;

/// The first second of the year 1.
const FIRST: i64 = -62_135_596_800;
/// The last second of the year 9999.
const LAST: i64 = 253_402_300_799;

/// A point in time. The offset is only for its text.
#[derive(Debug, Clone, Copy)]
pub struct Timestamp {
    seconds: i64,
    nanoseconds: u32,
    offset: i32,
}

impl Timestamp {
    /// Creates a timestamp from seconds since 1970; none if it is out of range.
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        (FIRST..=LAST).contains(&seconds).then_some(Self {
            seconds,
            nanoseconds: 0,
            offset: 0,
        })
    }

    /// Creates a timestamp; none if it is out of range.
    pub fn new(seconds: i64, nanoseconds: u32) -> Option<Self> {
        let it = Self::from_seconds(seconds)?;
        (nanoseconds < 1_000_000_000).then_some(Self { nanoseconds, ..it })
    }

    /// Returns the seconds since 1970.
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds of the second.
    pub const fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }

    /// Parses RFC 3339 as Go does; the second value says whether it is in range.
    pub(crate) fn parse(text: &str) -> Option<(Self, bool)> {
        let (date, rest) = (text.get(..10)?, text.get(10..)?);
        let rest = rest.strip_prefix('T')?;
        let day = parse_date(date)?;
        let (time, rest) = (rest.get(..8)?, rest.get(8..)?);
        let [hour, minute, second] = numbers(time, b':')?;
        let seconds = hour * 3600 + minute * 60 + second;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let (nanoseconds, rest) = parse_fraction(rest)?;
        let offset = parse_offset(rest)?;
        let total = day * 86_400 + seconds - i64::from(offset);
        let it = Self {
            seconds: total,
            nanoseconds,
            offset,
        };
        Some((it, (FIRST..=LAST).contains(&total)))
    }

    /// Parses a date.
    pub(crate) fn parse_date(text: &str) -> Option<Self> {
        (text.len() == 10)
            .then(|| parse_date(text))?
            .and_then(|day| Self::from_seconds(day * 86_400))
    }

    /// Reports whether this is the first moment of the year 1.
    pub(crate) const fn is_zero(self) -> bool {
        self.seconds == FIRST && self.nanoseconds == 0
    }

    pub(crate) fn add(self, duration: Duration) -> Result<Self, EvalError> {
        let nanoseconds = i128::from(self.seconds) * 1_000_000_000
            + i128::from(self.nanoseconds)
            + i128::from(duration.nanoseconds());
        let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
        let rest = u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or(0);
        let it = Self::new(seconds, rest).ok_or_else(|| EvalError::failed("timestamp overflow"))?;
        Ok(Self {
            offset: self.offset,
            ..it
        })
    }

    pub(crate) fn subtract(self, other: Self) -> Result<Duration, EvalError> {
        let overflow = || EvalError::failed("integer overflow");
        let seconds = (self.seconds - other.seconds)
            .checked_mul(1_000_000_000)
            .ok_or_else(overflow)?;
        let rest = i64::from(self.nanoseconds) - i64::from(other.nanoseconds);
        seconds
            .checked_add(rest)
            .map(Duration::from_nanoseconds)
            .ok_or_else(overflow)
    }

    /// Returns the date and time in a zone: a name, or hours and minutes such as `-08:00`.
    pub(crate) fn in_zone(self, zone: Option<&str>) -> Result<Civil, EvalError> {
        let offset = match zone {
            None | Some("UTC" | "") => 0,
            Some(zone) => match zone.split_once(':') {
                Some((hours, minutes)) => fixed_offset(zone, hours, minutes)?,
                None => self.named_offset(zone)?,
            },
        };
        Ok(Civil::new(
            self.seconds.saturating_add(offset),
            self.nanoseconds,
        ))
    }

    fn named_offset(self, zone: &str) -> Result<i64, EvalError> {
        let unknown = || EvalError::failed(format!("unknown time zone {zone}"));
        let zone = TimeZone::get(zone).map_err(|_| unknown())?;
        let (first, last) = (
            jiff::Timestamp::MIN.as_second(),
            jiff::Timestamp::MAX.as_second(),
        );
        let at = jiff::Timestamp::from_second(self.seconds.clamp(first, last));
        Ok(i64::from(
            zone.to_offset(at.map_err(|_| unknown())?).seconds(),
        ))
    }
}

fn fixed_offset(zone: &str, hours: &str, minutes: &str) -> Result<i64, EvalError> {
    let number = |text: &str| {
        text.parse::<i64>().map_err(|_| {
            EvalError::failed(format!(
                "strconv.Atoi: parsing {}: invalid syntax",
                super::format::quote(text)
            ))
        })
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let hours = hours.saturating_mul(60);
    let total = if zone.starts_with('-') {
        hours.saturating_sub(minutes)
    } else {
        hours.saturating_add(minutes)
    };
    Ok(total
        .saturating_mul(60)
        .clamp(-1_000_000_000, 1_000_000_000))
}

/// Parses a date and returns the days since 1970.
fn parse_date(text: &str) -> Option<i64> {
    let (year, rest) = (text.get(..4)?, text.get(4..)?);
    let [month, day] = numbers(rest.strip_prefix('-')?, b'-')?;
    let [year] = numbers4(year)?;
    civil::days(year, month, day)
}

fn numbers4(text: &str) -> Option<[i64; 1]> {
    text.bytes()
        .all(|it| it.is_ascii_digit())
        .then(|| text.parse().ok().map(|it| [it]))?
}

/// Parses numbers of two digits each.
fn numbers<const N: usize>(text: &str, separator: u8) -> Option<[i64; N]> {
    let bytes = text.as_bytes();
    if bytes.len() != N * 3 - 1 {
        return None;
    }
    let mut found = [0; N];
    for (at, number) in found.iter_mut().enumerate() {
        let (tens, ones) = (bytes[at * 3], bytes[at * 3 + 1]);
        if !tens.is_ascii_digit()
            || !ones.is_ascii_digit()
            || bytes.get(at * 3 + 2).is_some_and(|it| *it != separator)
        {
            return None;
        }
        *number = i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
    }
    Some(found)
}

fn parse_fraction(text: &str) -> Option<(u32, &str)> {
    let Some(digits) = text.strip_prefix(['.', ',']) else {
        return Some((0, text));
    };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = digits.split_at(count);
    let number: String = number
        .chars()
        .chain(std::iter::repeat_n('0', 9))
        .take(9)
        .collect();
    (count > 0).then(|| number.parse().ok().map(|it| (it, rest)))?
}

fn parse_offset(text: &str) -> Option<i32> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let [hours, minutes] = numbers(rest, b':')?;
    (hours <= 24 && minutes < 60).then(|| {
        i32::try_from(hours * 3600 + minutes * 60)
            .ok()
            .map(|it| sign * it)
    })?
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanoseconds).cmp(&(other.seconds, other.nanoseconds))
    }
}

/// RFC 3339 with as many fractional digits as there are.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let it = Civil::new(
            self.seconds.saturating_add(i64::from(self.offset)),
            self.nanoseconds,
        );
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            it.year, it.month, it.day, it.hour, it.minute, it.second
        )?;
        if self.nanoseconds > 0 {
            let digits = format!("{:09}", self.nanoseconds);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let minutes = self.offset.abs() / 60;
        let sign = if self.offset < 0 { '-' } else { '+' };
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}
