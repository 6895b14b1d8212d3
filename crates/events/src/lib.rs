//! Records Kubernetes events: short messages about objects, which `kubectl describe` shows.
//!
//! An [`EventRecorder`] takes events and never blocks or fails. An [`EventBroadcaster`] writes them
//! in the background, to `events.k8s.io/v1`, by client-go's rules: repeated events are one series,
//! an object that has too many gets fewer, failed writes are repeated.
//!
//! It is **not** a log: events may be dropped, servers keep them for an hour, and nothing should
//! depend on them.
//!
//! ```no_run
//! use kubist_api::core::v1::{ObjectReference, Pod};
//! use kubist_events::{EventBroadcaster, EventType};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example(client: kubist_client::Client, pod: Pod) {
//! let broadcaster = EventBroadcaster::new(client);
//! let recorder = broadcaster.recorder("example.com/operator");
//! let work = async move {
//!     let pod = ObjectReference::of(&pod); // also kube's types, projections, encoded forms
//!     recorder.event(&pod, EventType::Normal, "Adopted", "Adopting", "it has an owner now");
//! };
//! tokio::join!(broadcaster.run(CancellationToken::new()), work);
//! # }
//! ```
//!
//! As a task of a manager: `manager.with_task("events", |token| async move {
//! broadcaster.run(token).await; Ok(()) })`.
//!
//! # Contracts
//!
//! - Recording takes no lock that is held during I/O, and waits for nothing. Every event that is
//!   not written is counted in [`EventStats`].
//! - Queues, series and token buckets are bounded.
//! - An event has at most one write under way: its counts arrive in order.
//! - After the stop, the broadcaster goes on for a limited time while there are recorders or
//!   unwritten events.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod broadcaster;
mod config;
mod correlator;
mod event_key;
mod event_name;
mod event_stats;
mod event_type;
mod random;
mod recent;
mod recorder;
mod shared;
mod sink;
mod spam_filter;

pub use broadcaster::{EventBroadcaster, EventMonitor};
pub use config::EventBroadcasterConfig;
pub use event_stats::EventStats;
pub use event_type::EventType;
pub use recorder::EventRecorder;
pub use sink::EventSink;
