//! `Duration`: a time span in API types, written like `1h30m0s`.
//!
//! It parses and prints Go's duration strings exactly, including errors. It may be negative. It is
//! not `std::time::Duration`; the two convert.

use crate::go_text::quote_for_time;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A time span in nanoseconds, at most about 292 years, possibly negative.
///
/// ```
/// use kubist_apimachinery::Duration;
/// let timeout: Duration = "1.5h".parse()?;
/// assert_eq!(timeout.to_string(), "1h30m0s");
/// # Ok::<(), kubist_apimachinery::ParseDurationError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Duration {
    nanos: i64,
}

/// Why a text is not a duration, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseDurationError {
    /// A number is missing or too large.
    #[error("time: invalid duration {}", quote_for_time(.0))]
    Invalid(String),
    /// The last number has no unit.
    #[error("time: missing unit in duration {}", quote_for_time(.0))]
    MissingUnit(String),
    /// The unit is not one of ns, us, µs, ms, s, m, h.
    #[error(
        "time: unknown unit {} in duration {}",
        quote_for_time(.unit),
        quote_for_time(.text)
    )]
    UnknownUnit {
        /// The unknown unit.
        unit: String,
        /// The whole text.
        text: String,
    },
}

impl Duration {
    /// The zero duration.
    pub const ZERO: Self = Self { nanos: 0 };

    /// Creates a duration from nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self { nanos }
    }

    /// Creates a duration from seconds; saturates at about 292 years.
    pub const fn from_secs(seconds: i64) -> Self {
        Self {
            nanos: seconds.saturating_mul(1_000_000_000),
        }
    }

    /// Returns the nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.nanos
    }

    /// Returns the duration as the standard library's type; none if it is negative.
    pub fn to_std(self) -> Option<std::time::Duration> {
        u64::try_from(self.nanos)
            .ok()
            .map(std::time::Duration::from_nanos)
    }
}

/// Saturates at about 292 years.
impl From<std::time::Duration> for Duration {
    fn from(duration: std::time::Duration) -> Self {
        Self {
            nanos: i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX),
        }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.nanos.unsigned_abs();
        if nanos == 0 {
            return f.write_str("0s");
        }
        if self.nanos < 0 {
            f.write_str("-")?;
        }
        match nanos {
            0..1_000 => write!(f, "{nanos}ns"),
            1_000..1_000_000 => write_decimal(f, nanos, 3, "µs"),
            1_000_000..1_000_000_000 => write_decimal(f, nanos, 6, "ms"),
            _ => {
                let minutes = nanos / 60_000_000_000;
                if minutes >= 60 {
                    write!(f, "{}h", minutes / 60)?;
                }
                if minutes > 0 {
                    write!(f, "{}m", minutes % 60)?;
                }
                write_decimal(f, nanos % 60_000_000_000, 9, "s")
            }
        }
    }
}

/// Writes `value` / 10^`digits` without trailing zeros.
fn write_decimal(f: &mut fmt::Formatter<'_>, value: u64, digits: u32, unit: &str) -> fmt::Result {
    let scale = 10_u64.pow(digits);
    let width = digits as usize;
    let fraction = format!("{:0width$}", value % scale);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    write!(f, "{}{point}{fraction}{unit}", value / scale)
}

impl FromStr for Duration {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (negative, mut rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let invalid = || ParseDurationError::Invalid(text.to_owned());
        if rest == "0" {
            return Ok(Self::ZERO);
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let (span, after) = parse_span(text, rest)?;
            rest = after;
            // The magnitude of i64::MIN is the largest.
            total = total
                .checked_add(span)
                .filter(|&it| it <= 1 << 63)
                .ok_or_else(invalid)?;
        }
        if negative {
            // Wraps only for 2^63 itself, to i64::MIN, which is right.
            return Ok(Self {
                nanos: total.wrapping_neg().cast_signed(),
            });
        }
        Ok(Self {
            nanos: i64::try_from(total).map_err(|_| invalid())?,
        })
    }
}

/// Parses one number with its unit; returns the nanoseconds (at most 2^63) and the rest.
fn parse_span<'a>(text: &str, span: &'a str) -> Result<(u64, &'a str), ParseDurationError> {
    let invalid = || ParseDurationError::Invalid(text.to_owned());
    let is_digit = |c: char| c.is_ascii_digit();
    let whole = &span[..span.len() - span.trim_start_matches(is_digit).len()];
    let mut rest = &span[whole.len()..];
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        rest = after.trim_start_matches(is_digit);
        fraction = &after[..after.len() - rest.len()];
    }
    if whole.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let number: u64 = if whole.is_empty() {
        0
    } else {
        whole
            .parse()
            .ok()
            .filter(|&it| it <= 1 << 63)
            .ok_or_else(invalid)?
    };
    let unit = &rest[..rest
        .find(|c: char| c == '.' || is_digit(c))
        .unwrap_or(rest.len())];
    if unit.is_empty() {
        return Err(ParseDurationError::MissingUnit(text.to_owned()));
    }
    let scale: u64 = match unit {
        "ns" => 1,
        // The micro sign and the Greek letter mu.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => {
            let (unit, text) = (unit.to_owned(), text.to_owned());
            return Err(ParseDurationError::UnknownUnit { unit, text });
        }
    };
    let nanos = number.checked_mul(scale).ok_or_else(invalid)?;
    let nanos = nanos + fraction_nanos(fraction, scale);
    if nanos > 1 << 63 {
        return Err(invalid());
    }
    Ok((nanos, &rest[unit.len()..]))
}

/// Returns a fraction of `scale` nanoseconds, computed as a double like in Go.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the loss is Go's, and the value is between 0 and one hour in nanoseconds"
)]
fn fraction_nanos(fraction: &str, scale: u64) -> u64 {
    let mut value: u64 = 0;
    let mut divisor = 1.0_f64;
    for digit in fraction.bytes() {
        let next = value
            .checked_mul(10)
            .and_then(|it| it.checked_add(u64::from(digit - b'0')));
        match next {
            Some(next) if next <= 1 << 63 => value = next,
            // Further digits do not change a double.
            _ => break,
        }
        divisor *= 10.0;
    }
    (value as f64 * (scale as f64 / divisor)) as u64
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Option<crate::Str>>::deserialize(deserializer)?;
        // Go decodes null to "", which is not a duration.
        text.unwrap_or_default()
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
