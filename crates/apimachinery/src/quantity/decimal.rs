//! `Decimal`: an exact decimal number of any length, for quantities.
//!
//! It stores digits and a power of ten, normalised, so comparing never expands a large exponent. It
//! has only the operations that quantities need, each linear in the number of digits.

use std::cmp::Ordering;

/// `digits` × 10^`exponent`, with a sign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Decimal {
    negative: bool,
    /// Digits 0 to 9, the most significant first; neither the first nor the last is 0. Empty for
    /// zero, which has exponent 0 and no sign.
    digits: Vec<u8>,
    exponent: i64,
}

/// Sums ignore an operand that is this many digits below the other.
const DIGITS_APART_MAX: i64 = 4096;

impl Decimal {
    /// Creates a number from ASCII digits.
    pub(super) fn new(negative: bool, digits: impl Iterator<Item = u8>, exponent: i64) -> Self {
        let digits = digits.map(|digit| digit.wrapping_sub(b'0')).collect();
        Self {
            negative,
            digits,
            exponent,
        }
        .normalised()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn is_negative(&self) -> bool {
        self.negative
    }

    pub(super) fn exponent(&self) -> i64 {
        self.exponent
    }

    pub(super) fn negated(mut self) -> Self {
        self.negative = !self.negative && !self.is_zero();
        self
    }

    /// Multiplies by 10^`exponent`.
    pub(super) fn scaled(mut self, exponent: i64) -> Self {
        if !self.is_zero() {
            self.exponent += exponent;
        }
        self
    }

    /// Multiplies by 2^`power`.
    pub(super) fn times_power_of_two(mut self, power: u32) -> Self {
        let mut left = power;
        while left > 0 {
            // 9 × 2^16 plus any carry fits into u32.
            let step = left.min(16);
            let mut carry = 0_u32;
            for digit in self.digits.iter_mut().rev() {
                let product = (u32::from(*digit) << step) + carry;
                *digit = ones(product);
                carry = product / 10;
            }
            let mut front = Vec::new();
            while carry > 0 {
                front.push(ones(carry));
                carry /= 10;
            }
            self.digits.splice(0..0, front.into_iter().rev());
            left -= step;
        }
        self.normalised()
    }

    /// Divides by 1024, if the result is a whole number.
    pub(super) fn kibi(&self) -> Option<Self> {
        if self.is_zero() || self.exponent < 0 {
            return None;
        }
        let mut rest = 0_u32;
        let mut quotient = Vec::with_capacity(self.digits.len());
        for digit in self.whole_digits() {
            let dividend = rest * 10 + u32::from(digit);
            quotient.push(ones(dividend / 1024));
            rest = dividend % 1024;
        }
        let quotient = Self {
            negative: self.negative,
            digits: quotient,
            exponent: 0,
        };
        (rest == 0).then(|| quotient.normalised())
    }

    /// Rounds away from zero to a multiple of 10^`scale`.
    pub(super) fn rounded_up(mut self, scale: i64) -> Self {
        if self.is_zero() || self.exponent >= scale {
            return self;
        }
        let dropped = usize::try_from(scale - self.exponent).unwrap_or(usize::MAX);
        let kept = self.digits.len().saturating_sub(dropped);
        self.digits.truncate(kept);
        self.exponent = scale;
        // The last digit was not 0, so something was lost and the amount grows by one.
        let mut carry = true;
        for digit in self.digits.iter_mut().rev() {
            *digit = if *digit == 9 { 0 } else { *digit + 1 };
            carry = *digit == 0;
            if !carry {
                break;
            }
        }
        if carry {
            self.digits.insert(0, 1);
        }
        self.normalised()
    }

    /// Returns the sum.
    pub(super) fn plus(&self, other: &Self) -> Self {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let (low, high) = if self.exponent < other.exponent {
            (self, other)
        } else {
            (other, self)
        };
        let apart = high.exponent.saturating_sub(low.exponent);
        let length = i64::try_from(low.digits.len()).unwrap_or(i64::MAX);
        if apart.saturating_sub(length) > DIGITS_APART_MAX {
            return high.clone();
        }
        let mut shifted = high.digits.clone();
        let zeros = usize::try_from(apart).unwrap_or_default();
        shifted.resize(shifted.len() + zeros, 0);
        let exponent = low.exponent;
        let sum = |negative, digits| {
            Self {
                negative,
                digits,
                exponent,
            }
            .normalised()
        };
        if low.negative == high.negative {
            return sum(low.negative, added(&shifted, &low.digits));
        }
        match compare_digits(&shifted, &low.digits) {
            Ordering::Less => sum(low.negative, subtracted(&low.digits, &shifted)),
            _ => sum(high.negative, subtracted(&shifted, &low.digits)),
        }
    }

    /// Converts to `i64`, saturating at its limits. The fraction is dropped.
    pub(super) fn to_i64_saturating(&self) -> i64 {
        let limit = if self.negative { i64::MIN } else { i64::MAX };
        if self.magnitude() > 19 {
            return limit;
        }
        let value = self
            .whole_digits()
            .fold(0_i128, |value, digit| value * 10 + i128::from(digit));
        i64::try_from(if self.negative { -value } else { value }).unwrap_or(limit)
    }

    /// Returns the nearest double.
    pub(super) fn to_f64(&self) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        // Rust's parser rounds correctly, and the text is always a number.
        format!("{sign}{}e{}", self.digits_text(0), self.exponent)
            .parse()
            .unwrap_or_default()
    }

    /// Returns the digits as text, followed by `zeros` zeros.
    pub(super) fn digits_text(&self, zeros: usize) -> String {
        let digits = self.digits.iter().map(|digit| char::from(b'0' + digit));
        digits.chain(std::iter::repeat_n('0', zeros)).collect()
    }

