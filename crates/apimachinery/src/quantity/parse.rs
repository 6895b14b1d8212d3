//! The quantity grammar, and the texts that upstream does not normalise.
//!
//! Upstream keeps some texts that are not canonical (`1.500`, `+5`), because its fast path does not
//! normalise them. Encoded objects show this, so it is reproduced: [`stays_as_given`] has the
//! conditions.

use super::QuantityFormat;
use super::canonical;
use super::decimal::Decimal;

/// Why a text is not a quantity, in upstream's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseQuantityError {
    /// The text is not a number with a suffix.
    #[error(
        "quantities must match the regular expression \
         '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// The number is missing.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// The suffix is unknown, or the exponent has more than 32 bits.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// A valid quantity text.
pub(super) struct Parsed {
    /// The printed form, if that is not the text itself.
    pub(super) canonical: Option<String>,
    pub(super) format: QuantityFormat,
}

/// Validates `text` and determines its canonical form.
pub(super) fn parse(text: &str) -> Result<Parsed, ParseQuantityError> {
    if text == "0" {
        return Ok(Parsed {
            canonical: None,
            format: QuantityFormat::DecimalSi,
        });
    }
    let parts = Parts::scan(text)?;
    let suffix = Suffix::parse(parts.suffix)?;
    if stays_as_given(&parts, &suffix) {
        return Ok(Parsed {
            canonical: None,
            format: suffix.format,
        });
    }
    let (amount, format) = evaluate(&parts, &suffix)?;
    let canonical = canonical::print(&amount, format);
    Ok(Parsed {
        canonical: (canonical != text).then_some(canonical),
        format,
    })
}

/// Returns the amount of `text`.
pub(super) fn amount(text: &str) -> Result<Decimal, ParseQuantityError> {
    let parts = Parts::scan(text)?;
    let suffix = Suffix::parse(parts.suffix)?;
    Ok(evaluate(&parts, &suffix)?.0)
}

/// The parts of a text: `-12.5Mi` is a sign, `12`, `5` and `Mi`.
struct Parts<'a> {
    text: &'a str,
    negative: bool,
    /// The digits before the point, without leading zeros.
    whole: &'a str,
    /// The digits after the point.
    fraction: &'a str,
    suffix: &'a str,
    /// Whether there are any digits.
    numeric: bool,
}

