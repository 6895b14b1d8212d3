//! RFC 3339 parsing like Go's `time.Parse`, and the civil calendar.
//!
//! Go is lenient (one-digit hours, a comma before the fraction, offsets of 24 hours) and has its
//! own error texts, and servers return both. Jiff is stricter and has other texts.

use crate::go_text::quote_for_time;
use std::fmt;

/// The required form of the fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fraction {
    /// Any number of digits, or none.
    Optional,
    /// Exactly six digits.
    SixDigits,
}

impl Fraction {
    fn layout(self) -> &'static str {
        match self {
            Self::Optional => "2006-01-02T15:04:05Z07:00",
            Self::SixDigits => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// Why a text is not a time, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTimeError {
    /// A part does not match the layout.
    #[error(
        "parsing time {} as {}: cannot parse {} as {}",
        quote_for_time(.text), quote_for_time(.layout), quote_for_time(.rest), quote_for_time(.part)
    )]
    Layout {
        /// The whole text.
        text: String,
        /// The layout, as Go writes it.
        layout: &'static str,
        /// The rest of the text from the mismatch on.
        rest: String,
        /// The part of the layout.
        part: &'static str,
    },
    /// A part is out of range, or the day does not exist.
    #[error("parsing time {}: {part} out of range", quote_for_time(.text))]
    OutOfRange {
        /// The whole text.
        text: String,
        /// `month`, `day`, `hour`, `minute`, `second`, `fractional second`,
        /// `time zone offset hour` or `… minute`.
        part: &'static str,
    },
    /// There is text after the time.
    #[error("parsing time {}: extra text: {}", quote_for_time(.text), quote_for_time(.extra))]
    ExtraText {
        /// The whole text.
        text: String,
        /// The extra text.
        extra: String,
    },
}

/// Parses a time; returns seconds since the Unix epoch, and nanoseconds.
pub(crate) fn parse(text: &str, fraction: Fraction) -> Result<(i64, i32), ParseTimeError> {
    let mut scanner = Scanner {
        text,
        rest: text,
        layout: fraction.layout(),
    };
    let year = scanner.year()?;
    scanner.literal("-")?;
    let month = scanner.two_digits("01", true)?;
    if !(1..=12).contains(&month) {
        return Err(scanner.out_of_range("month"));
    }
    scanner.literal("-")?;
    let day = scanner.two_digits("02", true)?;
    scanner.literal("T")?;
    let hour = scanner.two_digits("15", false)?;
    if hour > 23 {
        return Err(scanner.out_of_range("hour"));
    }
    scanner.literal(":")?;
    let minute = scanner.two_digits("04", true)?;
    if minute > 59 {
        return Err(scanner.out_of_range("minute"));
    }
    scanner.literal(":")?;
    let second = scanner.two_digits("05", true)?;
    if second > 59 {
        return Err(scanner.out_of_range("second"));
    }
    let nanos = scanner.fraction(fraction)?;
    let offset = scanner.offset()?;
    if !scanner.rest.is_empty() {
        let (text, extra) = (text.to_owned(), scanner.rest.to_owned());
        return Err(ParseTimeError::ExtraText { text, extra });
    }
    if day < 1 || day > days_in_month(year, month) {
        return Err(scanner.out_of_range("day"));
    }
    let days = days_from_civil(year, month, day);
    Ok((
        days * DAY + hour * 3600 + minute * 60 + second - offset,
        nanos,
    ))
}

/// Writes `2006-01-02T15:04:05` in UTC, without zone.
pub(crate) fn write_seconds(f: &mut fmt::Formatter<'_>, seconds: i64) -> fmt::Result {
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil_from_days(days);
    if year < 0 {
        f.write_str("-")?;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let year = year.unsigned_abs();
    if year <= 9999 {
        // Lists have several times for each object, and the formatter takes five times as long.
        let mut text = *b"0000-00-00T00:00:00";
        let parts = [
            (0, year.cast_signed() / 100),
            (2, year.cast_signed() % 100),
            (5, month),
            (8, day),
            (11, hour),
            (14, minute),
            (17, second),
        ];
        for (at, value) in parts {
            text[at] += digit(value / 10);
            text[at + 1] += digit(value % 10);
        }
        return f.write_str(std::str::from_utf8(&text).unwrap_or_default());
    }
    write!(
        f,
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
    )
}

/// Returns a number from 0 to 9.
fn digit(value: i64) -> u8 {
    u8::try_from(value).unwrap_or_default()
}

const DAY: i64 = 86_400;

/// The rest of the text.
struct Scanner<'a> {
    text: &'a str,
    rest: &'a str,
    layout: &'static str,
}

