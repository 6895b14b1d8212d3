//! The operators `+`, `-`, `*`, `/`, `%` and negation. What they do follows from the values.

use super::{Blob, Text, Value};
use crate::error::EvalError;

type Outcome<'a> = Result<Value<'a>, EvalError>;

fn int<'a>(number: Option<i64>) -> Outcome<'a> {
    number
        .map(Value::Int)
        .ok_or_else(|| EvalError::failed("integer overflow"))
}

fn uint<'a>(number: Option<u64>) -> Outcome<'a> {
    number
        .map(Value::Uint)
        .ok_or_else(|| EvalError::failed("unsigned integer overflow"))
}

/// Adds numbers and times, and concatenates strings, bytes and lists.
pub(crate) fn add<'a>(a: Value<'a>, b: Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_add(b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_add(b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::String(a), Value::String(b)) => {
            let mut text = String::with_capacity(a.as_str().len() + b.as_str().len());
            text.push_str(a.as_str());
            text.push_str(b.as_str());
            Ok(Value::String(Text::from(text)))
        }
        (Value::Bytes(a), Value::Bytes(b)) => Ok(Value::Bytes(Blob::from(
            [a.as_slice(), b.as_slice()].concat(),
        ))),
        (Value::List(a), Value::List(b)) => a.concat(b).map(Value::List),
        (Value::Duration(a), Value::Duration(b)) => a.add(b).map(Value::Duration),
        (Value::Timestamp(a), Value::Duration(b)) | (Value::Duration(b), Value::Timestamp(a)) => {
            a.add(b).map(Value::Timestamp)
        }
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Subtracts numbers and times.
pub(crate) fn subtract<'a>(a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_sub(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_sub(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Duration(a), Value::Duration(b)) => a.subtract(*b).map(Value::Duration),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.subtract(*b).map(Value::Duration),
        (Value::Timestamp(a), Value::Duration(b)) => a.add(b.negate()?).map(Value::Timestamp),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Multiplies numbers.
pub(crate) fn multiply<'a>(a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_mul(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_mul(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Divides numbers.
pub(crate) fn divide<'a>(a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(EvalError::failed("division by zero"))
        }
        (Value::Int(a), Value::Int(b)) => int(a.checked_div(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_div(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Returns the remainder of a division of integers.
pub(crate) fn modulo<'a>(a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(EvalError::failed("modulus by zero"))
        }
        (Value::Int(a), Value::Int(b)) => int(a.checked_rem(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_rem(*b)),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Negates a number or a duration.
pub(crate) fn negate<'a>(a: &Value<'a>) -> Outcome<'a> {
    match a {
        Value::Int(a) => int(a.checked_neg()),
        Value::Double(a) => Ok(Value::Double(-a)),
        Value::Duration(a) => a.negate().map(Value::Duration),
        _ => Err(EvalError::no_such_overload()),
    }
}
