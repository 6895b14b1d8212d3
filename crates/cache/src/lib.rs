//! Stores, indexers, listers and delta queues for Kubernetes objects, and the seam through which
//! objects come.
//!
//! What client-go has in `tools/cache`, without the reflector and the informers (which stand on
//! this crate). It does no I/O, spawns nothing, reads no clock and knows no encoding beyond what
//! the objects bring along. It is not a database: the server's answer to a list replaces all.
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
//! Look-ups: by name and key; by index, one or several at once; by label selector and by
//! [`Query`], answered from the indexes that cover a part of it; in order, page by page
//! ([`KeyRange`]); on a [`Snapshot`] where several must agree.
//!
//! Three queues implement [`Queue`]: [`RealFifo`] keeps every event in order, [`DeltaFifo`] gathers
//! events by object, [`Fifo`] keeps the latest value of each.
//!
//! Read your writes: [`WriteLog`] knows which writes a cache does not show yet,
//! [`Lister::wait_for`] waits for one, [`Overlay`] shows them before the watch does. A
//! [`ByteBudget`] limits what the objects of a store occupy; [`ExpiringStore`] forgets by time.
//!
//! Contracts:
//! - One writer, by `&mut`; each read sees one published state, whole. No reader waits for the
//!   writer, and the writer waits for no reader.
//! - The store's version says that everything up to it is in the store. A snapshot has its own.
//! - A relist keeps the `Arc` of every object whose uid and version did not change, and tells
//!   nobody of it.
//! - An object that changes and keeps its index values is written once, whatever the number of
//!   indexes. An index function that fails or panics is that object's reported error.
//! - A wait for a write ends: by the write, by the caller's deadline, or because nobody writes to
//!   the store any more. An own write in an overlay never hides anything newer.

mod byte_budget;
mod clone_refs;
mod delta;
mod delta_fifo;
mod deltas;
mod encoded;
mod expiring_store;
mod fetch_error;
mod fifo;
mod index;
mod indexer;
mod left_right;
mod lister;
mod lister_watcher;
mod metadata;
mod name_key;
mod objects;
mod order;
mod overlay;
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
mod trie;
mod wait;
mod write_log;
mod written;

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
