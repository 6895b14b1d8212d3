//! Sample controllers written as a user would write them.
