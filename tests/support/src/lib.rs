//! Shared by the workspace's tests and tools: child processes and a fault-injecting proxy.
//!
//! It depends on the standard library only, so that `xtask` stays cheap to build.

mod fault_proxy;
pub mod process;

pub use fault_proxy::{FaultProxy, Faults};
