//! Tests of storage on every engine, and of a registry with custom kinds. The tests of the registry
//! with the built-in kinds are in `kubist-kinds`.

mod engines;
#[path = "../../../storage-etcd/tests/it/etcd.rs"]
#[expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test fails by panicking, and only one member is needed here"
)]
mod etcd;
mod guards;
mod own_kinds;
mod storage;
