//! [`Amount`]: an exact number, with the traces of how upstream represents it.
//!
//! Upstream keeps most quantities as an integer of 64 bits with a power of ten, and others as a
//! decimal number of any length. Which of them it is decides whether a quantity is an integer, and
//! how it becomes a double.

use kubist_apimachinery::{Quantity, QuantityFormat};
use std::cmp::Ordering;

/// An exact number.
#[derive(Debug, Clone)]
pub(super) struct Amount {
    /// The number, in the one format that represents all numbers.
    number: Quantity,
    form: Form,
}

/// How upstream represents a number.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// An integer, times a power of ten.
    Small(i64, i32),
    /// A decimal number with this many digits after the point.
    Large(i32),
}

/// The digits after the point of a number that was rounded.
const NANO: i32 = 9;
/// The most digits of a small number.
const SMALL_DIGITS: usize = 18;

impl From<i64> for Amount {
    fn from(number: i64) -> Self {
        Self {
            number: Quantity::new(number, QuantityFormat::DecimalExponent),
            form: Form::Small(number, 0),
        }
    }
}

impl Amount {
    /// Parses a quantity.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parsed: Quantity = text
            .parse()
            .map_err(|it: kubist_apimachinery::ParseQuantityError| it.to_string())?;
        // A sum has the format of its first operand.
        let one = Quantity::new(1, QuantityFormat::DecimalExponent);
        let form = small(text).unwrap_or_else(|| large(text, &parsed));
        let number = one.clone() + parsed - &one;
        Ok(Self { number, form })
    }

    /// Returns the sign: -1, 0 or 1.
    pub(super) fn sign(&self) -> i64 {
        i64::from(self.number.signum())
    }

    /// Compares two numbers.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.number.cmp(&other.number)
    }

    /// Returns the integer; none if upstream does not convert it.
    pub(super) fn integer(&self) -> Option<i64> {
        match self.form {
            Form::Small(0, 0..) => Some(0),
            Form::Small(value, scale) => scaled(value, u32::try_from(scale).ok()?),
            Form::Large(_) => None,
        }
    }

    /// Returns a double that is close, with upstream's rounding.
    pub(super) fn approximate(&self) -> f64 {
        let (base, exponent) = match self.form {
            #[expect(clippy::cast_precision_loss, reason = "rounded, as upstream does")]
            Form::Small(value, scale) => (value as f64, scale),
            Form::Large(scale) => (self.unscaled(scale), scale.saturating_neg()),
        };
        if exponent == 0 {
            return base;
        }
        base * power_of_ten(exponent)
    }

    /// Returns the number times a power of ten.
    fn unscaled(&self, scale: i32) -> f64 {
        let text = self.number.as_str();
        let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let exponent: i64 = exponent.parse().unwrap_or_default();
        let text = format!("{digits}e{}", exponent.saturating_add(i64::from(scale)));
        text.parse().unwrap_or_default()
    }

    /// Returns the sum.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            number: self.number.clone() + &other.number,
            form: self.form.plus(other.form),
        }
    }

    /// Returns the difference.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let negated = match other.form {
            Form::Small(value, scale) => Form::Small(value.wrapping_neg(), scale),
            large @ Form::Large(_) => large,
        };
        Self {
            number: self.number.clone() - &other.number,
            form: self.form.plus(negated),
        }
    }
}

impl Form {
    fn plus(self, other: Self) -> Self {
        let small = match (self, other) {
            (Self::Small(..), Self::Small(0, _)) => Some(self),
            (Self::Small(0, _), Self::Small(..)) => Some(other),
            (Self::Small(a, at), Self::Small(b, bt)) => {
                let scale = at.min(bt);
                let a = scaled(a, at.abs_diff(scale));
                let b = scaled(b, bt.abs_diff(scale));
                a.zip(b)
                    .and_then(|(a, b)| a.checked_add(b))
                    .map(|sum| Self::Small(sum, scale))
            }
            _ => None,
        };
        small.unwrap_or_else(|| Self::Large(self.places().max(other.places())))
    }

