//! Equality and order. Numbers of different types compare by what they stand for.

use super::{List, Map, Value};
use crate::error::EvalError;
use std::cmp::Ordering;

/// Reports whether two values are equal. Values of different types are not, with few exceptions.
pub(crate) fn equal<'a>(a: &Value<'a>, b: &Value<'a>) -> Result<bool, EvalError> {
    Ok(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => a.as_str() == b.as_str(),
        (Value::Bytes(a), Value::Bytes(b)) => a.as_slice() == b.as_slice(),
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a.name() == b.name(),
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => return equal(a, b),
            (a, b) => a.is_none() == b.is_none(),
        },
        (Value::List(a), Value::List(b)) => return equal_lists(a, b),
        (Value::Map(a), Value::Map(b)) => return equal_maps(a, b),
        (Value::Opaque(a), Value::Opaque(b)) => return a.value().equals(b.value()),
        (_, Value::Null) | (Value::Null, _) => false,
        // Views do not compare with values of other types, as upstream's do not.
        (Value::List(a), _) if a.is_view() => return Err(EvalError::no_such_overload()),
        (Value::Map(a), _) if a.is_view() => return Err(EvalError::no_such_overload()),
        (Value::Opaque(_), _) => return Err(EvalError::no_such_overload()),
        (Value::Preserved(a), other) => super::json::equals(a, other),
        (other, Value::Preserved(b)) => super::json::equals(b, other),
        (a, b) => numbers(a, b).is_some_and(|it| it == Some(Ordering::Equal)),
    })
}

fn equal_lists<'a>(a: &List<'a>, b: &List<'a>) -> Result<bool, EvalError> {
    if a.len() != b.len() {
        return Ok(false);
    }
    if let Some(declared) = a.unordered() {
        return super::json::equal_unordered(a, b, declared);
    }
    for (a, b) in a.iter().zip(b.iter()) {
        if !equal(&a?, &b?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_maps<'a>(a: &Map<'a>, b: &Map<'a>) -> Result<bool, EvalError> {
    if a.len() != b.len() {
        return Ok(false);
    }
    if let Some(equal) = super::json::equal_objects(a, b) {
        return equal;
    }
    for key in a.keys() {
        let (Some(a), Some(b)) = (a.find(&key)?, b.find(&key)?) else {
            return Ok(false);
        };
        if !equal(&a, &b)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares two values that have an order.
pub(crate) fn compare<'a>(a: &Value<'a>, b: &Value<'a>) -> Result<Ordering, EvalError> {
    Ok(match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.as_str().cmp(b.as_str()),
        (Value::Bytes(a), Value::Bytes(b)) => a.as_slice().cmp(b.as_slice()),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        (a, b) => {
            let order = numbers(a, b).ok_or_else(EvalError::no_such_overload)?;
            return order.ok_or_else(|| EvalError::failed("NaN values cannot be ordered"));
        }
    })
}

/// Compares numbers: none for other values, `Some(None)` if one is NaN.
#[expect(
    clippy::option_option,
    reason = "not numbers, and numbers without order, differ"
)]
fn numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Option<Ordering>> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(int_uint(*a, *b)),
        (Value::Uint(a), Value::Int(b)) => Some(int_uint(*b, *a).reverse()),
        (Value::Double(a), Value::Int(b)) => double_int(*a, *b),
        (Value::Int(a), Value::Double(b)) => double_int(*b, *a).map(Ordering::reverse),
        (Value::Double(a), Value::Uint(b)) => double_uint(*a, *b),
        (Value::Uint(a), Value::Double(b)) => double_uint(*b, *a).map(Ordering::reverse),
        _ => return None,
    })
}

fn int_uint(a: i64, b: u64) -> Ordering {
    u64::try_from(a).map_or(Ordering::Less, |a| a.cmp(&b))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "numbers in range compare as doubles, as upstream's do"
)]
fn double_int(a: f64, b: i64) -> Option<Ordering> {
    if a < i64::MIN as f64 {
        return Some(Ordering::Less);
    }
    if a > i64::MAX as f64 {
        return Some(Ordering::Greater);
    }
    a.partial_cmp(&(b as f64))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "numbers in range compare as doubles, as upstream's do"
)]
fn double_uint(a: f64, b: u64) -> Option<Ordering> {
    if a < 0.0 {
        return Some(Ordering::Less);
    }
    if a > u64::MAX as f64 {
        return Some(Ordering::Greater);
    }
    a.partial_cmp(&(b as f64))
}
