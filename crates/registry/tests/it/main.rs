//! Behaviours of the registry over the engine in memory.

mod create;
mod crowds;
mod custom;
mod deletion;
mod evictions;
mod fixture;
mod hooks;
mod kinds;
mod list;
mod namespaces;
mod parts;
mod recorded_defaulting;
mod rest_tester;
mod services;
mod storage;
mod subresources;
mod time_to_live;
mod update;
mod versions;
mod watch;