    /// Returns the number of digits after the point.
    const fn places(self) -> i32 {
        match self {
            Self::Small(_, scale) => scale.saturating_neg(),
            Self::Large(places) => places,
        }
    }
}

/// Multiplies with a power of ten.
fn scaled(value: i64, power: u32) -> Option<i64> {
    if value == 0 {
        return Some(0);
    }
    value.checked_mul(10_i64.checked_pow(power)?)
}

/// Returns a power of ten as Go computes it, with the product or quotient of two exact ones.
fn power_of_ten(exponent: i32) -> f64 {
    let power = |exponent: u32| format!("1e{exponent}").parse::<f64>().unwrap_or_default();
    let size = exponent.unsigned_abs();
    match exponent {
        309.. => f64::INFINITY,
        0..=308 => power(size / 32 * 32) * power(size % 32),
        -323..=-1 => {
            let small = format!("1e-{}", size / 32 * 32);
            small.parse::<f64>().unwrap_or_default() / power(size % 32)
        }
        _ => 0.0,
    }
}

/// The parts of a text.
struct Parts<'t> {
    is_negative: bool,
    /// The digits before the point, without leading zeros.
    whole: &'t str,
    fraction: &'t str,
    suffix: &'t str,
}

fn parts(text: &str) -> Parts<'_> {
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = rest.split_at(digits(rest));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    Parts {
        is_negative: text.starts_with('-'),
        whole: whole.trim_start_matches('0'),
        fraction,
        suffix,
    }
}

/// Returns the power of two that a suffix stands for.
fn power_of_two(suffix: &str) -> Option<u32> {
    let powers = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let at = powers.iter().position(|it| *it == suffix)?;
    u32::try_from(at).ok().map(|at| (at + 1) * 10)
}

/// Returns the power of ten that a suffix stands for.
fn power(suffix: &str) -> Option<i32> {
    let powers = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    if let Some(at) = powers.iter().position(|it| *it == suffix) {
        return i32::try_from(at).ok().map(|at| (at - 3) * 3);
    }
    suffix.strip_prefix(['e', 'E'])?.parse().ok()
}

/// Returns the form of a number that upstream represents with 64 bits.
fn small(text: &str) -> Option<Form> {
    let parts = parts(text);
    let digits = parts.whole.len().max(1);
    let (value, scale) = if let Some(power) = power_of_two(parts.suffix) {
        let spare = 14 - i64::try_from(digits).ok()? - i64::from(power) * 3 / 10;
        if spare < 0 || !parts.fraction.is_empty() {
            return None;
        }
        let value: i64 = if parts.whole.is_empty() {
            0
        } else {
            parts.whole.parse().ok()?
        };
        (value.checked_mul(1_i64.checked_shl(power)?)?, 0)
    } else {
        let places = i32::try_from(parts.fraction.len()).ok()?;
        let scale = power(parts.suffix)?.checked_sub(places)?;
        if digits + parts.fraction.len() > SMALL_DIGITS || scale < -NANO {
            return None;
        }
        let digits = format!("0{}{}", parts.whole, parts.fraction);
        (digits.parse().ok()?, scale)
    };
    let value = if parts.is_negative { -value } else { value };
    Some(Form::Small(value, scale))
}

/// Returns the form of any other number, which upstream rounds unless it is zero or the largest
/// one.
fn large(text: &str, parsed: &Quantity) -> Form {
    let parts = parts(text);
    let is_binary = power_of_two(parts.suffix).is_some();
    if parsed.is_zero() {
        let places = i32::try_from(parts.fraction.len()).unwrap_or(i32::MAX);
        let power = power(parts.suffix).unwrap_or_default();
        return Form::Large(places.saturating_sub(power));
    }
    let max = Quantity::new(i64::MAX, QuantityFormat::DecimalSi);
    let is_max = is_binary && (*parsed == max || -parsed.clone() == max);
    Form::Large(if is_max { 0 } else { NANO })
}
