//! A work queue for controllers: de-duplicating, delaying, rate-limited, with lanes and fairness.
//!
//! A controller maps every change to a key, adds the key here, and its workers take keys one at a
//! time. The queue decides what runs next and when; it knows nothing of Kubernetes.
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
//! - An item is with at most one worker at a time.
//! - However often an item is added before it is taken, it runs once; added while it runs, it runs
//!   once more afterwards.
//! - An item that was added is not lost: a panic, a cancelled future or an early return in the
//!   worker counts as a failure, and the item comes back.
//! - Of several delays for one item the earliest wins.
//! - Memory is bounded by the number of distinct items that wait or run. Nothing is kept for an
//!   item that has succeeded.
//!
//! # What it is not
//!
//! It is not persistent, it does not limit how many distinct items may wait (their number is that
//! of the objects they name), and it starts no task: timers live in the futures of the workers
//! that wait in [`WorkQueue::next`].
//!
//! # Differs from client-go
//!
//! - Get, Done and Forget are one guard, [`Work`].
//! - The failure count lives with the waiting item, so there is no map to leak.
//! - Draining waits for all that is queued, not only for what is being processed.
//! - Lanes, fairness between groups, a limit on every hand-out and backoff that changes cannot cut
//!   short are additions; all are off or neutral by default.
//!
//! # Layout
//!
//! The algorithm is a pure state machine (`core.rs`, `delay.rs`, `lanes.rs`): it is told the time
//! as the [`Duration`](std::time::Duration) since the queue was made. [`WorkQueue`] is a mutex
//! around it, tokio's clock, the list of sleeping workers, and the intake (`intake.rs`) in which
//! producers and finished workers leave what needs no decision yet.

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
mod sleepers;
mod slot_id;
mod sync;

pub use self::{
    config::{Config, DuringBackoff, Group},
    lanes::Lane,
    metrics::{Metric, MetricsSink, Stats},
    parallel::{Finished, Parallel},
    queue::{Work, WorkQueue},
    rate_limiter::RateLimiter,
    recorder::Recorder,
};
