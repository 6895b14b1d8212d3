//! `find` and `findAll`: what matches a regular expression.

use super::{Library, costs};
use crate::error::EvalError;
use crate::function::Function;
use crate::value::Value;
use regex::Regex;

type Outcome<'a> = Result<Value<'a>, EvalError>;

fn compiled(arguments: &[Value<'_>]) -> Result<Regex, EvalError> {
    let pattern = arguments.get(1).and_then(Value::as_str);
    let pattern = pattern.ok_or_else(EvalError::no_such_overload)?;
    crate::regex::compile(pattern)
        .map_err(|error| EvalError::failed(format!("Illegal regex: {error}")))
}

fn find<'a>(regex: &Regex, arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let Some(text) = arguments.first().and_then(Value::as_str) else {
        return Err(EvalError::no_such_overload());
    };
    let found = regex.find(text).map_or("", |it| it.as_str());
    Ok(Value::string(found.to_owned()))
}

fn find_all<'a>(regex: &Regex, arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let (text, limit) = match arguments {
        [Value::String(text), _] => (text, -1),
        [Value::String(text), _, Value::Int(limit)] => (text, *limit),
        _ => return Err(EvalError::no_such_overload()),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let found = regex.find_iter(text.as_str()).take(limit);
    Ok(Value::list(
        found
            .map(|it| Value::string(it.as_str().to_owned()))
            .collect(),
    ))
}

fn find_compiling<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let regex = compiled(arguments)?;
    find(&regex, arguments)
}

fn find_all_compiling<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let regex = compiled(arguments)?;
    find_all(&regex, arguments)
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let functions = vec![
        Function::new("find")
            .member(
                "string_find_string",
                "string, string -> string",
                find_compiling,
            )
            .regex(1, find)
            .costs(costs::matched, costs::matching),
        Function::new("findAll")
            .member(
                "string_find_all_string",
                "string, string -> list(string)",
                find_all_compiling,
            )
            .regex(1, find_all)
            .member(
                "string_find_all_string_int",
                "string, string, int -> list(string)",
                find_all_compiling,
            )
            .regex(1, find_all)
            .costs(costs::matched, costs::matching),
    ];
    Library {
        functions,
        types: Vec::new(),
    }
}
