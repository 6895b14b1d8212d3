//! Rust types from `CustomResourceDefinition`s.
//!
//! [`read_definitions`] reads definitions from YAML or JSON, and [`generate`] makes a module of
//! types for each served version of each: a struct that clients, caches, informers and controllers
//! accept like a built-in kind, and serde types for all it consists of. `kubist codegen` is this
//! crate as a command.
//!
//! It is pure: text in, text out. It makes no definitions (`#[derive(CustomResource)]` does), and
//! the generated types check nothing that servers check.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod definitions;
mod docs;
mod error;
mod kind;
mod lower;
mod modules;
mod names;
mod node;
mod options;
mod page;
mod print;

pub use definitions::read_definitions;
pub use error::{GenerateError, ReadError};
pub use modules::{MARKER, Modules, generate};
pub use names::is_keyword;
pub use options::Options;

/// The most types of a version, with lists and maps of them. Of the definitions of eighteen
/// well-known projects, none has more than 227 structs and enums.
pub const TYPES_MAX: usize = 20_000;
