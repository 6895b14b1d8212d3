//! What is done to the application, and what must come of it. Each step is verified through the
//! API before it counts.

pub(super) mod bring_up;
pub(super) mod kill;
pub(super) mod remove;
pub(super) mod roll;
pub(super) mod scale;
