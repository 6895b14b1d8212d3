//! Tests of the storage crate through its public face.

mod auto_traits;
mod memory;
mod model;
mod watchers;
