//! Tests of the redb engine's public API.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod crash;
mod crash_logs;
mod disk;
mod files;
mod kill;
mod model;
mod random;
mod refusing;
mod restart;
mod restore;
mod write_record;
