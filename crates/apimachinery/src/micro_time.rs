//! `MicroTime`: a time with microsecond precision, for leases and events.
//!
//! Its text has exactly six fractional digits; otherwise it is like [`Time`].

use crate::time::{Fraction, ParseTimeError, parse, since_epoch, write_seconds};
use crate::{Str, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Seconds since the Unix epoch, and nanoseconds (0 to 999,999,999).
///
/// ```
/// use kubist_apimachinery::MicroTime;
/// let time: MicroTime = "2024-01-02T03:04:05.000006Z".parse()?;
/// assert_eq!(time.nanos(), 6_000);
/// # Ok::<(), kubist_apimachinery::ParseTimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MicroTime {
    pub(crate) seconds: i64,
    pub(crate) nanos: i32,
}

impl MicroTime {
    /// Go's zero time, which means "not set".
    pub const ZERO: Self = Self {
        seconds: Time::ZERO.unix(),
        nanos: 0,
    };

    /// Creates a time from seconds since the Unix epoch and nanoseconds, truncated to whole
    /// microseconds. Nanoseconds outside of 0 to 999,999,999 carry into the seconds.
    pub const fn from_unix(seconds: i64, nanos: i32) -> Self {
        let carry = nanos.div_euclid(1_000_000_000);
        let nanos = nanos.rem_euclid(1_000_000_000);
        Self {
            seconds: seconds.saturating_add(carry as i64),
            nanos: nanos - nanos % 1000,
        }
    }

    /// Returns the seconds since the Unix epoch.
    pub const fn unix(self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds after the second; a multiple of 1,000.
    pub const fn nanos(self) -> i32 {
        self.nanos
    }

    /// Reports whether this is Go's zero time.
    pub const fn is_zero(self) -> bool {
        self.seconds == Self::ZERO.seconds && self.nanos == 0
    }
}

impl Default for MicroTime {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<Time> for MicroTime {
    fn from(time: Time) -> Self {
        Self {
            seconds: time.unix(),
            nanos: 0,
        }
    }
}

/// Truncates to microseconds.
impl From<std::time::SystemTime> for MicroTime {
    fn from(time: std::time::SystemTime) -> Self {
        let (seconds, nanos) = since_epoch(time);
        Self::from_unix(seconds, i32::try_from(nanos).unwrap_or_default())
    }
}

/// Truncates to microseconds.
impl From<jiff::Timestamp> for MicroTime {
    fn from(timestamp: jiff::Timestamp) -> Self {
        Self::from_unix(timestamp.as_second(), timestamp.subsec_nanosecond())
    }
}

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.seconds)?;
        write!(f, ".{:06}Z", self.nanos / 1000)
    }
}

impl FromStr for MicroTime {
    type Err = ParseTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (seconds, nanos) = parse(text, Fraction::SixDigits)?;
        Ok(Self::from_unix(seconds, nanos))
    }
}

impl Serialize for MicroTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_zero() {
            serializer.serialize_unit()
        } else {
            serializer.collect_str(self)
        }
    }
}

impl<'de> Deserialize<'de> for MicroTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Option<Str>>::deserialize(deserializer)?;
        text.map_or(Ok(Self::ZERO), |it| {
            it.parse().map_err(serde::de::Error::custom)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_out_of_range_move_the_seconds() {
        let table = [
            (0, -1, (-1, 999_999_000)),
            (0, 1_500_000_000, (1, 500_000_000)),
        ];
        for (seconds, nanos, expected) in table {
            let time = MicroTime::from_unix(seconds, nanos);
            assert_eq!((time.unix(), time.nanos()), expected);
        }
        let before = jiff::Timestamp::new(-1, -500_000_000).expect("it is in range");
        assert_eq!(
            MicroTime::from(before).to_string(),
            "1969-12-31T23:59:58.500000Z"
        );
    }

    #[test]
    fn it_orders_by_time() {
        assert!(MicroTime::from_unix(1, 0) < MicroTime::from_unix(1, 1000));
        assert_eq!(
            MicroTime::from(Time::from_unix(3)),
            MicroTime::from_unix(3, 0)
        );
    }
}
