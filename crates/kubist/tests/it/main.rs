//! The command as its users run it: arguments in; output, exit code and files out.

mod command;
mod controllers;
mod convert;
mod demo;
mod durable;
mod encryption;
#[path = "../../../storage-etcd/tests/it/etcd.rs"]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_peer;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_servers;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_status;
mod serve;
mod server;
mod watch;
