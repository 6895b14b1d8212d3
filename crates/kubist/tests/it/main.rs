//! The command as users run it: arguments in; output, exit code and files out.

#[cfg(unix)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod bad_days;
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
mod etcd_bad_days;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_peer;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_servers;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_status;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_upstream;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod forgotten;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod identity;
mod log;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod moving;
mod running_backup;
mod serve;
mod server;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod silence;
mod watch;
