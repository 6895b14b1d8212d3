//! The test kit, as tests use it.

mod assertions;
mod bad_use;
mod controllers;
mod extremes;
mod fixtures;
mod forks;
mod journal;
mod listening;
mod objects;
mod users;
mod virtual_time;
mod workloads;
mod worlds;
