//! The admission plugins of the API server, with upstream's names, order, rules and messages.
//!
//! [`PluginSelection`] says which are enabled, by the words of `--enable-admission-plugins` and
//! `--disable-admission-plugins`, and makes the [`AdmissionChain`] of a registry of them. A plugin
//! of one's own is any [`AdmissionPlugin`].
//!
//! It does no I/O: what plugins look up, they look up in the registry.
//!
//! [`AdmissionChain`]: kubist_registry::admission::AdmissionChain
//! [`AdmissionPlugin`]: kubist_registry::admission::AdmissionPlugin

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![expect(
    clippy::result_large_err,
    reason = "the error is the answer itself; it is rare, and its callers match on it"
)]
#![allow(clippy::doc_markdown, reason = "kinds are names here, not code")]

mod aggregate;
mod always;
mod amounts;
mod certificates;
mod configuration;
mod counted;
mod default_class;
mod default_ingress_class;
mod deny_service_external_ips;
mod limit_ranger;
mod namespace_exists;
mod node_restriction;
mod objects;
mod owner_references;
mod plugins;
mod pod_references;
mod pod_resources;
mod pod_security;
mod pods;
mod quality_of_service;
mod quota_controller;
mod resource_quota;
mod service_account;
mod storage;
mod taint_nodes_by_condition;
mod unprivileged;

pub use configuration::{AdmissionConfiguration, AdmissionConfigurationError};
pub use plugins::{PluginError, PluginSelection};
pub use quota_controller::run_quotas;
pub use unprivileged::Unprivileged;

mod asked;
mod document;
mod event_rate_limit;
mod expressions;
mod matching;
mod policy;
mod reinvoked;
mod webhook;

pub use policy::{
    MutatingPolicies, ParamResource, ParamSource, PolicyMetrics, PolicyParts, PolicyTable,
    ValidatingPolicies,
};
pub use webhook::{
    MutatingWebhooks, ValidatingWebhooks, WebhookMetrics, WebhookParts, WebhookTable,
};
