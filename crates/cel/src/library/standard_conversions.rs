//! Conversions between types.

use crate::error::EvalError;
use crate::function::Function;
use crate::value::{Value, convert};

type Outcome<'a> = Result<Value<'a>, EvalError>;

fn unary<'a>(
    arguments: &[Value<'a>],
    convert: for<'v> fn(&Value<'v>) -> Outcome<'v>,
) -> Outcome<'a> {
    match arguments {
        [value] => convert(value),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Returns the functions.
#[expect(clippy::too_many_lines, reason = "a table of declarations")]
pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::new("bool")
            .overload("bool_to_bool", "bool -> bool", |it| {
                unary(it, convert::to_bool)
            })
            .overload("string_to_bool", "string -> bool", |it| {
                unary(it, convert::to_bool)
            }),
        Function::new("bytes")
            .overload("bytes_to_bytes", "bytes -> bytes", |it| {
                unary(it, convert::to_bytes)
            })
            .overload("string_to_bytes", "string -> bytes", |it| {
                unary(it, convert::to_bytes)
            }),
        Function::new("double")
            .overload("double_to_double", "double -> double", |it| {
                unary(it, convert::to_double)
            })
            .overload("int64_to_double", "int -> double", |it| {
                unary(it, convert::to_double)
            })
            .overload("string_to_double", "string -> double", |it| {
                unary(it, convert::to_double)
            })
            .overload("uint64_to_double", "uint -> double", |it| {
                unary(it, convert::to_double)
            }),
        Function::new("duration")
            .overload("duration_to_duration", "duration -> duration", |it| {
                unary(it, convert::to_duration)
            })
            .overload("int64_to_duration", "int -> duration", |it| {
                unary(it, convert::to_duration)
            })
            .overload("string_to_duration", "string -> duration", |it| {
                unary(it, convert::to_duration)
            }),
        Function::new("int")
            .overload("int64_to_int64", "int -> int", |it| {
                unary(it, convert::to_int)
            })
            .overload("double_to_int64", "double -> int", |it| {
                unary(it, convert::to_int)
            })
            .overload("duration_to_int64", "duration -> int", |it| {
                unary(it, convert::to_int)
            })
            .overload("string_to_int64", "string -> int", |it| {
                unary(it, convert::to_int)
            })
            .overload("timestamp_to_int64", "timestamp -> int", |it| {
                unary(it, convert::to_int)
            })
            .overload("uint64_to_int64", "uint -> int", |it| {
                unary(it, convert::to_int)
            }),
        Function::new("string")
            .overload("string_to_string", "string -> string", |it| {
                unary(it, convert::to_string)
            })
            .overload("bool_to_string", "bool -> string", |it| {
                unary(it, convert::to_string)
            })
            .overload("bytes_to_string", "bytes -> string", |it| {
                unary(it, convert::to_string)
            })
            .overload("double_to_string", "double -> string", |it| {
                unary(it, convert::to_string)
            })
            .overload("duration_to_string", "duration -> string", |it| {
                unary(it, convert::to_string)
            })
            .overload("int64_to_string", "int -> string", |it| {
                unary(it, convert::to_string)
            })
            .overload("timestamp_to_string", "timestamp -> string", |it| {
                unary(it, convert::to_string)
            })
            .overload("uint64_to_string", "uint -> string", |it| {
                unary(it, convert::to_string)
            }),
        Function::new("timestamp")
            .overload("timestamp_to_timestamp", "timestamp -> timestamp", |it| {
                unary(it, convert::to_timestamp)
            })
            .overload("int64_to_timestamp", "int -> timestamp", |it| {
                unary(it, convert::to_timestamp)
            })
            .overload("string_to_timestamp", "string -> timestamp", |it| {
                unary(it, convert::to_timestamp)
            }),
        Function::new("uint")
            .overload("uint64_to_uint64", "uint -> uint", |it| {
                unary(it, convert::to_uint)
            })
            .overload("double_to_uint64", "double -> uint", |it| {
                unary(it, convert::to_uint)
            })
            .overload("int64_to_uint64", "int -> uint", |it| {
                unary(it, convert::to_uint)
            })
            .overload("string_to_uint64", "string -> uint", |it| {
                unary(it, convert::to_uint)
            }),
    ]
}