impl Scanner<'_> {
    fn expected(&self, part: &'static str) -> ParseTimeError {
        let (text, rest) = (self.text.to_owned(), self.rest.to_owned());
        ParseTimeError::Layout {
            text,
            layout: self.layout,
            rest,
            part,
        }
    }

    fn out_of_range(&self, part: &'static str) -> ParseTimeError {
        ParseTimeError::OutOfRange {
            text: self.text.to_owned(),
            part,
        }
    }

    /// Returns the number of leading digits.
    fn digits(&self) -> usize {
        self.rest.bytes().take_while(u8::is_ascii_digit).count()
    }

    /// Reads `count` ASCII digits.
    fn number(&mut self, count: usize) -> i64 {
        let (number, rest) = self.rest.split_at(count);
        self.rest = rest;
        number
            .bytes()
            .fold(0, |value, digit| value * 10 + i64::from(digit - b'0'))
    }

    fn literal(&mut self, part: &'static str) -> Result<(), ParseTimeError> {
        self.rest = self
            .rest
            .strip_prefix(part)
            .ok_or_else(|| self.expected(part))?;
        Ok(())
    }

    fn year(&mut self) -> Result<i64, ParseTimeError> {
        if self.digits() < 4 {
            return Err(self.expected("2006"));
        }
        Ok(self.number(4))
    }

    fn two_digits(&mut self, part: &'static str, both: bool) -> Result<i64, ParseTimeError> {
        match self.digits() {
            0 => Err(self.expected(part)),
            1 if both => Err(self.expected(part)),
            1 => Ok(self.number(1)),
            _ => Ok(self.number(2)),
        }
    }

    /// Parses nanoseconds; digits after the ninth are dropped.
    fn fraction(&mut self, fraction: Fraction) -> Result<i32, ParseTimeError> {
        if fraction == Fraction::SixDigits {
            return self.six_digits();
        }
        let after = self.rest.strip_prefix(['.', ',']);
        let digits = after.map_or("", |it| {
            &it[..it.bytes().take_while(u8::is_ascii_digit).count()]
        });
        if digits.is_empty() {
            return Ok(0);
        }
        self.rest = &self.rest[1 + digits.len()..];
        let nine = digits.bytes().chain(std::iter::repeat(b'0')).take(9);
        Ok(nine.fold(0, |value, digit| value * 10 + i32::from(digit - b'0')))
    }

    /// Go parses the six digits as a number, which may begin with a sign.
    fn six_digits(&mut self) -> Result<i32, ParseTimeError> {
        let after = self.rest.strip_prefix(['.', ',']);
        let six = after.and_then(|it| it.get(..6)).unwrap_or_default();
        let digits = six.strip_prefix(['+', '-']).unwrap_or(six);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.expected(".000000"));
        }
        let micros = digits
            .bytes()
            .fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
        if six.starts_with('-') && micros > 0 {
            return Err(self.out_of_range("fractional second"));
        }
        self.rest = &self.rest[1 + six.len()..];
        Ok(micros * 1000)
    }

    /// Parses an offset; returns seconds east of UTC.
    fn offset(&mut self) -> Result<i64, ParseTimeError> {
        const PART: &str = "Z07:00";
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let &[sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = self
            .rest
            .as_bytes()
            .first_chunk()
            .ok_or_else(|| self.expected(PART))?
        else {
            return Err(self.expected(PART));
        };
        if ![h1, h2, m1, m2].iter().all(u8::is_ascii_digit) {
            return Err(self.expected(PART));
        }
        let two = |tens: u8, ones: u8| i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
        let (hours, minutes) = (two(h1, h2), two(m1, m2));
        if hours > 24 {
            return Err(self.out_of_range("time zone offset hour"));
        }
        if minutes > 60 {
            return Err(self.out_of_range("time zone offset minute"));
        }
        self.rest = &self.rest[6..];
        let offset = hours * 3600 + minutes * 60;
        Ok(if sign == b'-' { -offset } else { offset })
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days of 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;
/// The days from 0000-03-01, where the eras begin, to the Unix epoch.
const EPOCH_DAYS: i64 = 719_468;

/// Returns the days since the Unix epoch in the proleptic Gregorian calendar. Years begin in March
/// here, so that the leap day is the last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - EPOCH_DAYS
}

/// Returns the year, month and day of a day since the Unix epoch; the inverse of
/// [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let (era, day_of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = year_of_era + era * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}
