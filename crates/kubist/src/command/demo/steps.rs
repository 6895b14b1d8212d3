//! The steps and their expected results. Each is verified through the API.

pub(super) mod bring_up;
pub(super) mod kill;
pub(super) mod remove;
pub(super) mod roll;
pub(super) mod scale;
