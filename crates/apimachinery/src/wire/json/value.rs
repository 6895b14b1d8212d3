//! Decoding of untyped JSON into a tree, as in upstream's server.
//!
//! A number is an integer if it fits into a signed 64-bit integer, otherwise a double. Upstream
//! stores a double's text and reads it again, so a double whose text is an integer becomes one:
//! `1.0` and `1E0` are 1, and clients with an integer field can read them.

use super::super::{DecodeContext, StrictProblem};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::{Entry, Map};
use serde_json::{Number, Value};
use std::fmt;

/// Repeated names in a tree, by their paths from the current value; paths are only built if there
/// is a repetition.
#[derive(Default)]
pub(super) struct Repeats(Vec<String>);

impl Repeats {
    fn note(&mut self, from: usize, name: &str) {
        let known = self.0.iter().skip(from).any(|it| it == name);
        if !known && self.0.len() < DecodeContext::PROBLEMS_MAX {
            self.0.push(name.to_owned());
        }
    }

    /// Prefixes the paths from an index on with a name or an index.
    fn within(&mut self, from: usize, step: impl fmt::Display) {
        for path in self.0.iter_mut().skip(from) {
            let dot = if path.starts_with('[') { "" } else { "." };
            *path = format!("{step}{dot}{path}");
        }
    }

    /// Reports the repetitions to a decoder.
    pub(super) fn report(self, name: &str, cx: &mut DecodeContext) {
        for path in self.0 {
            let dot = if path.starts_with('[') { "" } else { "." };
            cx.note(StrictProblem::Duplicate, &format!("{name}{dot}{path}"));
        }
    }
}

pub(super) struct ValueSeed<'a>(pub(super) &'a mut Repeats);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "upstream has a double where a signed integer is too small"
        )]
        let number = i64::try_from(value).map_or_else(|_| double(value as f64), Number::from);
        Ok(Value::Number(number))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(double(value)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let Self(repeats) = self;
        let mut list = Vec::new();
        loop {
            let before = repeats.0.len();
            let Some(item) = seq.next_element_seed(ValueSeed(&mut *repeats))? else {
                return Ok(Value::Array(list));
            };
            repeats.within(before, format_args!("[{}]", list.len()));
            list.push(item);
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let Self(repeats) = self;
        let start = repeats.0.len();
        let mut map = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let before = repeats.0.len();
            let value = entries.next_value_seed(ValueSeed(&mut *repeats))?;
            if repeats.0.len() > before {
                repeats.within(before, &name);
            }
            match map.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(value);
                }
                Entry::Occupied(mut place) => {
                    repeats.note(start, place.key());
                    place.insert(value);
                }
            }
        }
        Ok(Value::Object(map))
    }
}

/// Whole doubles below this size become the integer in their text.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns a double, or the integer in its text.
#[expect(
    clippy::cast_possible_truncation,
    reason = "it is taken where it is whole and below 2^53"
)]
fn double(value: f64) -> Number {
    let whole = value as i64;
    if value.abs() < EXACT {
        if value.fract() == 0.0 {
            return whole.into();
        }
    } else if let Ok(whole) = value.to_string().parse::<i64>() {
        // The shortest digits that identify it, then zeros; not always the exact value of the
        // double.
        return whole.into();
    }
    // Numbers in JSON are finite.
    Number::from_f64(value).unwrap_or_else(|| whole.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> (Value, Vec<String>) {
        let mut repeats = Repeats::default();
        let seed = ValueSeed(&mut repeats);
        let value = seed.deserialize(&mut serde_json::Deserializer::from_str(json));
        (value.expect("it is JSON"), repeats.0)
    }

    #[test]
    fn a_double_that_upstream_prints_as_an_integer_becomes_one() {
        for (json, integer) in [
            ("1.0", 1),
            ("1E2", 100),
            ("0.1e1", 1),
            ("-0", 0),
            ("-0.0", 0),
            ("1e-400", 0),
            ("-3.0", -3),
            ("9007199254740993.0", 9_007_199_254_740_992),
            ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854774784.0", 9_223_372_036_854_775_000),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(read(json).0, Value::from(integer), "{json}");
        }
        for (json, double) in [
            ("0.1", 0.1),
            ("1e20", 1e20),
            ("9223372036854775808", 9_223_372_036_854_775_808.0),
            ("-9223372036854775809", -9_223_372_036_854_775_808.0),
            ("18446744073709551615", 18_446_744_073_709_551_615.0),
            ("0.30000000000000004", 0.300_000_000_000_000_04),
        ] {
            assert_eq!(read(json).0, Value::from(double), "{json}");
        }
    }

    #[test]
    fn fractions_are_read_to_the_nearest_double() {
        for text in [
            "0.1234567890123456",
            "1.2345678901234567e-300",
            "7.2057594037927933e16",
            "2.2250738585072014e-308",
        ] {
            let nearest: f64 = text.parse().expect("it is a number");
            assert_eq!(read(text).0.as_f64(), Some(nearest), "{text}");
        }
    }

    #[test]
    fn names_given_twice_are_found_wherever_they_are() {
        for (json, paths) in [
            (r#"{"a":{"b":1,"b":1,"b":2}}"#, vec!["a.b"]),
            (
                r#"[{"x":1,"x":2},[{"x":1,"x":1}],{"x":1}]"#,
                vec!["[0].x", "[1][0].x"],
            ),
            (
                r#"{"a":{"b":{"c":1,"c":2},"b":1},"c":1}"#,
                vec!["a.b.c", "a.b"],
            ),
        ] {
            assert_eq!(read(json).1, paths, "{json}");
        }
        assert_eq!(read(r#"{"a":1,"a":2}"#).0, serde_json::json!({"a": 2}));
    }
}
