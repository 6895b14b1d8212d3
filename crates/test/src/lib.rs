//! Tests of Kubernetes controllers against a real API server in the test's process.
//!
//! [`TestServer`] is Kubist's API server without a port: it starts in milliseconds, and any number
//! of them run in parallel. On a paused clock (`#[tokio::test(start_paused = true)]`) the server,
//! its controllers, the clients and the controller under test run on virtual time, which passes as
//! fast as they work.
//!
//! It is not a mock: requests are encoded, authenticated, validated and stored as in a cluster. It
//! runs no containers, and replaces no test against the cluster's real version.
//!
//! # Contracts
//!
//! - A server without a port opens no socket and no file and starts no thread.
//! - Everything belongs to the server, and ends with it.
//! - With a paused clock, the same test with the same seed makes the same requests, in the same
//!   order, with the same answers.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod builder;
mod clock;
mod error;
mod login;
mod server;

pub use builder::TestServerBuilder;
pub use clock::{TestClock, VIRTUAL_START};
pub use error::TestError;
pub use login::Login;
pub use server::TestServer;

/// The result of a test: `async fn works() -> kubist_test::Result`.
pub type Result<T = (), E = TestError> = std::result::Result<T, E>;
