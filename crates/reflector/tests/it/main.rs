//! The reflector: its decisions as scripts, its driver on a paused clock.

mod driver;
mod script;
