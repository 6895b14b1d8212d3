//! The distributed storage engine: [`Kv`] on an etcd v3 cluster, of any number of API servers.
//!
//! [`EtcdKv`] asks one member of the cluster and goes to the next when that fails; every
//! operation has a deadline, and a watch whose connection broke goes on where it was. Keys, values
//! and the protocol of compaction are upstream's, so API servers of both kinds can share a cluster.
//!
//! It is not a client for etcd at large: no locks, no elections, no users and roles. Members are
//! those of the configuration; it does not look for others.
//!
//! ```no_run
//! use kubist_storage::{Expected, Kv, PutRequest};
//! use kubist_storage_etcd::{Config, EtcdKv};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kv = EtcdKv::new(Config::new(["http://127.0.0.1:2379"]))?;
//! kv.put(PutRequest::new("/registry/pods/a", "first", Expected::Absent)).await?;
//! assert_eq!(kv.get(b"/registry/pods/a", None).await?.kv.unwrap().value, "first");
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//!
//! - Reads are linearizable, and are repeated until their deadline. A write is repeated only if
//!   it cannot have happened; one of which that is not known ends with
//!   [`FaultKind::Timeout`](kubist_storage::FaultKind::Timeout).
//! - A watch delivers every event once, whatever breaks, or ends with an error. It sees every
//!   write that is answered after it was started, also on a member that is behind.
//! - Progress is asked for only of members whose version answers it rightly; the others' watches
//!   stay silent, and [`KvWatch::supports_progress_requests`](kubist_storage::KvWatch::supports_progress_requests) says so.
//! - A lease of twenty seconds or more may be shared by the keys of several callers; it lives up
//!   to a twentieth, and up to a minute, longer than asked for.
//!
//! [`Kv`]: kubist_storage::Kv

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod cluster;
mod compactor;
mod config;
mod engine;
mod leases;
mod member;
mod method;
mod proto;
mod reads;
mod refusal;
mod translate;
mod version;
mod watch;
mod writes;

pub use config::{Config, ConfigError, Identity, Tls};
pub use engine::EtcdKv;
