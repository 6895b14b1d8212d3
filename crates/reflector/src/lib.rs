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
//! use kubist_reflector::{Action, Config, InitialSync, Machine};
//!
//! let config = Config { initial_sync: InitialSync::ListThenWatch, ..Config::default() };
//! let mut machine = Machine::new(config, 1);
//! let Action::List(list) = machine.action(Duration::ZERO) else { panic!("it lists first") };
//! assert!(list.resource_version.is_any());
//! let end = ListEnd { resource_version: "7".into(), ..ListEnd::default() };
//! assert!(machine.page_complete(&end), "there is one page");
//! let Action::Watch(watch) = machine.action(Duration::ZERO) else { panic!("it watches then") };
//! assert_eq!(watch.resource_version, "7");
//! ```
//!
//! Contracts: nothing reaches the queue before a state is whole; then one replacement, then every
//! event in order. A version never goes back except by the server's own word. An object that
//! cannot be read is reported, and neither stops the stream nor removes what was known of it.

mod driver;
mod machine;

pub use driver::{Reflector, Report, Stats, Transform};
pub use machine::{
    Action, Backoff, Config, Consequence, End, Event, InitialSync, Machine, RESUMES_MAX, Verdict,
};
