//! Tests of the storage crate through its public face.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod auto_traits;
mod full;
mod journaled;
mod memory;
mod model;
mod watchers;
mod wrapped;
