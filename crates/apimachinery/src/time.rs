//! `Time`: a time with a precision of seconds, in API objects.
//!
//! It is stored as an integer; text is parsed and printed on demand, with Go's leniency and error
//! texts. Go's zero time (the first second of year 1) means "not set" and is `null` in JSON.
//! Fractions of a second are dropped; [`MicroTime`](crate::MicroTime) keeps them. It reads no
//! clock.

mod rfc3339;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

pub use rfc3339::ParseTimeError;
pub(crate) use rfc3339::{Fraction, parse, write_seconds};

use crate::Str;

/// Seconds since the Unix epoch.
///
/// ```
/// use kubist_apimachinery::Time;
/// let time: Time = "2024-01-02T04:04:05+01:00".parse()?;
/// assert_eq!(time.to_string(), "2024-01-02T03:04:05Z");
/// # Ok::<(), kubist_apimachinery::ParseTimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time {
    pub(crate) seconds: i64,
}

impl Time {
    /// Go's zero time, which means "not set".
    pub const ZERO: Self = Self {
        seconds: -62_135_596_800,
    };

    /// Creates a time from seconds since the Unix epoch.
    pub const fn from_unix(seconds: i64) -> Self {
        Self { seconds }
    }

    /// Seconds since the Unix epoch.
    pub const fn unix(self) -> i64 {
        self.seconds
    }

    /// Reports whether this is Go's zero time.
    pub const fn is_zero(self) -> bool {
        self.seconds == Self::ZERO.seconds
    }

    /// Converts to jiff's type; none outside of its years -9999 to 9999.
    pub fn timestamp(self) -> Option<jiff::Timestamp> {
        jiff::Timestamp::from_second(self.seconds).ok()
    }
}

impl Default for Time {
    fn default() -> Self {
        Self::ZERO
    }
}

/// Drops the fraction (towards the past, as in Go).
impl From<jiff::Timestamp> for Time {
    fn from(timestamp: jiff::Timestamp) -> Self {
        let past = i64::from(timestamp.subsec_nanosecond() < 0);
        Self {
            seconds: timestamp.as_second() - past,
        }
    }
}

/// Drops the fraction (towards the past, as in Go).
impl From<std::time::SystemTime> for Time {
    fn from(time: std::time::SystemTime) -> Self {
        let (seconds, _) = since_epoch(time);
        Self { seconds }
    }
}

/// Returns the seconds (towards the past) and the nanoseconds after them.
pub(crate) fn since_epoch(time: std::time::SystemTime) -> (i64, u32) {
    match time.duration_since(std::time::UNIX_EPOCH) {
        Ok(after) => (
            i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            after.subsec_nanos(),
        ),
        Err(error) => {
            let before = error.duration();
            let seconds = i64::try_from(before.as_secs()).map_or(i64::MIN, |it| -it);
            match before.subsec_nanos() {
                0 => (seconds, 0),
                nanos => (seconds.saturating_sub(1), 1_000_000_000 - nanos),
            }
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.seconds)?;
        f.write_str("Z")
    }
}

impl FromStr for Time {
    type Err = ParseTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text, Fraction::Optional).map(|(seconds, _)| Self { seconds })
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_zero() {
            serializer.serialize_unit()
        } else {
            serializer.collect_str(self)
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Option<Str>>::deserialize(deserializer)?;
        text.map_or(Ok(Self::ZERO), |it| {
            it.parse().map_err(serde::de::Error::custom)
        })
    }
}

#[cfg(test)]
mod tests;
