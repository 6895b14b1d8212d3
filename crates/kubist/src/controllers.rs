//! Controllers that a cluster cannot do without, beside the server: the garbage collector and the
//! namespace controller.
//!
//! They stand here because a server needs them, but they know no server: they are clients like any
//! other, and work on a cluster that runs without its own. They do not make Pods of workloads; the
//! sample controllers do that.

pub mod garbage_collector;
pub mod namespace;
mod resources;
