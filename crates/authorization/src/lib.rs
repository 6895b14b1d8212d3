#![doc = include_str!("../README.md")]
#![allow(clippy::doc_markdown, reason = "kinds are names here, not code")]

mod attributes;
mod authorizer;
mod decision;
pub mod rbac;
mod user;

pub use attributes::{Action, Attributes, ResourceAction};
pub use authorizer::{AlwaysAllow, AlwaysDeny, Authorizer, BoxFuture, Chain, PrivilegedGroups};
pub use decision::Decision;
pub use user::{MASTERS_GROUP, User};
