//! The walk over a checked tree that estimates its cost, in the terms of `cost`.

pub(crate) mod estimator;
mod folds;
