//! Broadcasters on tokio's clock, which the tests pause, with a sink in memory.

mod auto_traits;
mod broadcaster;
mod memory_sink;
mod recorder;
mod references;
