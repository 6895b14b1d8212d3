//! JSON exactly as Go's encoder writes it, so that an object written by Kubist and by upstream's
//! server on one store does not appear changed.
//!
//! Go escapes HTML characters, has its own form of very large and very small numbers, and ends with
//! a line feed. Upstream stores custom resources as maps, so their fields are sorted by name.

use bytes::Bytes;
use kubist_apimachinery::AnyObject;
use kubist_apimachinery::wire::Json;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Encodes an object of a built-in kind, with its fields in the order of its type.
pub(crate) fn typed(object: &dyn AnyObject) -> serde_json::Result<Bytes> {
    encode(&Json::top(object))
}

/// Encodes a custom object, with its fields sorted by name.
///
/// # Errors
/// Raw JSON in it is malformed, or nested more deeply than a tree can be.
pub(crate) fn custom(object: &dyn AnyObject) -> serde_json::Result<Bytes> {
    // The maps of JSON values are sorted.
    encode(&serde_json::to_value(Json::top(object))?)
}

/// Encodes a custom object as clients receive it: with its type first, and with numbers as Go
/// writes them.
pub(crate) fn custom_shown(object: &dyn AnyObject) -> serde_json::Result<Vec<u8>> {
    let mut text = Vec::new();
    Json::top(object).serialize(&mut Serializer::with_formatter(&mut text, GoNumbers))?;
    Ok(text)
}

fn encode(value: &impl Serialize) -> serde_json::Result<Bytes> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Go))?;
    text.push(b'\n');
    // It is stored: room for more would be held as long.
    text.shrink_to_fit();
    Ok(text.into())
}

struct Go;

/// Go writes numbers from `LARGE` on and below `SMALL` with an exponent.
const LARGE: f64 = 1e21;
const SMALL: f64 = 1e-6;

impl Formatter for Go {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let mut tail = rest[at..].chars();
            let escaped = tail.next().map_or(0, u32::from);
            write!(writer, "\\u{escaped:04x}")?;
            rest = tail.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_f64<W>(&mut self, writer: &mut W, value: f64) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        write_number(writer, value)
    }
}

/// Compact JSON in which only numbers follow Go's encoder.
struct GoNumbers;

impl Formatter for GoNumbers {
    fn write_f64<W>(&mut self, writer: &mut W, value: f64) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        write_number(writer, value)
    }
}

fn write_number<W: ?Sized + Write>(writer: &mut W, value: f64) -> io::Result<()> {
    let size = value.abs();
    if size == 0.0 || (SMALL..LARGE).contains(&size) {
        return write!(writer, "{value}");
    }
    let text = format!("{value:e}");
    let sign = if size < 1.0 { "" } else { "+" };
    writer.write_all(text.replace('e', &format!("e{sign}")).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_as_go_writes_them() {
        let value = json!({
            "text": "<ü&>\u{2028}\u{1}\n\"\u{7f}", "b": [1.0, 2.5, -3, 1e20, 1e21, 1.5e-7, 0.000_001],
            "a": null, "large": u64::MAX,
        });
        let text = concat!(
            r#"{"a":null,"b":[1,2.5,-3,100000000000000000000,1e+21,1.5e-7,0.000001],"#,
            r#""large":18446744073709551615,"#,
            r#""text":"\u003cü\u0026\u003e\u2028\u0001\n\""#,
            "\u{7f}\"}\n",
        );
        assert_eq!(encode(&value).unwrap(), text.as_bytes());
    }
}
