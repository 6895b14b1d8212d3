//! Holds our defaults and checks of objects against upstream's own.
//!
//! [`Seeds`] are valid objects of every kind; [`Mutator`] makes cases of them that a seed number
//! chooses: fields dropped, added, emptied, swapped, turned into nonsense; half of them as updates.
//! [`Ours`] takes a case through the registry's rules, [`Theirs`] through the program in
//! `tests/interop/validation`, which has upstream's as a library. [`compare`] tells where the
//! answers differ: in the object with its defaults, in what would be stored, in the field and
//! reason of what is wrong, in the words about it. Updates of a status are compared in the same
//! way.
//! [`Accepted`] is the table of what is known to differ, and why.
//!
//! It checks nothing that needs other objects.

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
