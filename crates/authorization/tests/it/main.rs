//! Tests of policies from outside.

mod policy;
mod random;
mod upstream;