impl<'a> Parts<'a> {
    fn scan(text: &'a str) -> Result<Self, ParseQuantityError> {
        if text.is_empty() {
            return Err(ParseQuantityError::Format);
        }
        let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (all, rest) = split_digits(rest);
        let whole = all.trim_start_matches('0');
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let exponent = letters.strip_prefix(['+', '-']).unwrap_or(letters);
        if !exponent.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseQuantityError::Format);
        }
        let numeric = !all.is_empty() || !fraction.is_empty();
        Ok(Self {
            text,
            negative: text.starts_with('-'),
            whole,
            fraction,
            suffix,
            numeric,
        })
    }

    /// The number of digits, counting the 0 of an empty whole part.
    fn digit_count(&self) -> usize {
        self.whole.len().max(1) + self.fraction.len()
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// A power of two or ten.
struct Suffix {
    format: QuantityFormat,
    exponent: i32,
}

impl Suffix {
    fn parse(suffix: &str) -> Result<Self, ParseQuantityError> {
        let decimal = |exponent| {
            Ok(Self {
                format: QuantityFormat::DecimalSi,
                exponent,
            })
        };
        let binary = |exponent| {
            Ok(Self {
                format: QuantityFormat::BinarySi,
                exponent,
            })
        };
        match suffix {
            "n" => decimal(-9),
            "u" => decimal(-6),
            "m" => decimal(-3),
            "" => decimal(0),
            "k" => decimal(3),
            "M" => decimal(6),
            "G" => decimal(9),
            "T" => decimal(12),
            "P" => decimal(15),
            "E" => decimal(18),
            "Ki" => binary(10),
            "Mi" => binary(20),
            "Gi" => binary(30),
            "Ti" => binary(40),
            "Pi" => binary(50),
            "Ei" => binary(60),
            _ => {
                let exponent = suffix
                    .strip_prefix(['e', 'E'])
                    .and_then(|it| it.parse().ok());
                let exponent = exponent.ok_or(ParseQuantityError::Suffix)?;
                Ok(Self {
                    format: QuantityFormat::DecimalExponent,
                    exponent,
                })
            }
        }
    }
}

/// The smallest power of ten in a quantity.
const NANO: i64 = -9;

/// Reports whether upstream computes this text in 64 bits, without rounding and limits.
fn is_simple(parts: &Parts<'_>, suffix: &Suffix) -> bool {
    let digits = i64::try_from(parts.digit_count()).unwrap_or(i64::MAX);
    let exponent = i64::from(suffix.exponent);
    match suffix.format {
        QuantityFormat::BinarySi => {
            let fits = 15_i64.saturating_sub(digits) - exponent * 3 / 10 > 0;
            fits && parts.fraction.is_empty() && binary_value(parts, suffix).is_some()
        }
        _ => digits <= 18 && exponent.saturating_sub(len(parts.fraction)) >= NANO,
    }
}

/// Returns the amount of a whole number with a binary suffix, if it fits.
fn binary_value(parts: &Parts<'_>, suffix: &Suffix) -> Option<i64> {
    let value: i64 = if parts.whole.is_empty() {
        0
    } else {
        parts.whole.parse().ok()?
    };
    value.checked_mul(1_i64.checked_shl(suffix.exponent.unsigned_abs())?)
}

/// Reports whether upstream prints this text as it was given.
fn stays_as_given(parts: &Parts<'_>, suffix: &Suffix) -> bool {
    if !is_simple(parts, suffix) {
        return false;
    }
    if suffix.format == QuantityFormat::BinarySi {
        // Upstream keeps values that are not multiples of 8, which cannot be multiples of 1024. It
        // prints others unchanged if they are plain; this is checked here without arithmetic.
        let plain = || parts.text.len() == parts.whole.len() + parts.suffix.len();
        let value = parts.whole.parse::<i64>();
        return value.is_ok_and(|value| value & 7 != 0 || (value & 1023 != 0 && plain()));
    }
    let scale = i64::from(suffix.exponent) - len(parts.fraction);
    scale % 3 == 0 && !parts.whole.is_empty() && !ends_with_three_zeros(parts)
}

fn ends_with_three_zeros(parts: &Parts<'_>) -> bool {
    let mut last = parts.whole.bytes().chain(parts.fraction.bytes()).rev();
    (0..3).all(|_| last.next() == Some(b'0'))
}

fn evaluate(
    parts: &Parts<'_>,
    suffix: &Suffix,
) -> Result<(Decimal, QuantityFormat), ParseQuantityError> {
    let simple = is_simple(parts, suffix);
    if !simple && !parts.numeric {
        return Err(ParseQuantityError::Numeric);
    }
    let digits = parts.whole.bytes().chain(parts.fraction.bytes());
    let amount = Decimal::new(false, digits, -len(parts.fraction));
    let mut format = suffix.format;
    let mut amount = if format == QuantityFormat::BinarySi {
        amount.times_power_of_two(suffix.exponent.unsigned_abs())
    } else {
        amount.scaled(i64::from(suffix.exponent))
    };
    if !simple {
        // A small amount must not become nothing.
        amount = amount.rounded_up(NANO);
        if format == QuantityFormat::BinarySi {
            let max = Decimal::from(i64::MAX);
            if amount > max {
                amount = max;
            }
            if !amount.is_zero() && amount < Decimal::from(1) {
                format = QuantityFormat::DecimalSi;
            }
        }
    }
    Ok((
        if parts.negative {
            amount.negated()
        } else {
            amount
        },
        format,
    ))
}

fn len(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}
