//! `Quantity`: a resource amount, as in `500m`, `1536Mi` or `1e3`.
//!
//! A quantity that exists is valid. Its text is what upstream prints for the same input, so objects
//! encode to the same bytes. Numbers of any length are exact. Arithmetic parses the text on demand,
//! so a quantity in an API struct holds only its text (usually shared) and one byte.
//!
//! Equality, order and hash are numeric: `1Ki` equals `1024`. It is not a float.

mod canonical;
mod decimal;
mod parse;

use crate::Str;
use decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};
use std::str::FromStr;
use std::sync::LazyLock;

pub use parse::ParseQuantityError;

/// An exact amount and its suffix format.
///
/// ```
/// use kubist_apimachinery::Quantity;
/// let memory: Quantity = "0.5Gi".parse()?;
/// assert_eq!(memory.to_string(), "512Mi");
/// assert_eq!((memory.clone() + memory).to_string(), "1Gi");
/// assert_eq!("1500m".parse::<Quantity>()?.value(), 2);
/// # Ok::<(), kubist_apimachinery::ParseQuantityError>(())
/// ```
#[derive(Clone)]
pub struct Quantity {
    text: Str,
    format: QuantityFormat,
}

/// The suffix format of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the grammar has these three")]
pub enum QuantityFormat {
    /// `n`, `u`, `m`, none, `k`, `M`, `G`, `T`, `P`, `E`: powers of 1000.
    #[default]
    DecimalSi,
    /// `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei`: powers of 1024.
    BinarySi,
    /// `e3`, `E-6`: powers of ten.
    DecimalExponent,
}

static ZERO: LazyLock<Str> = LazyLock::new(|| Str::from("0"));

impl Quantity {
    /// Creates a quantity from a whole number, written in `format`.
    pub fn new(value: i64, format: QuantityFormat) -> Self {
        Self::from_decimal(&Decimal::from(value), format)
    }

    /// Creates a quantity from thousandths, written with decimal suffixes.
    pub fn from_milli(value: i64) -> Self {
        Self::from_decimal(&Decimal::from(value).scaled(-3), QuantityFormat::DecimalSi)
    }

    /// Returns the text, as it is encoded.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text, as it is encoded, for sharing.
    pub fn text(&self) -> &Str {
        &self.text
    }

    /// Returns the suffix format.
    pub fn format(&self) -> QuantityFormat {
        self.format
    }

    /// Reports whether the amount is 0.
    pub fn is_zero(&self) -> bool {
        // Every zero is printed like this.
        self.as_str() == "0"
    }

    /// Returns the sign: -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match self.as_str() {
            "0" => 0,
            text if text.starts_with('-') => -1,
            _ => 1,
        }
    }

    /// Reports whether the amount is a whole number, however large.
    pub fn is_whole(&self) -> bool {
        self.decimal().exponent() >= 0
    }

    /// Returns the amount rounded away from zero to a whole number; saturates at the limits of
    /// `i64`.
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    /// Returns the amount in thousandths, rounded away from zero; saturates at the limits of `i64`.
    pub fn milli_value(&self) -> i64 {
        self.scaled_value(-3)
    }

    /// Returns the amount in units of 10^`scale`, rounded away from zero; saturates at the limits
    /// of `i64`.
    pub fn scaled_value(&self, scale: i32) -> i64 {
        self.decimal()
            .rounded_up(i64::from(scale))
            .scaled(-i64::from(scale))
            .to_i64_saturating()
    }

    /// Returns the nearest double.
    pub fn to_f64(&self) -> f64 {
        self.decimal().to_f64()
    }

    /// Adds `other`; a zero takes the format of `other`.
    fn sum(&self, other: &Self, negated: bool) -> Self {
        let format = if self.is_zero() {
            other.format
        } else {
            self.format
        };
        let mut addend = other.decimal();
        if negated {
            addend = addend.negated();
        }
        Self::from_decimal(&self.decimal().plus(&addend), format)
    }

    fn from_decimal(amount: &Decimal, format: QuantityFormat) -> Self {
        if amount.is_zero() {
            return Self {
                text: ZERO.clone(),
                format,
            };
        }
        Self {
            text: canonical::print(amount, format).into(),
            format,
        }
    }

    fn decimal(&self) -> Decimal {
        // The text has been parsed before, and printing keeps to the grammar.
        parse::amount(&self.text).unwrap_or_default()
    }
}

/// Zero.
impl Default for Quantity {
    fn default() -> Self {
        Self {
            text: ZERO.clone(),
            format: QuantityFormat::DecimalSi,
        }
    }
}

/// Converts a whole number, with decimal suffixes.
impl From<i64> for Quantity {
    fn from(value: i64) -> Self {
        Self::new(value, QuantityFormat::DecimalSi)
    }
}

/// Parses text, and keeps its allocation if it is canonical.
impl TryFrom<Str> for Quantity {
    type Error = ParseQuantityError;

    fn try_from(text: Str) -> Result<Self, Self::Error> {
        let parsed = parse::parse(&text)?;
        let text = match parsed.canonical {
            None => text,
            Some(canonical) if canonical == "0" => ZERO.clone(),
            Some(canonical) => canonical.into(),
        };
        Ok(Self {
            text,
            format: parsed.format,
        })
    }
}

impl FromStr for Quantity {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(Str::from(text))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quantity({})", self.text)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.text == other.text {
            return Ordering::Equal;
        }
        self.decimal().cmp(&other.decimal())
    }
}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.decimal().hash(state);
    }
}

/// If one operand is more than 4,096 digits away from the other, the smaller one is ignored.
impl Add<&Self> for Quantity {
    type Output = Self;

    fn add(self, other: &Self) -> Self {
        self.sum(other, false)
    }
}

/// Same as with a reference.
impl Add for Quantity {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.sum(&other, false)
    }
}

impl AddAssign<&Self> for Quantity {
    fn add_assign(&mut self, other: &Self) {
        *self = self.sum(other, false);
    }
}

/// If one operand is more than 4,096 digits away from the other, the smaller one is ignored.
impl Sub<&Self> for Quantity {
    type Output = Self;

    fn sub(self, other: &Self) -> Self {
        self.sum(other, true)
    }
}

/// Same as with a reference.
impl Sub for Quantity {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.sum(&other, true)
    }
}

impl SubAssign<&Self> for Quantity {
    fn sub_assign(&mut self, other: &Self) {
        *self = self.sum(other, true);
    }
}

impl Neg for Quantity {
    type Output = Self;

    fn neg(self) -> Self {
        Self::from_decimal(&self.decimal().negated(), self.format)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

/// Accepts strings (surrounding white space is dropped), numbers, and null for zero.
struct Visitor;

impl serde::de::Visitor<'_> for Visitor {
    type Value = Quantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity: a string or a number")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Quantity, E> {
        Ok(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Quantity, E> {
        value.to_string().parse().map_err(E::custom)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Quantity, E> {
        value.to_string().parse().map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
        text.trim().parse().map_err(E::custom)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Quantity, E> {
        Ok(Quantity::default())
    }
}

#[cfg(test)]
mod tests;
