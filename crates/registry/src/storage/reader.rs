//! `Reader` and `WatchSource`: reads of consistent ranges, and the events that follow them.
//!
//! Implemented by engines and by watch caches, so that the rules of lists and watches exist once.

use crate::storage::error::StorageError;
use crate::storage::index::{Indexed, ObjectIndex};
use crate::storage::predicate::Predicate;
use crate::strategy::BoxFuture;
use kubist_apimachinery::Status;
use kubist_storage::{
    KeyRange, Kv, KvFuture, RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchError,
    WatchRangeRequest,
};
use std::fmt;
use std::sync::Arc;

/// Reads ranges.
pub(crate) trait Reader: fmt::Debug + Send + Sync {
    /// Reads a key range at a revision, or at the newest.
    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>>;

    /// Returns the newest readable revision.
    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>>;

    /// Reports whether this is a cache, and not storage itself.
    fn is_cache(&self) -> bool {
        false
    }

    /// Returns the newest state with its index, if it is in this process.
    fn indexed(&self) -> Option<Indexed<'_>> {
        None
    }
}

/// The initial state of a watch.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) reader: Arc<dyn Reader>,
    pub(crate) revision: u64,
    /// The cache generation of the state; it changes when the cache is rebuilt.
    pub(crate) generation: u64,
}

/// The requested initial state of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedState {
    /// Any state.
    Any,
    /// The newest state at the time of the request.
    MostRecent,
    /// This revision or a later one.
    NotOlderThan(u64),
}

/// The objects that a watch observes.
#[derive(Clone, Debug)]
pub(crate) struct Interest {
    pub(crate) range: KeyRange,
    pub(crate) predicate: Predicate,
}

/// The source of a watch's state and events.
pub(crate) trait WatchSource: fmt::Debug + Send + Sync {
    /// Returns an initial state.
    fn snapshot(&self, requested: RequestedState) -> BoxFuture<'_, Result<Snapshot, StorageError>>;

    /// Returns a start revision: the newest, without reading objects.
    fn head(&self, requested: RequestedState) -> BoxFuture<'_, Result<u64, StorageError>>;

    /// Returns the events after a revision. `generation`: that of the initial state, if one was
    /// read.
    fn follow<'a>(
        &'a self,
        interest: &'a Interest,
        after: u64,
        generation: Option<u64>,
    ) -> BoxFuture<'a, Result<Watch, WatchError>>;

    /// Reports whether this is a cache, which counts its storage reads itself.
    fn is_cache(&self) -> bool {
        false
    }

    /// Checks that watches can begin.
    fn check_ready(&self) -> Result<(), Status>;
}

/// An engine.
#[derive(Debug)]
pub(crate) struct KvReader {
    pub(crate) kv: Arc<dyn Kv>,
    pub(crate) index: Option<Arc<ObjectIndex>>,
}

impl Reader for KvReader {
    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        self.kv.range(request)
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        self.kv.revision()
    }

    fn indexed(&self) -> Option<Indexed<'_>> {
        let index = self.index.as_deref()?;
        let (tree, Revision(revision)) = self.kv.head()?;
        Some(Indexed {
            index,
            tree,
            revision,
            oldest: self.kv.compacted().0,
        })
    }
}

impl WatchSource for KvReader {
    fn snapshot(&self, requested: RequestedState) -> BoxFuture<'_, Result<Snapshot, StorageError>> {
        Box::pin(async move {
            let revision = self.kv.revision().await?.0;
            match requested {
                RequestedState::NotOlderThan(requested) if requested > revision => {
                    Err(StorageError::TooLarge {
                        requested,
                        current: revision,
                    })
                }
                _ => Ok(Snapshot {
                    reader: Arc::new(Self {
                        kv: Arc::clone(&self.kv),
                        index: self.index.clone(),
                    }),
                    revision,
                    generation: 0,
                }),
            }
        })
    }

    fn head(&self, _requested: RequestedState) -> BoxFuture<'_, Result<u64, StorageError>> {
        Box::pin(async { Ok(self.kv.revision().await?.0) })
    }

    fn follow<'a>(
        &'a self,
        interest: &'a Interest,
        after: u64,
        _generation: Option<u64>,
    ) -> BoxFuture<'a, Result<Watch, WatchError>> {
        let request = WatchRangeRequest::new(interest.range.clone())
            .previous()
            .from(Revision(after).next());
        Box::pin(self.kv.watch(request))
    }

    fn check_ready(&self) -> Result<(), Status> {
        Ok(())
    }
}
