//! Replays random operations of client-go and apimachinery on Kubist's types.
//!
//! The programs in `tests/interop/go/differential` perform operations from a seed on upstream's
//! types, and write the observable results as lines of JSON: a *trace*. [`replay`] reads a trace,
//! performs the same operations on Kubist's types, and compares every result. Where
//! `docs/GLOSSARY.md` documents a difference, the replayer of that type states the result it
//! expects instead; every comparison is exact.
//!
//! The tests of this crate replay the recorded traces in `testdata`, and those that `cargo xtask
//! interop` creates.

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
