//! Stores, indexers, listers and delta queues for Kubernetes objects, and the traits through which
//! objects arrive.
//!
//! This crate covers client-go's `tools/cache` except the reflector and the informers, which are
//! crates on top of it. It does no I/O, spawns no tasks, reads no clock and knows no encoding
//! except through the object types. It is not a database: each list from the server replaces the
//! contents.
//!
//! ```
//! use std::sync::Arc;
//! use kubist_apimachinery::{ObjectMeta, ObjectName};
//! use kubist_cache::{Index, Indexer, Queue, RealFifo, Replacement};
//!
//! let mut queue = RealFifo::new();
//! let web = ObjectMeta { name: "web".into(), namespace: "shop".into(), ..Default::default() };
//! queue.replace(Replacement {
//!     resource_version: "7".into(),
//!     objects: vec![Arc::new(web)],
//!     unreadable: Vec::new(),
//! });
//!
//! let mut indexer = Indexer::new();
//! let by_namespace = indexer.add_index(Index::namespace());
//! let mut changes = Vec::new();
//! while let Some(batch) = queue.pop_batch() {
//!     batch.deltas.into_iter().for_each(|delta| indexer.apply(delta, &mut changes));
//!     indexer.publish();
//! }
//! let lister = indexer.lister(); // Clone, Send, Sync: readers never wait for the writer
//! assert!(lister.get(&ObjectName::new("shop", "web")).is_some());
//! assert_eq!(lister.by_index(&by_namespace, "shop").len(), 1);
//! assert_eq!(format!("{changes:?}"), "[Added(shop/web@, initial)]");
//! ```
//!
//! Objects are looked up by name or key, by one or several indexes, by label selector, and by
//! [`Query`], which uses the indexes that cover part of it. [`KeyRange`] pages through them in
//! order. A [`Snapshot`] makes several look-ups consistent with each other.
//!
//! Three queues implement [`Queue`]: [`RealFifo`] keeps every event in order, [`DeltaFifo`] groups
//! events by object, and [`Fifo`] keeps the latest value of each object.
//!
//! For read-your-writes, [`WriteLog`] records writes that a cache does not show yet,
//! [`Lister::wait_for`] waits for one of them, and [`Overlay`] shows them before the watch does. A
//! [`ByteBudget`] limits the memory of a store's objects; [`ExpiringStore`] removes objects after a
//! time to live.
//!
//! Contracts:
//! - There is one writer, by `&mut`. Each read sees one published state. Readers never wait for the
//!   writer, and the writer never waits for readers.
//! - The store contains everything up to its resource version. A snapshot has its own version.
//! - A relist keeps the `Arc` of every object whose uid and resource version are unchanged, and
//!   emits no event for it.
//! - An object that changes but keeps its index values is written once, however many indexes there
//!   are. An index function that fails or panics is reported as an error of that object.
//! - A wait for a write ends when the write is visible, at the caller's deadline, or when the store
//!   has no writer any more. An own write in an overlay never hides a newer state.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod arcs;
mod byte_budget;
mod clone_refs;
mod delta;
mod delta_fifo;
mod deltas;
mod encoded;
mod expiring_store;
mod fetch_error;
mod fifo;
mod hash_index;
mod index;
mod indexer;
mod left_right;
mod lister;
mod lister_watcher;
mod metadata;
mod name_text;
mod number_set;
mod numbering;
mod objects;
mod order;
mod overlay;
mod paged;
mod postings;
mod process_error;
mod published;
mod queue;
mod range;
mod real_fifo;
mod retired;
mod select;
mod snapshot;
mod source;
mod store;
mod tombstone;
mod transform;
mod wait;
mod write_log;
mod written;

pub use arcs::Arcs;
pub use byte_budget::{BudgetError, BudgetStats, ByteBudget, OverBudget, Weigh};
pub use delta::{Delta, Replacement, ResourceEvent};
pub use delta_fifo::{DeltaFifo, DeltaFifoConfig};
pub use deltas::{DELTAS_MAX, Deltas};
pub use encoded::Encoded;
pub use expiring_store::ExpiringStore;
pub use fetch_error::{Cause, FetchError};
pub use fifo::Fifo;
pub use index::{
    FieldLookup, Index, IndexError, IndexHandle, IndexNameTaken, IndexValues, Panicked,
    UnknownIndex,
};
pub use indexer::{
    BUDGET_ERRORS_MAX, INDEX_ERRORS_MAX, Indexer, Indexing, NoName, Replacing, StoreWrite,
    TransactionError,
};
pub use lister::Lister;
pub use lister_watcher::{
    EventType, InvalidEvent, InvalidItem, ListBatch, ListEnd, ListItem, ListRequest, ListStream,
    ListerWatcher, VersionMatch, WatchItem, WatchRequest, WatchStream,
};
pub use metadata::Metadata;
pub use overlay::{OVERLAY_MAX, Overlay};
pub use process_error::ProcessError;
pub use queue::{BATCH_MAX, Batch, Queue};
pub use range::{KeyRange, Page};
pub use real_fifo::RealFifo;
pub use select::Query;
pub use snapshot::Snapshot;
pub use source::{IngestAny, Selection, Source};
pub use tombstone::Deleted;
pub use transform::drop_managed_fields;
pub use wait::WaitError;
pub use write_log::{WRITES_MAX, WriteLog};
pub use written::{Outcome, Visibility, Written};
