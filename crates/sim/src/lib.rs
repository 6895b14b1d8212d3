//! A seeded simulation of the whole system: server, reflectors, informers, work queue and a
//! controller, on virtual time, with faults.
//!
//! Everything that runs is the real code of its crate: the API server on the engine in memory,
//! the client with its HTTP/2 connections, the caches, the informers, the queue, the controller.
//! Only time, the network's bytes and the users are made here. Whatever happens in a run follows
//! from its seed, so a seed that fails is a test that fails: `cargo xtask sim --seed 7 --trace`
//! tells its story.
//!
//! It is not a benchmark, and it does not explore interleavings of threads: everything runs on
//! one.
//!
//! ```
//! let outcome = kubist_sim::run(7);
//! assert!(outcome.is_good(), "{:?}", outcome.violations);
//! ```
//!
//! Contracts: no real time, no real network, no randomness but the seed's ([`run_twice`] compares
//! two runs); [`Check`] lists what every run must keep, and for each check there is a [`Defect`]
//! that it must notice.

mod dice;
mod expectation;
mod faults;
mod handler;
mod ledger;
mod mirror;
mod network;
mod outcome;
mod plan;
mod reads;
mod run;
mod server;
mod source;
mod storage;
mod trace;
mod unit;
mod unreadable;
mod verdict;
mod witness;
mod world;

pub use outcome::Outcome;
pub use plan::Defect;
pub use run::{run, run_broken, run_calm, run_twice};
pub use verdict::{Check, Violation};
