//! The sample controllers against a scripted server, on paused time.

mod replica_set;
mod server;
