//! Explorations: controllers that are good, and those that are used in a way that cannot be
//! explored; each is named, and nothing hangs.

mod bad_use;
mod good;
