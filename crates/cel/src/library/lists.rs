//! Kubernetes' functions on lists: order, sums, extremes and positions.
//!
//! Elements that cannot be compared with each other, such as NaN, are neither less nor greater.

use super::Library;
use super::strings::costs;
use crate::error::EvalError;
use crate::function::Function;
use crate::value::{Duration, List, Value, arithmetic, compare};
use std::cmp::Ordering;

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// Declares a member of lists of each type that has an order.
macro_rules! members {
    ($function:expr, $implementation:expr, $($kind:literal: $id:literal -> $result:literal),*) => {
        $function
            $(.member($id, concat!("list(", $kind, ") -> ", $result), $implementation))*
            .costs(costs::searched, costs::search)
    };
}

/// Returns the list that is the first argument.
fn list_of<'s, 'a>(arguments: &'s [Value<'a>]) -> Result<&'s List<'a>, EvalError> {
    match arguments {
        [Value::List(list), ..] => Ok(list),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Reports whether values of this type have an order.
pub(super) const fn is_comparable(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Timestamp(_)
            | Value::Duration(_)
    )
}

fn comparable(value: Outcome<'_>) -> Outcome<'_> {
    let value = value?;
    if is_comparable(&value) {
        return Ok(value);
    }
    Err(EvalError::no_such_overload())
}

fn is_sorted<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let mut previous: Option<Value<'a>> = None;
    for next in list_of(arguments)?.iter().map(comparable) {
        let next = next?;
        if let Some(previous) = &previous
            && compare::compare(previous, &next) == Ok(Ordering::Greater)
        {
            return Ok(Value::Bool(false));
        }
        previous = Some(next);
    }
    Ok(Value::Bool(true))
}

fn extreme<'a>(arguments: &[Value<'a>], name: &str, replaces: Ordering) -> Outcome<'a> {
    let mut found: Option<Value<'a>> = None;
    for next in list_of(arguments)?.iter().map(comparable) {
        let next = next?;
        let stays = found
            .as_ref()
            .is_some_and(|it| compare::compare(it, &next) != Ok(replaces));
        if !stays {
            found = Some(next);
        }
    }
    found.ok_or_else(|| EvalError::failed(format!("{name} called on empty list")))
}

fn sum<'a>(arguments: &[Value<'a>], zero: Value<'a>) -> Outcome<'a> {
    let mut sum = zero;
    for next in list_of(arguments)?.iter() {
        sum = arithmetic::add(sum, next?)?;
    }
    Ok(sum)
}

fn position<'a>(arguments: &[Value<'a>], backwards: bool) -> Outcome<'a> {
    let [Value::List(list), wanted] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let length = list.len();
    let is_wanted = |at: &usize| {
        let element = list.get(*at).map(Option::unwrap_or_default);
        element.and_then(|it| compare::equal(&it, wanted)) == Ok(true)
    };
    let found = if backwards {
        (0..length).rev().find(is_wanted)
    } else {
        (0..length).find(is_wanted)
    };
    let position = found.and_then(|it| i64::try_from(it).ok());
    Ok(Value::Int(position.unwrap_or(-1)))
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let functions = vec![
        members!(
            Function::new("isSorted"),
            is_sorted,
            "int": "list_int_is_sorted_bool" -> "bool",
            "uint": "list_uint_is_sorted_bool" -> "bool",
            "double": "list_double_is_sorted_bool" -> "bool",
            "bool": "list_bool_is_sorted_bool" -> "bool",
            "duration": "list_duration_is_sorted_bool" -> "bool",
            "timestamp": "list_timestamp_is_sorted_bool" -> "bool",
            "string": "list_string_is_sorted_bool" -> "bool",
            "bytes": "list_bytes_is_sorted_bool" -> "bool"
        ),
        Function::new("sum")
            .member("list_int_sum_int", "list(int) -> int", |it| {
                sum(it, Value::Int(0))
            })
            .member("list_uint_sum_uint", "list(uint) -> uint", |it| {
                sum(it, Value::Uint(0))
            })
            .member("list_double_sum_double", "list(double) -> double", |it| {
                sum(it, Value::Double(0.0))
            })
            .member(
                "list_duration_sum_duration",
                "list(duration) -> duration",
                |it| sum(it, Value::Duration(Duration::from_nanoseconds(0))),
            )
            .costs(costs::searched, costs::search),
        members!(
            Function::new("max"),
            |it| extreme(it, "max", Ordering::Less),
            "int": "list_int_max_int" -> "int",
            "uint": "list_uint_max_uint" -> "uint",
            "double": "list_double_max_double" -> "double",
            "bool": "list_bool_max_bool" -> "bool",
            "duration": "list_duration_max_duration" -> "duration",
            "timestamp": "list_timestamp_max_timestamp" -> "timestamp",
            "string": "list_string_max_string" -> "string",
            "bytes": "list_bytes_max_bytes" -> "bytes"
        ),
        members!(
            Function::new("min"),
            |it| extreme(it, "min", Ordering::Greater),
            "int": "list_int_min_int" -> "int",
            "uint": "list_uint_min_uint" -> "uint",
            "double": "list_double_min_double" -> "double",
            "bool": "list_bool_min_bool" -> "bool",
            "duration": "list_duration_min_duration" -> "duration",
            "timestamp": "list_timestamp_min_timestamp" -> "timestamp",
            "string": "list_string_min_string" -> "string",
            "bytes": "list_bytes_min_bytes" -> "bytes"
        ),
        Function::new("indexOf")
            .member("list_a_index_of_int", "list(A), A -> int", |it| {
                position(it, false)
            })
            .costs(costs::searched, costs::search),
        Function::new("lastIndexOf")
            .member("list_a_last_index_of_int", "list(A), A -> int", |it| {
                position(it, true)
            })
            .costs(costs::searched, costs::search),
    ];
    Library {
        functions,
        types: Vec::new(),
    }
}
