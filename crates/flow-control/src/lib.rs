//! API priority and fairness: which requests an API server handles next when it has more than it
//! can handle.
//!
//! A [`FlowController`] holds the stored `FlowSchema`s and `PriorityLevelConfiguration`s. Each
//! request is classified by the first schema that matches it, takes seats of that schema's priority
//! level, and waits in a fair queue of the level if there are none. Levels lend each other seats.
//!
//! It does no I/O and has no clock: callers pass the time, as the duration since any moment, and
//! are told which waiting requests may go on. The contracts are those of Kubernetes' KEP-1040.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![allow(clippy::doc_markdown, reason = "kinds are names here, not code")]

mod concurrency;
mod configuration;
mod controller;
mod dealer;
mod demand;
mod dump;
mod flow_schema;
mod level;
mod mandatory;
mod plan;
mod queue;
mod queue_set;
mod request;
mod settings;

pub use configuration::Configuration;
pub use controller::{FlowController, LevelStats};
pub use dump::{QueueStats, RequestStats};
pub use request::{Arrival, Class, Execution, Rejection, Ticket, Work};
