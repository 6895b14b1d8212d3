//! The reflector: its decisions as scripts, its driver on a paused clock, and every recovery.

mod driver;
mod recovery;
mod script;
