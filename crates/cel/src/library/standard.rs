//! The operators and functions of the language.

use super::{Library, equality};
use crate::cel_type::Type;
use crate::error::EvalError;
use crate::function::Function;
use crate::signature::parse_type;
use crate::value::{Value, arithmetic, compare};
use std::cmp::Ordering;

/// The version that compares numbers of different types.
const CROSS_TYPES: u32 = 28;

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// Declares a relation with all its overloads.
macro_rules! relation {
    ($minor:expr, $name:literal, $prefix:literal, $test:expr) => {{
        let mut function = Function::new($name)
            .declare(concat!($prefix, "_bool"), "bool, bool -> bool")
            .declare(concat!($prefix, "_int64"), "int, int -> bool");
        if $minor >= CROSS_TYPES {
            function = function
                .declare(concat!($prefix, "_int64_double"), "int, double -> bool")
                .declare(concat!($prefix, "_int64_uint64"), "int, uint -> bool");
        }
        function = function.declare(concat!($prefix, "_uint64"), "uint, uint -> bool");
        if $minor >= CROSS_TYPES {
            function = function
                .declare(concat!($prefix, "_uint64_double"), "uint, double -> bool")
                .declare(concat!($prefix, "_uint64_int64"), "uint, int -> bool");
        }
        function = function.declare(concat!($prefix, "_double"), "double, double -> bool");
        if $minor >= CROSS_TYPES {
            function = function
                .declare(concat!($prefix, "_double_int64"), "double, int -> bool")
                .declare(concat!($prefix, "_double_uint64"), "double, uint -> bool");
        }
        function
            .declare(concat!($prefix, "_string"), "string, string -> bool")
            .declare(concat!($prefix, "_bytes"), "bytes, bytes -> bool")
            .declare(
                concat!($prefix, "_timestamp"),
                "timestamp, timestamp -> bool",
            )
            .declare(concat!($prefix, "_duration"), "duration, duration -> bool")
            .singleton(|it| related(it, $test))
    }};
}

fn related<'a>(arguments: &[Value<'a>], test: fn(Ordering) -> bool) -> Outcome<'a> {
    match arguments {
        [a, b] => compare::compare(a, b).map(|order| Value::Bool(test(order))),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn binary<'a>(
    arguments: &mut [Value<'a>],
    apply: for<'v> fn(&Value<'v>, &Value<'v>) -> Outcome<'v>,
) -> Outcome<'a> {
    match arguments {
        [a, b] => apply(a, b),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn unplanned<'a>(_: &mut [Value<'a>]) -> Outcome<'a> {
    Err(EvalError::no_such_overload())
}

fn contained<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    match arguments {
        [key, Value::Map(map)] => map.find(key).map(|it| Value::Bool(it.is_some())),
        [value, Value::List(list)] => {
            let mut failed = None;
            for element in list.iter() {
                match element.and_then(|it| compare::equal(&it, value)) {
                    Ok(true) => return Ok(Value::Bool(true)),
                    Err(error) if list.is_view() => failed = failed.or(Some(error)),
                    Ok(false) | Err(_) => {}
                }
            }
            failed.map_or(Ok(Value::Bool(false)), Err)
        }
        _ => Err(EvalError::no_such_overload()),
    }
}

fn size<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let size = match arguments {
        [value @ (Value::String(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_))] => {
            value.size()
        }
        _ => None,
    };
    let size = size.and_then(|it| i64::try_from(it).ok());
    size.map(Value::Int).ok_or_else(EvalError::no_such_overload)
}

/// Returns the library.
pub(super) fn library(minor: u32) -> Library {
    let mut functions = operators();
    functions.extend([
        relation!(minor, "_<_", "less", Ordering::is_lt),
        relation!(minor, "_<=_", "less_equals", Ordering::is_le),
        relation!(minor, "_>_", "greater", Ordering::is_gt),
        relation!(minor, "_>=_", "greater_equals", Ordering::is_ge),
    ]);
    functions.extend(arithmetics());
    functions.extend(aggregates());
    functions.extend(texts());
    functions.extend(super::standard_conversions::functions());
    Library {
        functions,
        types: types(),
    }
}

fn types() -> Vec<(&'static str, Type)> {
    let list = Type::list(parse_type("A"));
    let map = Type::map(parse_type("A"), parse_type("B"));
    let simple = [
        "bool",
        "bytes",
        "double",
        "int",
        "null_type",
        "string",
        "type",
        "uint",
    ];
    let mut types: Vec<_> = simple
        .into_iter()
        .map(|name| (name, parse_type(name)))
        .collect();
    types.extend([
        ("google.protobuf.Duration", Type::Duration),
        ("google.protobuf.Timestamp", Type::Timestamp),
        ("list", list),
        ("map", map),
    ]);
    types
}

