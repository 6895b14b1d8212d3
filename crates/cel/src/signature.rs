//! Signatures of functions, parsed from text such as `list(T), int -> T`.
//!
//! They are part of the program, so a wrong one is a mistake of the programmer: it becomes
//! [`Type::Error`], which no argument fits, and a test parses all of them.

use crate::cel_type::{Parameter, Type};

/// Parses the arguments and the result of a signature.
pub(crate) fn parse(text: &str) -> (Vec<Type>, Type) {
    let (arguments, result) = text.split_once("->").unwrap_or((text, "!"));
    let arguments = split(arguments).into_iter().map(parse_type).collect();
    (arguments, parse_type(result))
}

/// Parses a type: `int`, `list(T)`, `map(K, V)`, `optional(T)`, `type(T)`, `net.IP` (opaque) or
/// `object kubernetes.Quantity`.
pub(crate) fn parse_type(text: &str) -> Type {
    let text = text.trim();
    if let Some(open) = text.find('(') {
        let inner = text[open + 1..].strip_suffix(')').unwrap_or_default();
        let mut parameters: Vec<Type> = split(inner).into_iter().map(parse_type).collect();
        return match (&text[..open], parameters.len()) {
            ("list", 1) => Type::list(parameters.remove(0)),
            ("optional" | "optional_type", 1) => Type::optional(parameters.remove(0)),
            ("type", 1) => Type::of(parameters.remove(0)),
            ("wrapper", 1) => Type::Wrapper(parameters.remove(0).into()),
            ("map", 2) => {
                let value = parameters.remove(1);
                Type::map(parameters.remove(0), value)
            }
            (name, _) => Type::opaque(name, parameters),
        };
    }
    match text {
        "dyn" => Type::Dyn,
        "any" => Type::Any,
        "null" | "null_type" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "timestamp" | "google.protobuf.Timestamp" => Type::Timestamp,
        "duration" | "google.protobuf.Duration" => Type::Duration,
        "type" => Type::Type(None),
        _ => match (text.strip_prefix("object "), text.as_bytes()) {
            (Some(name), _) => Type::object(name.trim()),
            (None, [letter]) if letter.is_ascii_uppercase() => {
                Type::Parameter(Parameter::Named(char::from(*letter)))
            }
            _ if text.contains('.') => Type::opaque(text, Vec::new()),
            _ => Type::Error,
        },
    }
}

/// Splits at the commas that are outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_i32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if !text.trim().is_empty() {
        parts.push(&text[from..]);
    }
    parts
}
