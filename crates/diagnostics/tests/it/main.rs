//! Diagnostics of a manager with a scripted source, in process and over HTTP.

// It needs `futures_core` and `futures_util`.
#[path = "../../../controller/tests/it/cluster.rs"]
#[expect(dead_code, reason = "the tests of controllers use more of it")]
mod cluster;
mod diagnostics;
mod http;
