//! Pitfalls.
