//! A durable storage engine for a single machine: one directory, one process, a redb file and its
//! logs.
//!
//! [`Store`] is the file: it is opened exclusively, verified, and repaired automatically after a
//! crash. [`Store::into_kv`] turns it into an engine: a [`JournaledKv`], which is the memory engine
//! with every write made durable in this file first. The offline operations of a store are
//! [`check`](Store::check), [`compact`](Store::compact) and [`backup`](Store::backup).
//!
//! [`JournaledKv`]: kubist_storage::journal::JournaledKv
//!
//! It is not a database larger than memory: current values and history are kept in memory, and the
//! file is read once, when it is opened. It is not replicated.
//!
//! ```
//! use kubist_storage::memory::{Config, TokioClock};
//! use kubist_storage::{Expected, KvRead, KvWrite, PutRequest};
//! use kubist_storage_redb::Store;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let dir = folder.path().join("data");
//! let clock = Arc::new(TokioClock::start());
//! let kv = Store::open(&dir)?.into_kv(Config::default(), clock.clone())?;
//! kv.put(PutRequest::new("/pods/a", "first", Expected::Absent)).await?;
//! kv.close().await;
//!
//! let kv = Store::open(&dir)?.into_kv(Config::default(), clock)?;
//! assert_eq!(kv.get(b"/pods/a", None).await?.kv.unwrap().value, "first");
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//!
//! - An acknowledged write is in the file and synced: it survives a crash of the process and of the
//!   machine, as far as the disk honours syncs, unless the store was
//!   [opened without](Store::open_unsynced). A batch is in the file completely or not at all.
//! - Revisions keep rising. History goes back as far as before a restart; its age is counted from
//!   the restart, and leases get their full lifetime again, as with etcd.
//! - A corrupt store is refused when it is opened, with an error; nothing of it is served. Files of
//!   other programs are not modified.
//!
//! # The files
//!
//! A write is appended to one of two logs, and synced; a thread writes thousands of them to the
//! redb file together. A store that was closed in order has everything in the redb file, and one
//! that was not is read from it and the logs.
//!
//! The redb file has one row per version, by revision: the versions in history, the versions that
//! those replaced, and the current version of each other key. A put appends one row; discarding
//! history deletes its rows. Free pages are reused, so the file is as large as the live data and
//! history ever were, until [`compact`](Store::compact) shrinks it.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod change;
mod error;
mod format;
mod journal;
mod log;
mod logs;
mod report;
mod restore;
mod store;
mod store_dir;
mod unsynced;

pub use error::StoreError;
pub use report::{Compaction, Report, Restored};
pub use restore::REVISIONS_SKIPPED;
pub use store::Store;
