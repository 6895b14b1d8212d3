//! Functions on strings. Positions count characters.
//!
//! This is the model of a library: declarations with costs here, what they do in files of their
//! own.

use super::Library;
use crate::error::EvalError;
use crate::function::Function;
use crate::value::Value;

pub(super) mod costs;
mod format;
mod search;
mod split;

pub(crate) use format::{Piece, misfit, piece};

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// The version with `format`, `strings.quote` and a `join` of dynamic lists.
const SECOND: u32 = 29;

/// Applies a function to the string that is the only argument.
fn mapped<'a>(arguments: &[Value<'a>], map: fn(&str) -> String) -> Outcome<'a> {
    match arguments {
        [Value::String(text)] => Ok(Value::string(map(text.as_str()))),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn out_of_range(at: i64) -> EvalError {
    EvalError::failed(format!("index out of range: {at}"))
}

fn char_at<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let [Value::String(text), Value::Int(at)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let mut characters = text.as_str().chars();
    let index = usize::try_from(*at).map_err(|_| out_of_range(*at))?;
    match characters.nth(index) {
        Some(character) => Ok(Value::string(character.to_string())),
        None if text.characters() == index as u64 => Ok(Value::string("")),
        None => Err(out_of_range(*at)),
    }
}

fn substring<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let (text, start, end) = match arguments {
        [Value::String(text), Value::Int(start)] => (text, *start, None),
        [Value::String(text), Value::Int(start), Value::Int(end)] => (text, *start, Some(*end)),
        _ => return Err(EvalError::no_such_overload()),
    };
    let length = text.characters();
    if let Some(end) = end
        && start > end
    {
        return Err(EvalError::failed(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let position = |at: i64| match u64::try_from(at) {
        Ok(it) if it <= length => Ok(byte_offset(text.as_str(), it)),
        _ => Err(out_of_range(at)),
    };
    let from = position(start)?;
    let until = end.map_or(Ok(text.as_str().len()), position)?;
    Ok(Value::string(text.as_str()[from..until].to_owned()))
}

/// Returns the offset of a character, in bytes.
fn byte_offset(text: &str, characters: u64) -> usize {
    let count = usize::try_from(characters).unwrap_or(usize::MAX);
    if text.is_ascii() {
        return count.min(text.len());
    }
    text.char_indices().nth(count).map_or(text.len(), |it| it.0)
}

/// Returns the library.
#[expect(clippy::too_many_lines, reason = "a table of declarations")]
pub(super) fn library(minor: u32) -> Library {
    let mut functions = vec![
        Function::new("charAt").member("string_char_at_int", "string, int -> string", char_at),
        Function::new("indexOf")
            .member("string_index_of_string", "string, string -> int", |it| {
                search::index_of(it, false)
            })
            .member(
                "string_index_of_string_int",
                "string, string, int -> int",
                |it| search::index_of(it, false),
            )
            .costs(costs::searched, costs::search),
        Function::new("lastIndexOf")
            .member(
                "string_last_index_of_string",
                "string, string -> int",
                |it| search::index_of(it, true),
            )
            .member(
                "string_last_index_of_string_int",
                "string, string, int -> int",
                |it| search::index_of(it, true),
            )
            .costs(costs::searched, costs::search),
        Function::new("lowerAscii")
            .member("string_lower_ascii", "string -> string", |it| {
                mapped(it, str::to_ascii_lowercase)
            })
            .costs(costs::traversed, costs::traversal),
        Function::new("upperAscii")
            .member("string_upper_ascii", "string -> string", |it| {
                mapped(it, str::to_ascii_uppercase)
            })
            .costs(costs::traversed, costs::traversal),
        Function::new("trim")
            .member("string_trim", "string -> string", |it| {
                mapped(it, |text| text.trim().to_owned())
            })
            .costs(costs::traversed, costs::traversal),
        Function::new("substring")
            .member("string_substring_int", "string, int -> string", substring)
            .member(
                "string_substring_int_int",
                "string, int, int -> string",
                substring,
            )
            .costs(costs::traversed, costs::traversal),
        Function::new("replace")
            .member(
                "string_replace_string_string",
                "string, string, string -> string",
                split::replace,
            )
            .member(
                "string_replace_string_string_int",
                "string, string, string, int -> string",
                split::replace,
            )
            .costs(costs::rebuilt, costs::replacement),
        Function::new("split")
            .member(
                "string_split_string",
                "string, string -> list(string)",
                split::split,
            )
            .member(
                "string_split_string_int",
                "string, string, int -> list(string)",
                split::split,
            )
            .costs(costs::rebuilt, costs::splitting),
        Function::new("join")
            .member("list_join", "list(string) -> string", split::join)
            .member(
                "list_join_string",
                "list(string), string -> string",
                split::join,
            )
            .costs(costs::joined, costs::joining),
    ];
    if minor >= SECOND {
        functions.extend([
            Function::new("format").member(
                "string_format",
                "string, list(dyn) -> string",
                format::format,
            ),
            Function::new("strings.quote").overload("strings_quote", "string -> string", |it| {
                mapped(it, format::quote)
            }),
        ]);
    }
    Library {
        functions,
        types: Vec::new(),
    }
}
