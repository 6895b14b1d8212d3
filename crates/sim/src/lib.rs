//! A deterministic simulation of the whole system: server, reflectors, informers, work queue and a
//! controller, on virtual time, with injected faults.
//!
//! All components are the real code of their crates: the API server on the in-memory engine, the
//! client with its HTTP/2 connections, the caches, the informers, the queue, the controller. Only
//! time, the network and the users are simulated. A run depends on its seed only, so a seed that
//! fails is a test that fails: `cargo xtask sim --seed 7 --trace` prints its trace.
//!
//! It is not a benchmark, and does not explore interleavings of threads: everything runs on one.
//!
//! ```
//! let outcome = kubist_sim::run(7);
//! assert!(outcome.is_good(), "{:?}", outcome.violations);
//! ```
//!
//! Contracts: no real time, no real network, and no randomness except the seed's ([`run_twice`]
//! compares two runs). [`Check`] lists the properties of every run, and for each check there is a
//! [`Defect`] that it must detect.

mod checks;
mod expectation;
mod faults;
mod faulty_source;
mod handler;
mod handler_checker;
mod ledger;
mod mirror;
mod network;
mod outcome;
mod plan;
mod reads;
mod rng;
mod run;
mod server;
mod storage;
mod trace;
mod unit;
mod unreadable;
mod world;

pub use checks::{Check, Violation};
pub use outcome::Outcome;
pub use plan::Defect;
pub use run::{run, run_broken, run_calm, run_twice};
