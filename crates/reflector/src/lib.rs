//! Keeps a queue in step with a server: lists, watches, resumes, and lists again when it must.
//!
//! Two halves: [`Machine`] decides (pure: no clock, no I/O, no object), [`Reflector`] carries out
//! (tokio's clock, no spawning). It is not a cache and knows no handlers; it fills a
//! [`Queue`](kubist_cache::Queue) from any [`ListerWatcher`](kubist_cache::ListerWatcher), and
//! never gives up: every failure is reported and followed by a pause or by another way.
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
//! - nothing reaches the queue before a state is whole; then one replacement, then every event in
//!   order;
//! - a version never goes back except by the server's own word: a list that is older than the
//!   version it was asked for is not used;
//! - an object that cannot be read is reported, and neither stops the stream nor removes what was
//!   known of it;
//! - every failure is reported; no request is repeated without a pause unless it failed for a
//!   reason that another request does not share, or after a healthy watch;
//! - a kind that is not served is a state, reported once; it is asked for now and then;
//! - what one reflector learns of a server (that it has no streaming lists) its source tells all;
//! - a step that is dropped, at any point, loses nothing.
//!
//! `tests/it/recovery/` has each recovery as a script.

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
