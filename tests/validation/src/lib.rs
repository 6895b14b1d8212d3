//! Compares Kubist's defaults and validation with upstream's.
//!
//! [`Seeds`] are valid objects of every kind; [`Mutator`] generates cases from them by a seed:
//! fields are dropped, added, emptied, swapped or replaced by invalid values; half of the cases are
//! updates. [`Ours`] runs a case through the registry's rules, [`Theirs`] through the program in
//! `tests/interop/validation`, which links upstream's. [`compare`] finds the differences between
//! the answers: in the object with its defaults, in the stored object, in the fields and reasons of
//! errors, and in their messages. Status updates are compared in the same way.
//! [`Accepted`] is the table of known differences, with reasons.
//!
//! Rules that need other objects are not compared.

mod accepted;
mod answer;
mod case;
mod compare;
mod mutation;
mod mutator;
mod ours;
mod random;
mod seeds;
mod theirs;
mod values;

pub use accepted::{Accepted, AcceptedError};
pub use answer::{Answer, Cause};
pub use case::Case;
pub use compare::{Difference, What, compare};
pub use mutator::Mutator;
pub use ours::Ours;
pub use seeds::{Seeds, SeedsError};
pub use theirs::{Theirs, TheirsError};
