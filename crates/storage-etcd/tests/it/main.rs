//! Tests of the etcd engine through its public face, against etcds that they start.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod etcd;
