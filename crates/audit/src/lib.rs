//! Audit policies and events of Kubernetes: which requests are recorded, at which level, and as
//! what.
//!
//! [`Policy`] is upstream's policy file. [`Event`] is what is recorded at a stage of a request, as
//! JSON. It does no I/O and has no clock; a server decides when, and where events go.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![allow(clippy::doc_markdown, reason = "kinds are names here, not code")]

mod event;
mod event_list;
mod legacy;
mod level;
mod policy;

pub use event::{AuthenticationMetadata, Event, ObjectReference, UserInfo};
pub use event_list::event_list;
pub use level::{Level, Stage};
pub use policy::{Policy, PolicyError, Treatment};
