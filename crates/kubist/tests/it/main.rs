//! The command as users run it: arguments in; output, exit code and files out.

#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod admission;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod admission_file;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod apply_configurations;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod audit;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod authentication;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod codegen;
mod command;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod connection_problems;
mod controllers;
mod convert;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod custom_resource;
mod demo;
mod documents;
mod durable;
mod encryption;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod escalations;
#[path = "../../../storage-etcd/tests/it/etcd.rs"]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_faults;
#[cfg(unix)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_fleet;
#[cfg(unix)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_kills;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_peer;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_servers;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_status;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_upstream;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_upstream_cbor;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_upstream_custom;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod etcd_upstream_pods;
#[cfg(feature = "events")]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod events;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod failover;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod first_reconcile;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod identity;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod in_memory_restart;
#[cfg(feature = "leader-election")]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod leader_election;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod local_api_services;
mod log;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod mistakes;
mod new;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod new_namespaces;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod policy_types;
mod running_backup;
mod serve;
#[cfg(unix)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod serve_faults;
mod server;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod storage_version_migration;
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod traces;
mod watch;
#[cfg(target_os = "linux")]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod watch_screen;
mod webhooks;
