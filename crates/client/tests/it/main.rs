//! The client against a scripted server in this process, reached through in-memory streams.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod auto_traits;
mod discovery;
mod edit;
mod encoding;
mod errors;
mod informer_source;
mod lists;
mod log;
mod logs;
mod metadata_and_dynamic;
mod own_writes;
#[cfg(feature = "cp")]
mod pod_copies;
#[cfg(feature = "ws")]
mod pod_streams;
mod rest_mapper;
mod retry;
mod server;
mod verbs;
mod waiting;
mod watch_on;
mod watches;
mod written;
