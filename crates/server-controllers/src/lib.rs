//! The controllers that an API server needs beside it: the garbage collector, the namespace
//! controller, that of roles which combine others, that of the types in policies' expressions,
//! those that make the service account and the certificates of every namespace, that of the
//! `APIService`s of what the server itself serves, and that which stores objects anew.
//!
//! They are ordinary clients of the API. They run beside the server that the crate `kubist` starts,
//! and on any other cluster that runs without its own. They create no Pods for workloads;
//! `kubist-workloads` does.
//!
//! ```no_run
//! # async fn example(client: kubist_client::Client) -> Result<(), Box<dyn std::error::Error>> {
//! use kubist_server_controllers::namespace;
//! use tokio_util::sync::CancellationToken;
//!
//! let options = namespace::Options::default();
//! let stats = namespace::run(client, options, CancellationToken::new()).await?;
//! println!("{} reconciles", stats.reconciles);
//! # Ok(()) }
//! ```

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod cluster_role_aggregation;
mod created;
pub mod garbage_collector;
pub mod local_api_services;
pub mod namespace;
mod outdated;
pub mod policy_types;
mod resources;
pub mod root_certificates;
pub mod service_accounts;
pub mod storage_version_migrator;
