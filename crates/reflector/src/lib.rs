//! Keeps a queue up to date with a server: lists, watches, resumes, and lists again if necessary.
//!
//! It has two parts: [`Machine`] makes the decisions (pure: no clock, no I/O, no objects), and
//! [`Reflector`] carries them out (with tokio's clock, without spawning). It is not a cache and has
//! no handlers: it fills a [`Queue`](kubist_cache::Queue) from any
//! [`ListerWatcher`](kubist_cache::ListerWatcher). It never gives up: every failure is reported and
//! followed by a retry or a fallback.
//!
//! ```
//! use std::time::Duration;
//! use kubist_cache::ListEnd;
//! use kubist_reflector::{Action, Config, InitialSync, Machine, PageEnd};
//!
//! let config = Config { initial_sync: InitialSync::ListThenWatch, ..Config::default() };
//! let mut machine = Machine::new(config, 1);
//! let Action::List(list) = machine.action(Duration::ZERO) else { panic!("it lists first") };
//! assert!(list.resource_version.is_any());
//! let end = ListEnd { resource_version: "7".into(), ..ListEnd::default() };
//! assert_eq!(machine.page_complete(&end), PageEnd::Complete, "there is one page");
//! let Action::Watch(watch) = machine.action(Duration::ZERO) else { panic!("it watches then") };
//! assert_eq!(watch.resource_version, "7");
//! ```
//!
//! Contracts:
//! - Nothing reaches the queue before a state is complete. Then comes one replacement, followed by
//!   every event in order.
//! - The version never decreases unless the server's newest state is older: a list that is older
//!   than the requested version is discarded.
//! - An object that cannot be decoded is reported. It neither ends the stream nor removes the
//!   stored object.
//! - Every failure is reported. A request is repeated without a pause only if the cause does not
//!   affect the next request, or after a healthy watch.
//! - A kind that is not served is a state, reported once, and retried periodically.
//! - If a server does not support streaming lists, all reflectors of its source know after the
//!   first.
//! - Dropping a step at any point loses nothing.
//!
//! `tests/it/recovery/` has each recovery as a script.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod coop_budget;
mod driver;
mod list_buffer;
mod machine;
mod report;

pub use coop_budget::{CoopBudget, TURN_MAX};
pub use driver::Reflector;
pub use list_buffer::Transform;
pub use machine::{
    Action, Backoff, Config, Event, EventAction, InitialSync, Machine, PAGE_SIZE, PageEnd,
    RESUMES_MAX, RETRY_AFTER_MAX, RETRY_WINDOW_RESET, Recovery, UNFINISHED_MAX, WatchEnd,
    WatchOutcome,
};
pub use report::{Report, Stats};
