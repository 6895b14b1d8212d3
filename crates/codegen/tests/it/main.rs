//! Types of a definition of every form: the committed ones are what is generated, and they compile
//! and keep objects.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crds;
mod golden;
mod mistakes;
mod objects;
mod random;
