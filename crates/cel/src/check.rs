//! The type checker: types of all nodes, and what names and calls refer to.

mod aggregates;
pub(crate) mod assign;
mod calls;
pub(crate) mod checker;
pub(crate) mod fold;
pub(crate) mod formats;
pub(crate) mod literals;
pub(crate) mod scope;
