//! Replays what client-go and apimachinery did with random operations, on Kubist's own types.
//!
//! The programs in `tests/interop/go/differential` perform operations that a seed chooses on
//! upstream's types, and write what can be observed as lines of JSON: a *trace*. [`replay`] reads a
//! trace, performs the same operations on ours, and compares every result. Where
//! `docs/GLOSSARY.md` says that ours differs, the replayer of that type says what it expects in
//! place of upstream's answer, and why; nothing is compared loosely.
//!
//! It checks nothing by itself: the tests of this crate replay the recorded traces of `testdata`,
//! and those that `cargo xtask interop` has just made.

mod delta_fifo;
mod durations;
mod field_selectors;
mod indexer;
mod label_selectors;
mod limiter;
mod object;
mod quantities;
mod rate_limiters;
mod real_fifo;
mod replay;
mod replayer;
mod times;
mod work_queue;

pub use replay::{Mismatch, ReplayError, Replayed, replay};
pub use replayer::LineError;
