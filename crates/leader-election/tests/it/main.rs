//! Electors on tokio's clock, which the tests pause, with a lock in memory.

mod auto_traits;
mod elector;
mod memory_lock;
mod watch;
