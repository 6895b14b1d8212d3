//! Shared informers against a small cluster in memory, on a paused clock.

mod cluster;
mod factory;
mod forms;
mod handlers;
mod informer;
