//! Tests of the storage crate's public API.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod auto_traits;
mod forks;
mod full;
mod journal_threads;
mod journaled;
mod memory;
mod model;
mod transactions;
mod watchers;
mod wrapped;
