//! Conversions between types: `int()`, `string()` and the others.

use super::{Blob, Duration, Text, Timestamp, Value};
use crate::error::EvalError;

type Outcome<'a> = Result<Value<'a>, EvalError>;

fn impossible<'a>(from: &Value<'_>, to: &str) -> Outcome<'a> {
    let from = match from.runtime_type() {
        crate::cel_type::Type::List(_) => "list(dyn)".into(),
        crate::cel_type::Type::Map(_) => "map(dyn, dyn)".into(),
        other => other.name(),
    };
    Err(EvalError::failed(format!(
        "type conversion error from '{from}' to '{to}'"
    )))
}

fn int_overflow() -> EvalError {
    EvalError::failed("integer overflow")
}

fn uint_overflow() -> EvalError {
    EvalError::failed("unsigned integer overflow")
}

/// Converts to `int`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the range is checked"
)]
pub(crate) fn to_int<'a>(value: &Value<'a>) -> Outcome<'a> {
    Ok(Value::Int(match value {
        Value::Int(it) => *it,
        Value::Uint(it) => i64::try_from(*it).map_err(|_| int_overflow())?,
        Value::Double(it) if *it > i64::MIN as f64 && *it < i64::MAX as f64 => *it as i64,
        Value::Double(_) => return Err(int_overflow()),
        Value::Timestamp(it) => it.seconds(),
        Value::Duration(it) => it.nanoseconds(),
        Value::String(text) => match text.as_str().parse() {
            Ok(number) => number,
            Err(_) => return impossible(value, "int"),
        },
        _ => return impossible(value, "int"),
    }))
}

/// Converts to `uint`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked"
)]
pub(crate) fn to_uint<'a>(value: &Value<'a>) -> Outcome<'a> {
    Ok(Value::Uint(match value {
        Value::Uint(it) => *it,
        Value::Int(it) => u64::try_from(*it).map_err(|_| uint_overflow())?,
        Value::Double(it) if *it >= 0.0 && *it < 18_446_744_073_709_551_616.0 => *it as u64,
        Value::Double(_) => return Err(uint_overflow()),
        Value::String(text) if !text.as_str().starts_with('+') => match text.as_str().parse() {
            Ok(number) => number,
            Err(_) => return impossible(value, "uint"),
        },
        _ => return impossible(value, "uint"),
    }))
}

/// Converts to `double`.
#[expect(
    clippy::cast_precision_loss,
    reason = "conversions to double lose precision"
)]
pub(crate) fn to_double<'a>(value: &Value<'a>) -> Outcome<'a> {
    Ok(Value::Double(match value {
        Value::Double(it) => *it,
        Value::Int(it) => *it as f64,
        Value::Uint(it) => *it as f64,
        Value::String(text) => match text.as_str().parse::<f64>() {
            // A number that is too large is an error in Go and infinity in Rust.
            Ok(number)
                if number.is_finite() || !text.as_str().bytes().any(|it| it.is_ascii_digit()) =>
            {
                number
            }
            _ => return impossible(value, "double"),
        },
        _ => return impossible(value, "double"),
    }))
}

/// Converts to `bool`.
pub(crate) fn to_bool<'a>(value: &Value<'a>) -> Outcome<'a> {
    match value {
        Value::Bool(it) => Ok(Value::Bool(*it)),
        Value::String(text) => match text.as_str() {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
            _ => impossible(value, "bool"),
        },
        _ => impossible(value, "bool"),
    }
}

/// Converts to `bytes`.
pub(crate) fn to_bytes<'a>(value: &Value<'a>) -> Outcome<'a> {
    match value {
        Value::Bytes(_) => Ok(value.clone()),
        Value::String(Text::Borrowed(text)) => Ok(Value::Bytes(Blob::Borrowed(text.as_bytes()))),
        Value::String(text) => Ok(Value::Bytes(Blob::from(text.as_str().as_bytes().to_vec()))),
        _ => impossible(value, "bytes"),
    }
}

/// Converts to `string`.
pub(crate) fn to_string<'a>(value: &Value<'a>) -> Outcome<'a> {
    let text = match value {
        Value::String(_) => return Ok(value.clone()),
        Value::Bool(it) => it.to_string(),
        Value::Int(it) => it.to_string(),
        Value::Uint(it) => it.to_string(),
        Value::Double(it) => super::format::shortest(*it),
        Value::Timestamp(it) => it.to_string(),
        Value::Duration(it) => it.seconds_text(),
        Value::Type(it) => it.name().to_string(),
        Value::Bytes(it) => match std::str::from_utf8(it.as_slice()) {
            Ok(text) => text.to_owned(),
            Err(_) => {
                return Err(EvalError::failed(
                    "invalid UTF-8 in bytes, cannot convert to string",
                ));
            }
        },
        _ => return impossible(value, "string"),
    };
    Ok(Value::string(text))
}

/// Converts to a timestamp.
pub(crate) fn to_timestamp<'a>(value: &Value<'a>) -> Outcome<'a> {
    let overflow = || EvalError::failed("timestamp overflow");
    match value {
        Value::Timestamp(_) => Ok(value.clone()),
        Value::Int(it) => Timestamp::from_seconds(*it)
            .map(Value::Timestamp)
            .ok_or_else(overflow),
        Value::String(text) => match Timestamp::parse(text.as_str()) {
            Some((it, true)) => Ok(Value::Timestamp(it)),
            Some(_) => Err(overflow()),
            None => impossible(value, "google.protobuf.Timestamp"),
        },
        _ => impossible(value, "google.protobuf.Timestamp"),
    }
}

/// Converts to a duration.
pub(crate) fn to_duration<'a>(value: &Value<'a>) -> Outcome<'a> {
    match value {
        Value::Duration(_) => Ok(value.clone()),
        Value::String(text) => match Duration::parse(text.as_str()) {
            Some(it) => Ok(Value::Duration(it)),
            None => impossible(value, "google.protobuf.Duration"),
        },
        _ => impossible(value, "google.protobuf.Duration"),
    }
}
