//! What lists and watches read: ranges of one consistent state, and the events that follow it.
//!
//! An engine is one, a watch cache is another; so the rules of lists and watches stand once.

use crate::storage::error::StorageError;
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
    /// An interval of keys at a revision, or at the newest.
    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>>;

    /// The newest revision to read at.
    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>>;

    /// Whether it is a cache, and not storage itself.
    fn is_cache(&self) -> bool {
        false
    }
}

/// A state that watches begin with.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) reader: Arc<dyn Reader>,
    pub(crate) revision: u64,
    /// Tells a state of a cache that began anew since.
    pub(crate) generation: u64,
}

/// Which state a watch begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Whatever is at hand.
    Any,
    /// The newest at the time of the request.
    MostRecent,
    /// This one or a later one.
    NotOlderThan(u64),
}

/// What a watch wants to see.
#[derive(Clone, Debug)]
pub(crate) struct Interest {
    pub(crate) range: KeyRange,
    pub(crate) predicate: Predicate,
}

/// Gives watches what they deliver.
pub(crate) trait WatchSource: fmt::Debug + Send + Sync {
    /// A state to begin with.
    fn snapshot(&self, wanted: Wanted) -> BoxFuture<'_, Result<Snapshot, StorageError>>;

    /// A revision after which to follow: the newest, without reading objects.
    fn head(&self, wanted: Wanted) -> BoxFuture<'_, Result<u64, StorageError>>;

    /// The events after a revision. `generation`: that of the state they follow, if one was read.
    fn follow<'a>(
        &'a self,
        interest: &'a Interest,
        after: u64,
        generation: Option<u64>,
    ) -> BoxFuture<'a, Result<Watch, WatchError>>;

    /// Whether it is a cache, which counts what it gets from storage itself.
    fn is_cache(&self) -> bool {
        false
    }

    /// Whether watches can begin.
    fn check_ready(&self) -> Result<(), Status>;
}

/// An engine.
#[derive(Debug)]
pub(crate) struct KvReader(pub(crate) Arc<dyn Kv>);

impl Reader for KvReader {
    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        self.0.range(request)
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        self.0.revision()
    }
}

impl WatchSource for KvReader {
    fn snapshot(&self, wanted: Wanted) -> BoxFuture<'_, Result<Snapshot, StorageError>> {
        Box::pin(async move {
            let revision = self.0.revision().await?.0;
            match wanted {
                Wanted::NotOlderThan(requested) if requested > revision => {
                    Err(StorageError::TooLarge {
                        requested,
                        current: revision,
                    })
                }
                _ => Ok(Snapshot {
                    reader: Arc::new(Self(Arc::clone(&self.0))),
                    revision,
                    generation: 0,
                }),
            }
        })
    }

    fn head(&self, _wanted: Wanted) -> BoxFuture<'_, Result<u64, StorageError>> {
        Box::pin(async { Ok(self.0.revision().await?.0) })
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
        Box::pin(self.0.watch(request))
    }

    fn check_ready(&self) -> Result<(), Status> {
        Ok(())
    }
}
