//! Regular expressions in Go's notation, with bounded size.

mod syntax;

use crate::error::EvalError;
use regex::Regex;

/// The largest compiled expression, in bytes.
const MAX_SIZE: usize = 1 << 20;

/// Compiles an expression. Both engines are automata, so that matching takes linear time.
pub(crate) fn compile(pattern: &str) -> Result<Regex, EvalError> {
    let braces = syntax::check(pattern).map_err(EvalError::failed)?;
    let translated = translate(&escaped(pattern, &braces));
    let mut builder = regex::RegexBuilder::new(&translated);
    builder
        .size_limit(MAX_SIZE)
        .dfa_size_limit(MAX_SIZE)
        .nest_limit(200);
    builder
        .build()
        .map_err(|_| EvalError::failed(syntax::explain(pattern, |it| Regex::new(it).is_ok())))
}

/// Escapes characters at some places.
fn escaped(pattern: &str, places: &[usize]) -> String {
    let mut out = String::with_capacity(pattern.len() + places.len());
    let mut from = 0;
    for place in places {
        out.push_str(&pattern[from..*place]);
        out.push('\\');
        from = *place;
    }
    out.push_str(&pattern[from..]);
    out
}

/// Translates classes that are ASCII in Go and Unicode in Rust.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('d') => out.push_str("[0-9]"),
                Some('w') => out.push_str("[0-9A-Za-z_]"),
                Some('s') => out.push_str("[\\t\\n\\x0c\\r\\x20]"),
                Some('D') => out.push_str("[^0-9]"),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some('S') => out.push_str("[^\\t\\n\\x0c\\r\\x20]"),
                Some('b') if !in_class => out.push_str("(?-u:\\b)"),
                Some('B') if !in_class => out.push_str("(?-u:\\B)"),
                Some('Q') => quote(&mut characters, &mut out),
                Some('C') => out.push('.'),
                Some(other) => {
                    out.push('\\');
                    out.push(other);
                }
                None => out.push('\\'),
            },
            '[' if in_class && characters.peek() != Some(&':') => out.push_str("\\["),
            '[' if in_class => {
                out.push('[');
                for it in characters.by_ref() {
                    out.push(it);
                    if it == ']' {
                        break;
                    }
                }
            }
            '[' => {
                in_class = true;
                out.push('[');
                if characters.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                if characters.next_if_eq(&']').is_some() {
                    out.push_str("\\]");
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // Operators of Rust's classes that Go does not have.
            '&' | '~' if in_class && characters.peek() == Some(&character) => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

/// Escapes a literal up to `\E`.
fn quote(characters: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    let mut literal = String::new();
    while let Some(character) = characters.next() {
        if character == '\\' && characters.next_if_eq(&'E').is_some() {
            break;
        }
        literal.push(character);
    }
    out.push_str(&regex::escape(&literal));
}
