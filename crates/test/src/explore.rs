//! Exploration by seed: a controller, unchanged, in many worlds in which something goes wrong.
//!
//! Each seed is a world: an API server with the prepared content, the controllers of the
//! [`Scenario`], and a user who takes its steps, on one thread and virtual time. The seed decides
//! what goes wrong: a controller crashes before or after any of its writes, and may see an older
//! state when it starts again; its watches are held back, so that it never sees some states;
//! requests fail, or are done and fail nevertheless; answers and events come late and in another
//! order; a leader stands still for longer than its lease; the server restarts.
//!
//! A world is good if all invariants hold after every write; if in the end everything is as in a
//! world without faults; if writes come to an end; if nobody writes while another holds its lease;
//! and if nothing is left over: no owned object, no task. The lowest seed that fails is made
//! smaller and told as a [`Story`](crate::story::Story), and replays exactly.
//!
//! It is not a proof: it samples, and everything runs on one thread, so data races between threads
//! are not found. What the controller does outside of tokio and of its client is not under control.
//! It is noticed and named when it starts a thread with `spawn_blocking`, opens a socket of tokio,
//! starts a runtime, sends a request from another thread, is woken by one, or blocks its own. A
//! thread or a socket of the standard library that does none of these is not noticed.
//!
//! The patterns are those that research on controllers describes (Sieve, OSDI 2022): intermediate
//! states, stale states, unobserved states.

mod exploration;
mod freeze;
mod ground;
mod hub;
mod invariant;
mod ledger;
mod limits;
mod mistake;
mod normal;
mod observer;
mod outcome;
mod panics;
mod plan;
mod pool;
mod problem;
mod random;
mod replay;
mod running;
mod scenario;
mod search;
mod shrink;
mod state;
mod stored;
mod tap;
mod telling;
mod trace;
mod witness;
mod world;

pub use exploration::{Exploration, FailedSeed};
pub use limits::Limits;
pub use mistake::Mistake;
pub use normal::Difference;
pub use problem::Problem;
pub use replay::{ParseReplayError, Replay, SEED_VARIABLE, SEEDS_VARIABLE};
pub use scenario::{Ended, Scenario};
pub use search::{explore, replay};
pub use state::{Change, State};