    /// Returns the digits before the point.
    fn whole_digits(&self) -> impl Iterator<Item = u8> {
        let before = self.magnitude().clamp(0, 1 << 32);
        let count = usize::try_from(before).unwrap_or_default();
        self.digits
            .iter()
            .copied()
            .chain(std::iter::repeat(0))
            .take(count)
    }

    /// Returns the number of digits before the point; 0 or less for a fraction.
    fn magnitude(&self) -> i64 {
        self.exponent
            .saturating_add(i64::try_from(self.digits.len()).unwrap_or(i64::MAX))
    }

    fn normalised(mut self) -> Self {
        let leading = self.digits.iter().take_while(|&&digit| digit == 0).count();
        self.digits.drain(..leading);
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
        if self.digits.is_empty() {
            return Self::default();
        }
        self
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::new(value < 0, value.unsigned_abs().to_string().bytes(), 0)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |it: &Self| {
            if it.is_zero() {
                0
            } else {
                1 - 2 * i32::from(it.negative)
            }
        };
        let by_size = || {
            let by_magnitude = self.magnitude().cmp(&other.magnitude());
            // Normalised digits of one magnitude compare as fractions do.
            by_magnitude.then_with(|| self.digits.cmp(&other.digits))
        };
        sign(self)
            .cmp(&sign(other))
            .then_with(|| match (self.is_zero(), self.negative) {
                (true, _) => Ordering::Equal,
                (false, false) => by_size(),
                (false, true) => by_size().reverse(),
            })
    }
}

/// Returns the last decimal digit.
fn ones(value: u32) -> u8 {
    u8::try_from(value % 10).unwrap_or_default()
}

/// Compares numbers with possible leading zeros.
fn compare_digits(left: &[u8], right: &[u8]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn added(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut carry = 0;
    let mut sum: Vec<u8> = columns(left, right)
        .map(|(a, b)| {
            let column = a + b + carry;
            carry = column / 10;
            column % 10
        })
        .collect();
    sum.push(carry);
    sum.reverse();
    sum
}

/// Subtracts; `left` must not be less than `right`.
fn subtracted(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut borrow = 0;
    let mut difference: Vec<u8> = columns(left, right)
        .map(|(a, b)| {
            let column = 10 + a - b - borrow;
            borrow = u8::from(column < 10);
            column % 10
        })
        .collect();
    difference.reverse();
    difference
}

/// Iterates over pairs of digits from the last on, with zeros for the shorter number.
fn columns(left: &[u8], right: &[u8]) -> impl Iterator<Item = (u8, u8)> {
    let length = left.len().max(right.len());
    let padded = move |digits: &[u8], column: usize| {
        digits
            .len()
            .checked_sub(column + 1)
            .map_or(0, |index| digits[index])
    };
    (0..length).map(move |column| (padded(left, column), padded(right, column)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decimal(value: i128, exponent: i64) -> Decimal {
        Decimal::new(
            value < 0,
            value.unsigned_abs().to_string().bytes(),
            exponent,
        )
    }

    #[test]
    fn far_exponents_neither_expand_nor_overflow() {
        let (huge, tiny) = (decimal(1, 1 << 40), decimal(-1, -(1 << 40)));
        assert!(tiny < huge);
        assert_eq!(huge.plus(&tiny), huge);
        assert_eq!(tiny.plus(&huge), huge);
        assert_eq!(huge.to_i64_saturating(), i64::MAX);
        assert_eq!(tiny.clone().rounded_up(-9), decimal(-1, -9));
        assert!(huge.to_f64().is_infinite());
        assert!(tiny.to_f64().abs() < f64::MIN_POSITIVE);
    }

    proptest! {
        #[test]
        fn sums_and_order_are_those_of_integers(
            a in -(1_i128 << 90)..1 << 90,
            b in -(1_i128 << 90)..1 << 90,
            shift in 0_u32..8,
        ) {
            let scale = 10_i128.pow(shift);
            let shifted = decimal(b, i64::from(shift));
            prop_assert_eq!(decimal(a, 0).plus(&shifted), decimal(a + b * scale, 0));
            prop_assert_eq!(shifted.plus(&decimal(a, 0)), decimal(a + b * scale, 0));
            prop_assert_eq!(decimal(a, 0).cmp(&shifted), a.cmp(&(b * scale)));
            prop_assert_eq!(decimal(a, 0).plus(&decimal(a, 0).negated()), Decimal::default());
        }

        #[test]
        fn powers_of_two_and_rounding_are_those_of_integers(
            a in -(1_i128 << 60)..1 << 60,
            power in 0_u32..61,
            dropped in 0_u32..20,
        ) {
            let product = decimal(a, 0).times_power_of_two(power);
            prop_assert_eq!(&product, &decimal(a << power, 0));
            let expected = (a << power) % 1024 == 0 && a != 0;
            prop_assert_eq!(product.kibi(), expected.then(|| decimal((a << power) / 1024, 0)));
            let scale = 10_i128.pow(dropped);
            let rounded = a.abs() / scale + i128::from(a % scale != 0);
            let rounded = decimal(rounded * a.signum(), i64::from(dropped));
            prop_assert_eq!(decimal(a, 0).rounded_up(i64::from(dropped)), rounded);
        }

        #[test]
        fn conversions_saturate(a in any::<i64>(), shift in -30_i64..30) {
            prop_assert_eq!(Decimal::from(a).to_i64_saturating(), a);
            let shifted = Decimal::from(a).scaled(shift).to_i64_saturating();
            prop_assert_eq!(shifted.signum() * a.signum() >= 0, true);
        }
    }
}
