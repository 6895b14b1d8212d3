//! Behaviours of the registry over the engine in memory.

mod create;
mod deletion;
mod fixture;
mod kinds;
mod list;
mod namespaces;
mod recorded_defaulting;
mod services;
mod storage;
mod subresources;
mod update;
mod versions;
mod watch;
