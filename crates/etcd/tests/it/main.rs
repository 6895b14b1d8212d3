//! Tests of the etcd server through its gRPC API.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod conformance;
mod differential;
mod refusals;
mod watches;
