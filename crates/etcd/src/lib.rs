//! etcd's v3 API on a storage engine in this process.
//!
//! [`Etcd`] answers gRPC on any engine that implements [`Engine`], such as
//! `kubist_storage::memory::MemoryKv`, as a cluster of one member: KV with transactions, Watch,
//! Lease, and what a kube-apiserver and `etcdctl` ask of Maintenance and Cluster; beside it
//! `/health`, `/version` and `/metrics`. Errors have etcd's codes and texts, by which its clients
//! know them.
//!
//! Three things differ from etcd. Each write of a transaction has a revision of its own; no reader
//! and no watcher sees them in another order or with others between. Comparisons of ranges,
//! transactions inside transactions, reads of earlier revisions inside a transaction, users, and
//! changes of the cluster are refused by name. History is bounded by the engine's limits, not by
//! compaction alone.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod answer;
mod cluster;
mod config;
mod encoding;
mod engine;
mod header;
mod kv;
mod lease;
mod maintenance;
mod method;
mod plain;
mod range;
mod refusal;
mod serve;
mod service;
mod tls;
mod txn;
mod watch;

pub use config::Config;
pub use engine::Engine;
pub use service::Etcd;
pub use tls::{Tls, TlsError};
