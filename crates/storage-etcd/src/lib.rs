//! A distributed storage engine: [`Kv`] on an etcd v3 cluster, for any number of API servers.
//!
//! [`EtcdKv`] uses one member of the cluster and switches to the next when it fails. Every
//! operation has a deadline, and an interrupted watch resumes where it was. Keys, values and the
//! compaction protocol are upstream's, so API servers of both kinds can share a cluster.
//!
//! It is not a general etcd client: it has no locks, elections, users or roles. It uses the
//! configured members and does not discover others.
//!
//! ```no_run
//! use kubist_storage::{Expected, KvRead, KvWrite, PutRequest};
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
//!   write acknowledged after it was started, also on a member that lags behind.
//! - Progress is only requested from members whose version responds correctly. On other members
//!   watches get no progress notifications, which
//!   [`KvWatch::supports_progress_requests`](kubist_storage::KvWatch::supports_progress_requests)
//!   reports.
//! - A lease of twenty seconds or more may be shared by the keys of several callers; it lives
//!   longer than requested by up to a twentieth of its time, and up to a minute.
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
mod reads;
mod refusal;
mod translate;
mod version;
mod watch;
mod writes;

pub use config::{Config, ConfigError, Identity, Tls};
pub use engine::EtcdKv;
