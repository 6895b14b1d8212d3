//! The workload controllers against a scripted server, on a paused clock.

mod replica_set;
mod server;
