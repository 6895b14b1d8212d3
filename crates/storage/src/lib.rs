//! A revisioned key-value store: the engine seam of the API server, and an in-memory engine.
//!
//! [`Kv`] is the part of etcd v3 that Kubernetes uses: a single revision for the whole store,
//! compare-and-set on modification revisions, range reads at a revision, watches from a revision
//! with previous values, leases and compaction. [`memory::MemoryKv`] implements it in memory.
//! [`journal::JournaledKv`] also makes every write durable with a [`Journal`], such as that of
//! `kubist-storage-redb`. The module `conformance` (feature `conformance`) has the checks that
//! every engine must pass, and `KvWrapper` (feature `testing`) intercepts calls between a server
//! and its engine in tests.
//!
//! [`KvTransact`] and [`KvLeases`] are the rest of etcd's writes and leases, for a server of etcd's
//! own API; the engines in this process implement them.
//!
//! It is not a general-purpose database: it has no secondary indexes and no authentication. It
//! knows neither Kubernetes nor any value encoding.
//!
//! ```
//! use kubist_storage::memory::MemoryKv;
//! use kubist_storage::{EventKind, Expected, KeyRange, Kv};
//! use kubist_storage::{PutRequest, RangeRequest, WatchRangeRequest};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kv: Arc<dyn Kv> = Arc::new(MemoryKv::default());
//! let mut watch = kv.watch(WatchRangeRequest::new(KeyRange::prefix("/pods/"))).await?;
//!
//! let put = PutRequest::new("/pods/a", "first", Expected::Absent);
//! let created = kv.put(put).await?.committed().expect("nobody else writes");
//! let put = PutRequest::new("/pods/a", "second", Expected::Revision(created));
//! kv.put(put).await?;
//!
//! let page = kv.range(RangeRequest::new(KeyRange::prefix("/pods/")).at(created)).await?;
//! assert_eq!((page.count, &page.kvs[0].value[..]), (1, &b"first"[..]));
//!
//! let batch = watch.next().await.expect("the store is open")?;
//! assert!(matches!(&batch.events[1].kind, EventKind::Put(kv) if kv.value == "second"));
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//!
//! - The first write of an empty store has revision 2. Each write that changes something increments
//!   the revision by one; reads, refused writes and deletes of absent keys do not.
//! - The count of a range response ignores the limit; its revision is the current one of the store.
//! - A watch delivers every event of its range from its start (inclusive), in order and once, or
//!   ends with [`WatchError::Compacted`]. Events after a progress notification are above it.
//! - A watcher that does not read does not make its engine use more and more memory.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod batch;
mod clock;
mod error;
mod event;
mod key_range;
mod key_value;
mod kv;
mod kv_future;
mod kv_transact;
#[cfg(feature = "testing")]
mod kv_wrapper;
mod lease;
mod request;
mod revision;
mod transaction;
mod watch;

pub mod memory;

pub mod journal;

pub mod backup;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use clock::{Clock, ManualClock};
pub use error::{CompactError, Fault, FaultKind, LeaseError, ReadError, WatchError, WriteError};
pub use event::{Event, EventKind};
pub use journal::Journal;
pub use key_range::KeyRange;
pub use key_value::{KeyValue, Note};
pub use kv::{Kv, KvMaintenance, KvRead, KvWatch, KvWrite};
pub use kv_future::KvFuture;
pub use kv_transact::{KvLeases, KvTransact};
#[cfg(feature = "testing")]
pub use kv_wrapper::KvWrapper;
pub use lease::{LeaseId, LeaseStatus};
pub use request::{
    DeleteRequest, Expected, GetResponse, Guard, PutRequest, RangeRequest, RangeResponse,
    WatchRangeRequest, WriteOutcome,
};
pub use revision::Revision;
pub use transaction::{
    Comparison, Operand, Operation, OperationResult, Performed, PutLease, Relation, Transaction,
    TransactionOutcome,
};
pub use watch::{ProgressRequester, Watch, WatchBatch};
