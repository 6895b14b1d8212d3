//! Webhooks and policies that are stored: followed, and obeyed in requests.

mod dynamic;
pub(crate) mod follower;
mod param_kinds;

pub use self::dynamic::DynamicAdmission;
