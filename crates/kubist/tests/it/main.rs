//! The command as its users run it: arguments in; output, exit code and files out.

mod command;
mod controllers;
mod convert;
mod demo;
mod durable;
#[path = "../../../storage-etcd/tests/it/etcd.rs"]
mod etcd;
mod etcd_peer;
mod etcd_servers;
mod etcd_status;
mod serve;
mod server;
mod watch;
