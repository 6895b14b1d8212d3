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
//! - A server without a port opens no socket and no file. One thread of the process, the watchdog,
//!   guards all of its servers.
//! - Everything belongs to the server, and ends with it.
//! - With a paused clock, the same test with the same seed makes the same requests, in the same
//!   order, with the same answers, as far as the test itself draws no random numbers and reads no
//!   other clock. That includes `select!` without `biased`, which chooses at random.
//! - Every wait has a bound, and its failure says what was seen last and who wrote it.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod assertion;
mod builder;
mod client;
mod clock;
mod controllers;
mod error;
pub mod explore;
pub mod faults;
mod fixtures;
mod journal;
mod login;
mod past;
mod pulse;
mod server;
mod snapshot;
pub mod story;
mod watchdog;

pub use assertion::error::AssertionError;
pub use assertion::{ExpectObject, ExpectObjects};
pub use builder::TestServerBuilder;
pub use clock::{TestClock, VIRTUAL_START};
pub use controllers::running::Running;
pub use controllers::{RunError, ServerController};
pub use error::TestError;
pub use fixtures::Fixtures;
pub use fixtures::error::{FixtureError, FixtureProblem};
pub use journal::entry::JournalEntry;
pub use journal::{Journal, RequestCounts};
pub use kubist::registry::{ObjectChange, ObjectWrite};
pub use login::Login;
pub use past::Past;
pub use server::TestServer;
pub use snapshot::{Snapshot, SnapshotFileError};

/// The result of a test: `async fn works() -> kubist_test::Result`.
pub type Result<T = (), E = TestError> = std::result::Result<T, E>;