fn operators() -> Vec<Function> {
    vec![
        Function::new("_?_:_").overload("conditional", "bool, A, A -> A", unplanned),
        Function::new("_&&_").overload("logical_and", "bool, bool -> bool", unplanned),
        Function::new("_||_").overload("logical_or", "bool, bool -> bool", unplanned),
        Function::new("!_")
            .declare("logical_not", "bool -> bool")
            .singleton(|it| match it {
                [Value::Bool(value)] => Ok(Value::Bool(!*value)),
                _ => Err(EvalError::no_such_overload()),
            }),
        Function::new("@not_strictly_false").overload(
            "not_strictly_false",
            "bool -> bool",
            unplanned,
        ),
        Function::new("_==_")
            .overload("equals", "A, A -> bool", unplanned)
            .costs(|_| None, equality::estimate),
        Function::new("_!=_").overload("not_equals", "A, A -> bool", unplanned),
        Function::new("_[_]")
            .overload("index_list", "list(A), int -> A", unplanned)
            .overload("index_map", "map(A, B), A -> B", unplanned),
        Function::new("@in")
            .declare("in_list", "A, list(A) -> bool")
            .declare("in_map", "A, map(A, B) -> bool")
            .singleton(contained),
    ]
}

fn arithmetics() -> Vec<Function> {
    vec![
        Function::new("_+_")
            .declare("add_bytes", "bytes, bytes -> bytes")
            .declare("add_double", "double, double -> double")
            .declare("add_duration_duration", "duration, duration -> duration")
            .declare("add_duration_timestamp", "duration, timestamp -> timestamp")
            .declare("add_timestamp_duration", "timestamp, duration -> timestamp")
            .declare("add_int64", "int, int -> int")
            .declare("add_list", "list(A), list(A) -> list(A)")
            .declare("add_string", "string, string -> string")
            .declare("add_uint64", "uint, uint -> uint")
            .singleton(|it| match it {
                [a, b] => arithmetic::add(std::mem::take(a), std::mem::take(b)),
                _ => Err(EvalError::no_such_overload()),
            }),
        Function::new("_-_")
            .declare("subtract_double", "double, double -> double")
            .declare(
                "subtract_duration_duration",
                "duration, duration -> duration",
            )
            .declare("subtract_int64", "int, int -> int")
            .declare(
                "subtract_timestamp_duration",
                "timestamp, duration -> timestamp",
            )
            .declare(
                "subtract_timestamp_timestamp",
                "timestamp, timestamp -> duration",
            )
            .declare("subtract_uint64", "uint, uint -> uint")
            .singleton(|it| binary(it, arithmetic::subtract)),
        Function::new("_*_")
            .declare("multiply_double", "double, double -> double")
            .declare("multiply_int64", "int, int -> int")
            .declare("multiply_uint64", "uint, uint -> uint")
            .singleton(|it| binary(it, arithmetic::multiply)),
        Function::new("_/_")
            .declare("divide_double", "double, double -> double")
            .declare("divide_int64", "int, int -> int")
            .declare("divide_uint64", "uint, uint -> uint")
            .singleton(|it| binary(it, arithmetic::divide)),
        Function::new("_%_")
            .declare("modulo_int64", "int, int -> int")
            .declare("modulo_uint64", "uint, uint -> uint")
            .singleton(|it| binary(it, arithmetic::modulo)),
        Function::new("-_")
            .declare("negate_double", "double -> double")
            .declare("negate_int64", "int -> int")
            .singleton(|it| match it {
                [value] => arithmetic::negate(value),
                _ => Err(EvalError::no_such_overload()),
            }),
    ]
}

fn aggregates() -> Vec<Function> {
    vec![
        Function::new("size")
            .declare("size_bytes", "bytes -> int")
            .declare_member("bytes_size", "bytes -> int")
            .declare("size_list", "list(A) -> int")
            .declare_member("list_size", "list(A) -> int")
            .declare("size_map", "map(A, B) -> int")
            .declare_member("map_size", "map(A, B) -> int")
            .declare("size_string", "string -> int")
            .declare_member("string_size", "string -> int")
            .singleton(size),
        Function::new("type")
            .declare("type", "A -> type(A)")
            .singleton(|it| match it {
                [value] => Ok(Value::Type(value.runtime_type().into())),
                _ => Err(EvalError::no_such_overload()),
            }),
        Function::new("dyn")
            .declare("to_dyn", "A -> dyn")
            .singleton(|it| match it {
                [value] => Ok(std::mem::take(value)),
                _ => Err(EvalError::no_such_overload()),
            }),
    ]
}

fn text<'a>(arguments: &[Value<'a>], test: fn(&str, &str) -> bool) -> Outcome<'a> {
    match arguments {
        [Value::String(a), Value::String(b)] => Ok(Value::Bool(test(a.as_str(), b.as_str()))),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn texts() -> Vec<Function> {
    vec![
        Function::new("contains").member("contains_string", "string, string -> bool", |it| {
            text(it, |a, b| a.contains(b))
        }),
        Function::new("endsWith").member("ends_with_string", "string, string -> bool", |it| {
            text(it, |a, b| a.ends_with(b))
        }),
        Function::new("startsWith").member("starts_with_string", "string, string -> bool", |it| {
            text(it, |a, b| a.starts_with(b))
        }),
        Function::new("matches")
            .declare("matches", "string, string -> bool")
            .regex(1, matched)
            .declare_member("matches_string", "string, string -> bool")
            .regex(1, matched)
            .singleton(|it| match it {
                [Value::String(text), Value::String(pattern)] => {
                    let regex = crate::regex::compile(pattern.as_str())?;
                    Ok(Value::Bool(regex.is_match(text.as_str())))
                }
                _ => Err(EvalError::no_such_overload()),
            }),
    ]
}

fn matched<'a>(regex: &regex::Regex, arguments: &mut [Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::String(text), ..] => Ok(Value::Bool(regex.is_match(text.as_str()))),
        _ => Err(EvalError::no_such_overload()),
    }
}
