//! Matching: which requests webhooks and policies are about.
//!
//! Rules name operations, resources and scopes; selectors choose by the labels of objects and of
//! their namespaces. They are parsed once, when their configuration is followed.

mod criteria;
mod index;
mod rule;

pub(crate) use self::criteria::{Criteria, Labels, Matched};
pub(crate) use self::index::ResourceIndex;
pub(crate) use self::rule::{Operations, Target};
