//! Stores, indexers, listers and delta queues for Kubernetes objects.

mod fetch_error;
mod lister_watcher;
mod source;

pub use fetch_error::{Cause, FetchError};
pub use lister_watcher::{
    InvalidItem, ListBatch, ListEnd, ListItem, ListRequest, ListStream, ListerWatcher,
    VersionMatch, WatchItem, WatchRequest, WatchStream,
};
pub use source::{IngestAny, Selection, Source};
