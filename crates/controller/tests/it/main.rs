//! Controllers over scripted informers, on paused time.

mod cluster;
mod controller;
mod manager;
mod own_writes;
mod panics;
mod running;
mod stop;
mod wake_ups;
mod yielding;
