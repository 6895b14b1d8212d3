//! Tests of policies from outside.

mod policy;
