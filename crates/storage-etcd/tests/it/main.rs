//! Tests of the etcd engine's public API, against etcd processes that they start.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod auth;
mod breaks;
mod cluster;
mod compaction;
mod conformance;
mod etcd;
mod faults;
mod leases;
mod progress;
mod tls;
