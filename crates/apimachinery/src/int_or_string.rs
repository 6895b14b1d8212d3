//! `IntOrString`: a port number or a port name, a count or a percentage.
//!
//! It keeps the given form: the string `"80"` stays a string. It is not a percentage type: any
//! string is accepted, and only [`IntOrString::scaled`] requires `%`.

use crate::Str;
use crate::go_text::{self, ParseIntError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A 32-bit integer or a string.
///
/// ```
/// use kubist_apimachinery::{IntOrString, Rounding};
/// let surge = IntOrString::from("25%");
/// assert_eq!(surge.scaled(10, Rounding::Up), Ok(3));
/// assert_eq!(surge.scaled(10, Rounding::Down), Ok(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the name says that there are two")]
pub enum IntOrString {
    /// A number.
    Int(i32),
    /// A string, which may look like a number.
    String(Str),
}

/// How to round a scaled percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Rounding {
    /// Up.
    Up,
    /// Down.
    Down,
}

/// Why an [`IntOrString`] could not be scaled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScaleError {
    /// The string has no `%` at its end.
    #[error("invalid value for IntOrString: invalid type: string is not a percentage")]
    NotAPercentage,
    /// The part before `%` is not an integer.
    #[error("invalid value for IntOrString: invalid value {}: {reason}", go_text::quote(.value))]
    NotANumber {
        /// The whole string.
        value: String,
        /// The problem.
        reason: ParseIntError,
    },
}

impl IntOrString {
    /// Returns the number, or the number in the string, or 0.
    pub fn int_value(&self) -> i64 {
        match self {
            Self::Int(value) => i64::from(*value),
            Self::String(text) => go_text::atoi(text).unwrap_or(0),
        }
    }

    /// Returns the number, or the percentage of `total`, rounded.
    pub fn scaled(&self, total: i64, rounding: Rounding) -> Result<i64, ScaleError> {
        let text = match self {
            Self::Int(value) => return Ok(i64::from(*value)),
            Self::String(text) => text,
        };
        let number = text.strip_suffix('%').ok_or(ScaleError::NotAPercentage)?;
        let percent = go_text::atoi(number).map_err(|reason| ScaleError::NotANumber {
            value: text.to_string(),
            reason,
        })?;
        let product = i128::from(percent) * i128::from(total);
        let floor = product.div_euclid(100);
        let up = rounding == Rounding::Up && product.rem_euclid(100) != 0;
        let scaled = floor + i128::from(up);
        let limits = i128::from(i64::MIN)..=i128::from(i64::MAX);
        Ok(i64::try_from(scaled.clamp(*limits.start(), *limits.end())).unwrap_or_default())
    }
}

impl Default for IntOrString {
    /// The number 0.
    fn default() -> Self {
        Self::Int(0)
    }
}

impl From<i32> for IntOrString {
    fn from(value: i32) -> Self {
        Self::Int(value)
    }
}

/// Converts to a string; [`str::parse`] converts a decimal text to a number.
impl From<&str> for IntOrString {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<Str> for IntOrString {
    fn from(text: Str) -> Self {
        Self::String(text)
    }
}

impl From<String> for IntOrString {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl FromStr for IntOrString {
    type Err = std::convert::Infallible;

    /// Parses a number if the text is a 32-bit decimal, otherwise a string.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| Self::from(text), Self::Int))
    }
}

impl fmt::Display for IntOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::String(text) => text.fmt(f),
        }
    }
}

impl Serialize for IntOrString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(value) => serializer.serialize_i32(*value),
            Self::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for IntOrString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl serde::de::Visitor<'_> for Visitor {
    type Value = IntOrString;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 32-bit integer or a string")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<IntOrString, E> {
        i32::try_from(value).map(IntOrString::Int).map_err(|_| {
            E::custom(format!(
                "cannot unmarshal number {value} into Go value of type int32"
            ))
        })
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<IntOrString, E> {
        i32::try_from(value).map(IntOrString::Int).map_err(|_| {
            E::custom(format!(
                "cannot unmarshal number {value} into Go value of type int32"
            ))
        })
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<IntOrString, E> {
        Ok(text.into())
    }

    /// Go leaves the number 0.
    fn visit_unit<E: serde::de::Error>(self) -> Result<IntOrString, E> {
        Ok(IntOrString::Int(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_numbers_numbers_and_strings_strings() {
        for (json, value) in [
            ("80", IntOrString::Int(80)),
            ("-1", IntOrString::Int(-1)),
            ("\"80\"", IntOrString::from("80")),
            ("\"http\"", IntOrString::from("http")),
            ("\"\"", IntOrString::from("")),
        ] {
            assert_eq!(
                serde_json::from_str::<IntOrString>(json).ok(),
                Some(value.clone())
            );
            assert_eq!(serde_json::to_string(&value).ok().as_deref(), Some(json));
        }
        assert_eq!(
            serde_json::from_str::<IntOrString>("null").ok(),
            Some(IntOrString::Int(0))
        );
        for json in ["1.5", "2147483648", "-2147483649", "true", "{}", "[1]"] {
            assert!(serde_json::from_str::<IntOrString>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn parsing_text_makes_numbers_of_what_looks_like_one() {
        for (text, value) in [
            ("80", IntOrString::Int(80)),
            ("+80", IntOrString::Int(80)),
            ("2147483648", IntOrString::from("2147483648")),
            ("10%", IntOrString::from("10%")),
        ] {
            assert_eq!(text.parse(), Ok(value));
        }
        assert_eq!(IntOrString::from("12").int_value(), 12);
        assert_eq!(IntOrString::from("x").int_value(), 0);
        assert_eq!(IntOrString::from("x").to_string(), "x");
        assert_eq!(IntOrString::Int(7).to_string(), "7");
    }

    #[test]
    fn percentages_scale_and_round() {
        use Rounding::{Down, Up};
        for (value, total, rounding, expected) in [
            (IntOrString::Int(5), 100, Up, 5),
            (IntOrString::from("90%"), 100, Up, 90),
            (IntOrString::from("90%"), 95, Up, 86),
            (IntOrString::from("90%"), 95, Down, 85),
            (IntOrString::from("0%"), 95, Up, 0),
            (IntOrString::from("-25%"), 10, Up, -2),
            (IntOrString::from("-25%"), 10, Down, -3),
            (
                IntOrString::from("9223372036854775807%"),
                i64::MAX,
                Up,
                i64::MAX,
            ),
        ] {
            assert_eq!(
                value.scaled(total, rounding),
                Ok(expected),
                "{value} of {total}"
            );
        }
        for (text, expected) in [
            (
                "90",
                "invalid value for IntOrString: invalid type: string is not a percentage",
            ),
            (
                "a%",
                "invalid value for IntOrString: invalid value \"a%\": \
                 strconv.Atoi: parsing \"a\": invalid syntax",
            ),
        ] {
            let error = IntOrString::from(text)
                .scaled(1, Up)
                .expect_err("it is no percentage");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn it_is_no_larger_than_its_string() {
        assert_eq!(size_of::<IntOrString>(), 16);
    }
}
