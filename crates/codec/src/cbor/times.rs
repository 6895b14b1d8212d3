//! Times (tags 0 and 1) as the texts that upstream makes of them.

use super::CborError;
use kubist_apimachinery::{MicroTime, Time};

/// The years 0 to 9999, which RFC 3339 has.
const SECONDS: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;
const NANOS_PER_SECOND: f64 = 1e9;

/// Checks a text that is tagged as a time.
pub(super) fn check_text(text: &str) -> Result<(), CborError> {
    let Err(error) = text.parse::<Time>() else {
        return Ok(());
    };
    if text.parse::<MicroTime>().is_ok() {
        return Ok(());
    }
    Err(CborError::refused(format!(
        "cannot set {text} for time.Time: {error}"
    )))
}

/// Returns the text of seconds since the Unix epoch.
pub(super) fn of_seconds(seconds: i64) -> Result<String, CborError> {
    if !SECONDS.contains(&seconds) {
        return Err(CborError::refused(
            "decoded time cannot be represented in RFC3339 format with sub-second precision: \
             Time.MarshalText: year outside of range [0,9999]",
        ));
    }
    Ok(Time::from_unix(seconds).to_string())
}

/// The same with a fraction, of which nanoseconds are kept.
pub(super) fn of_float(seconds: f64) -> Result<String, CborError> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "casts saturate, and what is out of range is refused"
    )]
    let (mut whole, mut nanos) = (
        seconds.trunc() as i64,
        (seconds.fract() * NANOS_PER_SECOND) as i64,
    );
    if nanos < 0 {
        whole = whole.saturating_sub(1);
        nanos += 1_000_000_000;
    }
    let text = of_seconds(whole)?;
    if nanos == 0 {
        return Ok(text);
    }
    let fraction = format!("{nanos:09}");
    let until = text.trim_end_matches('Z');
    Ok(format!("{until}.{}Z", fraction.trim_end_matches('0')))
}
