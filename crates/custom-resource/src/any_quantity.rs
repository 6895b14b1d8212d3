//! `AnyQuantity`: a quantity in an object as it is written there.
//!
//! A custom resource's schema accepts `memory: 4294967296` as well as `memory: "4Gi"`, and servers
//! keep what was written, also text such as `1000m` that `Quantity` would print as `1`. This type
//! keeps it too, so that an object that is read and written stays as it was. It is not checked
//! until it is parsed.

use kubist_apimachinery::{ParseQuantityError, Quantity, Str};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A quantity, as an integer or as text.
///
/// ```
/// use kubist_custom_resource::AnyQuantity;
/// let memory: AnyQuantity = serde_json::from_str("4294967296")?;
/// assert_eq!(memory.parse()?, AnyQuantity::from("4Gi").parse()?);
/// assert_eq!(serde_json::to_string(&memory)?, "4294967296");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "schemas accept these two")]
pub enum AnyQuantity {
    /// An integer, without a suffix.
    Int(i64),
    /// Text, which may have a suffix.
    String(Str),
}

impl AnyQuantity {
    /// Returns the amount.
    ///
    /// # Errors
    /// The text is no quantity.
    pub fn parse(&self) -> Result<Quantity, ParseQuantityError> {
        match self {
            Self::Int(value) => Ok((*value).into()),
            Self::String(text) => text.parse(),
        }
    }
}

impl Default for AnyQuantity {
    /// The number 0.
    fn default() -> Self {
        Self::Int(0)
    }
}

impl From<i64> for AnyQuantity {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for AnyQuantity {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<&Quantity> for AnyQuantity {
    fn from(quantity: &Quantity) -> Self {
        Self::String(quantity.to_string().into())
    }
}

impl fmt::Display for AnyQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::String(text) => text.fmt(f),
        }
    }
}

impl Serialize for AnyQuantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for AnyQuantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl serde::de::Visitor<'_> for Visitor {
    type Value = AnyQuantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer or a string")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<AnyQuantity, E> {
        Ok(AnyQuantity::Int(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<AnyQuantity, E> {
        let value = i64::try_from(value);
        value.map(AnyQuantity::Int).map_err(|_| {
            let text = "an integer must be at most 9223372036854775807; write a string";
            E::custom(text)
        })
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<AnyQuantity, E> {
        Ok(text.into())
    }
}
