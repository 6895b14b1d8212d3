//! From text to a syntax tree: tokens, grammar, literals and macros.

pub(crate) mod ast;
pub(crate) mod grammar;
pub(crate) mod lexer;
pub(crate) mod literal;
pub(crate) mod macros;
pub(crate) mod parser;
mod primary;
