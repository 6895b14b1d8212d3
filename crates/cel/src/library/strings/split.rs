//! `split`, `join` and `replace`.

use super::Outcome;
use crate::error::EvalError;
use crate::value::{Value, format};

/// Splits a string at a separator into at most so many parts, or into its characters.
pub(super) fn split<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let (text, separator, limit) = match arguments {
        [Value::String(text), Value::String(separator)] => (text, separator, -1),
        [
            Value::String(text),
            Value::String(separator),
            Value::Int(limit),
        ] => (text, separator, *limit),
        _ => return Err(EvalError::no_such_overload()),
    };
    let (text, separator) = (text.as_str(), separator.as_str());
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let parts: Vec<&str> = match (limit, separator) {
        (0, _) => Vec::new(),
        (limit, "") => characters(text, limit),
        (limit, separator) => text.splitn(limit, separator).collect(),
    };
    Ok(Value::list(
        parts
            .into_iter()
            .map(|it| Value::string(it.to_owned()))
            .collect(),
    ))
}

fn characters(text: &str, limit: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if parts.len() + 1 == limit {
            parts.push(rest);
            break;
        }
        let (head, tail) = rest.split_at(character.len_utf8());
        parts.push(head);
        rest = tail;
    }
    parts
}

/// Joins strings.
pub(super) fn join<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let (list, separator) = match arguments {
        [Value::List(list)] => (list, ""),
        [Value::List(list), Value::String(separator)] => (list, separator.as_str()),
        _ => return Err(EvalError::no_such_overload()),
    };
    let mut text = String::new();
    for (at, element) in list.iter().enumerate() {
        if at > 0 {
            text.push_str(separator);
        }
        match element? {
            Value::String(it) => text.push_str(it.as_str()),
            other => {
                let shown = format::debug(&other);
                return Err(EvalError::failed(format!("join: invalid input: {shown}")));
            }
        }
    }
    Ok(Value::string(text))
}

/// Replaces a string by another, at most so many times.
pub(super) fn replace<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let (text, replaced, replacement, limit) = match arguments {
        [Value::String(text), Value::String(a), Value::String(b)] => (text, a, b, -1),
        [
            Value::String(text),
            Value::String(a),
            Value::String(b),
            Value::Int(limit),
        ] => (text, a, b, *limit),
        _ => return Err(EvalError::no_such_overload()),
    };
    let (text, replaced, replacement) = (text.as_str(), replaced.as_str(), replacement.as_str());
    Ok(Value::string(match usize::try_from(limit) {
        Ok(limit) => text.replacen(replaced, replacement, limit),
        Err(_) => text.replace(replaced, replacement),
    }))
}
