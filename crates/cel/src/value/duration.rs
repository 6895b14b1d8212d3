//! [`Duration`]: a signed span of time, in nanoseconds, read and written as Go does.

use crate::error::EvalError;

const SECOND: i64 = 1_000_000_000;

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(i64);

impl Duration {
    /// Creates a duration.
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self(nanoseconds)
    }

    /// Returns the nanoseconds.
    pub const fn nanoseconds(self) -> i64 {
        self.0
    }

    /// Parses Go's notation, such as `1h30m` or `-1.5s`.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, mut rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "0" {
            return Some(Self(0));
        }
        if rest.is_empty() {
            return None;
        }
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let (amount, left) = component(rest)?;
            total = total.checked_add(amount).filter(|it| *it <= 1 << 63)?;
            rest = left;
        }
        if negative {
            return Some(Self(0_i64.wrapping_sub_unsigned(total)));
        }
        i64::try_from(total).ok().map(Self)
    }

    pub(crate) fn seconds_text(self) -> String {
        let seconds = self.0 / SECOND;
        let fraction = self.0 % SECOND;
        #[expect(clippy::cast_precision_loss, reason = "as Go's Seconds does")]
        let number = seconds as f64 + fraction as f64 / 1e9;
        format!("{number}s")
    }

    pub(crate) fn add(self, other: Self) -> Result<Self, EvalError> {
        self.0.checked_add(other.0).map(Self).ok_or_else(overflow)
    }

    pub(crate) fn subtract(self, other: Self) -> Result<Self, EvalError> {
        self.0.checked_sub(other.0).map(Self).ok_or_else(overflow)
    }

    pub(crate) fn negate(self) -> Result<Self, EvalError> {
        self.0.checked_neg().map(Self).ok_or_else(overflow)
    }
}

fn overflow() -> EvalError {
    EvalError::failed("integer overflow")
}

/// Parses a number and its unit; returns the nanoseconds and the rest.
fn component(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let whole: u64 = if digits == 0 {
        0
    } else {
        text[..digits].parse().ok()?
    };
    let mut rest = &text[digits..];
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        let count = after.bytes().take_while(u8::is_ascii_digit).count();
        fraction = &after[..count];
        rest = &after[count..];
    }
    if digits == 0 && fraction.is_empty() {
        return None;
    }
    let length = rest
        .find(|it: char| it == '.' || it.is_ascii_digit())
        .unwrap_or(rest.len());
    let unit: u64 = match &rest[..length] {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let mut amount = whole.checked_mul(unit).filter(|it| *it <= 1 << 63)?;
    if !fraction.is_empty() {
        amount = amount.checked_add(fraction_of(fraction, unit))?;
    }
    (amount <= 1 << 63).then_some((amount, &rest[length..]))
}

/// Returns a decimal fraction of a unit, as Go's floating-point arithmetic does.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a fraction is smaller than its unit"
)]
fn fraction_of(digits: &str, unit: u64) -> u64 {
    let (mut number, mut scale) = (0_u64, 1.0_f64);
    for digit in digits.bytes() {
        let Some(next) = number
            .checked_mul(10)
            .and_then(|it| it.checked_add(u64::from(digit - b'0')))
        else {
            break;
        };
        if next > i64::MAX as u64 {
            break;
        }
        number = next;
        scale *= 10.0;
    }
    (number as f64 * (unit as f64 / scale)) as u64
}

impl Duration {
    /// Parses Go's notation, or amounts with the names of units, such as `3 days 2 hours`.
    pub(crate) fn parse_loosely(text: &str) -> Option<Self> {
        const NAMES: [(&[&str], i64); 8] = [
            (&["ns", "nano"], 1),
            (&["us", "µs", "micro"], 1_000),
            (&["ms", "milli"], 1_000_000),
            (&["s", "sec"], SECOND),
            (&["m", "min"], 60 * SECOND),
            (&["h", "hr", "hour"], 3600 * SECOND),
            (&["d", "day"], 86_400 * SECOND),
            (&["w", "wk", "week"], 604_800 * SECOND),
        ];
        if let Some(it) = Self::parse(text) {
            return Some(it);
        }
        let (mut total, mut is_some, mut rest) = (0_i64, false, text);
        while let Some(at) = rest.find(|it: char| it.is_ascii_digit()) {
            let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
            let amount: i64 = rest[at..at + digits].parse().ok()?;
            let unit = rest[at + digits..].trim_start();
            let length = unit
                .find(|it: char| !it.is_alphabetic())
                .unwrap_or(unit.len());
            let name = unit[..length].to_lowercase();
            for (names, nanoseconds) in NAMES {
                let is_prefixed = names.last().is_some_and(|last| name.starts_with(last));
                if is_prefixed || names.contains(&name.as_str()) {
                    is_some = true;
                    total = total.wrapping_add(amount.wrapping_mul(nanoseconds));
                }
            }
            rest = &unit[length..];
        }
        is_some.then_some(Self(total))
    }
}
