//! Who may do what: attributes of a request, authorizers and their decisions, and role-based access
//! control and the rights of kubelets as pure data structures.
//!
//! [`AuthorizationConfiguration`] is upstream's file of authorizers, with webhooks and the
//! [`MatchConditions`] under which they are asked; a [`ReviewSpec`] is what they are asked.
//!
//! It does no I/O and knows no HTTP. Whoever follows roles and bindings puts them into a
//! [`rbac::Policy`]; whoever serves requests asks an [`Authorizer`] about their [`Attributes`].

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![allow(clippy::doc_markdown, reason = "kinds are names here, not code")]

mod attributes;
mod authorizer;
mod configuration;
mod decision;
pub mod node;
pub mod rbac;
mod review;
mod user;

pub use attributes::{Action, Attributes, ResourceAction};
pub use authorizer::{AlwaysAllow, AlwaysDeny, Authorizer, BoxFuture, Chain, PrivilegedGroups};
pub use configuration::{
    AuthorizationConfiguration, AuthorizationConfigurationError, AuthorizerConfiguration,
    FailurePolicy, MatchConditions, WebhookConfiguration,
};
pub use decision::Decision;
pub use review::ReviewSpec;
pub use user::{MASTERS_GROUP, User};
