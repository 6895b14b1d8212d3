//! A work queue for controllers: de-duplicating, delaying and rate-limited, with priorities and
//! fairness.
//!
//! A controller maps every change to a key and adds the key to the queue; its workers take keys one
//! at a time. The queue decides what runs next and when. It is independent of Kubernetes.
//!
//! ```
//! use kubist_workqueue::WorkQueue;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let queue = WorkQueue::default();
//! queue.add("default/web");
//! queue.add("default/web"); // already waiting: one run
//!
//! let work = queue.next().await.expect("the queue is open");
//! assert_eq!(*work, "default/web");
//! work.succeed(); // dropped without this, it goes back through the rate limiter
//!
//! queue.shut_down();
//! assert!(queue.next().await.is_none());
//! # }
//! ```
//!
//! # Contracts
//!
//! - An item is processed by at most one worker at a time.
//! - However many times an item is added before it is taken, it runs once. If it is added while it
//!   runs, it runs once more afterwards.
//! - An added item is never lost: a panic, a cancelled future or an early return in the worker
//!   counts as a failure, and the item is retried.
//! - Of several delays of one item the earliest counts.
//! - Memory is bounded by the number of distinct items that wait or run. Nothing is kept for an
//!   item that has succeeded, except that up to 31 such items may stay while others are ready, so
//!   that they are released together.
//!
//! # What it is not
//!
//! The queue is not persistent. It does not limit the number of distinct waiting items, which is
//! that of the objects they name. It starts no tasks: timers are part of the futures of workers
//! that wait in [`WorkQueue::next`].
//!
//! # Differences from client-go
//!
//! - Get, Done and Forget are one guard, [`Work`].
//! - The failure count is stored with the waiting item, so there is no map that can leak.
//! - Draining waits for everything that is queued, not only for the items being processed.
//! - Lanes, fairness between groups, a limit on all dispatched items, and backoff that additions
//!   cannot shorten are additions; all are off or neutral by default.
//!
//! # Layout
//!
//! The algorithm is a pure state machine (`core.rs`, `delay.rs`, `lanes.rs`) that takes the time as
//! the [`Duration`](std::time::Duration) since the queue was created. [`WorkQueue`] adds a mutex,
//! tokio's clock, the list of waiting workers (`waiters.rs`), and the intake (`intake.rs`), in
//! which producers and finished workers leave entries that need no immediate decision.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod config;
mod core;
mod delay;
mod intake;
mod lanes;
mod metrics;
mod parallel;
mod queue;
pub mod rate_limiter;
mod recorder;
mod slot_id;
mod sync;
mod waiters;

pub use self::{
    config::{Config, DuringBackoff, Group},
    lanes::Lane,
    metrics::{Metric, MetricsSink, Stats},
    parallel::{Finished, Parallel},
    queue::{Work, WorkQueue},
    rate_limiter::RateLimiter,
    recorder::Recorder,
};
