//! Controllers over scripted informers, on paused time.

mod cluster;
mod controller;
mod handle;
mod keys;
#[cfg(feature = "leader-election")]
mod leader_election;
mod manager;
#[cfg(feature = "leader-election")]
#[path = "../../../leader-election/tests/it/memory_lock.rs"]
mod memory_lock;
mod own_writes;
mod panics;
mod running;
mod stop;
mod wake_ups;
mod yielding;
