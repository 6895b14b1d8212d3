//! `Hooks`: what has to happen beside a write, before it and after it.
//!
//! For what a write needs that is not part of the object: addresses from a range, counts, a
//! notice to somebody. A begin hook may change the new object or refuse it; what it took goes back
//! unless the write succeeds. Rules about one object alone are a `Strategy`'s.

use crate::storage::error::StorageError;
use crate::stored::Stored;
use crate::strategy::BoxFuture;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{AnyObject, Status};
use std::fmt;
use std::future::ready;
use std::sync::Arc;

/// What happens beside the writes of one resource. Objects are of the storage version.
pub trait Hooks: fmt::Debug + Send + Sync + 'static {
    /// Before a new object is prepared, checked and stored: also by an update that creates. Runs
    /// again for each generated name that is tried.
    fn begin_create<'a>(
        &'a self,
        begin: Begin<'a>,
        new: &'a mut dyn AnyObject,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Begun>>, Status>> {
        let _ = (begin, new);
        Box::pin(ready(Ok(None)))
    }

    /// Before a changed object is prepared, checked and stored, on each attempt: what the attempt
    /// before began has been rolled back. Not for subresources.
    fn begin_update<'a>(
        &'a self,
        begin: Begin<'a>,
        new: &'a mut dyn AnyObject,
        old: &'a dyn AnyObject,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Begun>>, Status>> {
        let _ = (begin, new, old);
        Box::pin(ready(Ok(None)))
    }

    /// After an object was stored for the first time.
    fn after_create(&self, stored: &Stored) {
        let _ = stored;
    }

    /// After an object was changed, or a change turned out to change nothing.
    fn after_update(&self, stored: &Stored) {
        let _ = stored;
    }

    /// After an object was removed: by a delete, or by an update that took its last finalizer.
    fn after_delete<'a>(&'a self, stored: &'a Stored) -> BoxFuture<'a, ()> {
        let _ = stored;
        Box::pin(ready(()))
    }
}

/// The write that begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Begin<'a> {
    /// Who asks, and when.
    pub cx: &'a RequestContext,
    /// Whether it is a rehearsal, which is always rolled back: nothing may be taken.
    pub dry_run: bool,
}

/// What a begin hook holds until it is known what becomes of the write.
///
/// # Cancel safety
///
/// It is dropped without being told if the request is given up before anything was written: what it
/// holds has to go back then. So it has to if the future of the begin hook is dropped. Once a write
/// has begun, it goes on to its end, and this is told, though the request is given up.
pub trait Begun: Send {
    /// The write succeeded.
    fn commit(self: Box<Self>) -> BoxFuture<'static, ()>;

    /// Nothing was written.
    fn rollback(self: Box<Self>) -> BoxFuture<'static, ()>;

    /// Nobody knows what became of the write: storage did not answer. It may have happened.
    /// Default: this is dropped.
    fn abandon(self: Box<Self>) {
        drop(self);
    }
}

/// What all hooks of a resource have begun.
#[derive(Default)]
pub(crate) struct AllBegun(Vec<Box<dyn Begun>>);

impl AllBegun {
    /// Begins with each of the hooks in order; if one refuses, those before are rolled back.
    pub(crate) async fn begin(
        hooks: &[Arc<dyn Hooks>],
        begin: Begin<'_>,
        new: &mut dyn AnyObject,
        old: Option<&dyn AnyObject>,
    ) -> Result<Self, Status> {
        let mut all = Self::default();
        for hooks in hooks {
            let begun = match old {
                Some(old) => hooks.begin_update(begin, new, old).await,
                None => hooks.begin_create(begin, new).await,
            };
            match begun {
                Ok(begun) => all.0.extend(begun),
                Err(status) => {
                    all.rollback().await;
                    return Err(status);
                }
            }
        }
        Ok(all)
    }

    pub(crate) async fn commit(self) {
        for begun in self.0 {
            begun.commit().await;
        }
    }

    pub(crate) async fn rollback(self) {
        for begun in self.0 {
            begun.rollback().await;
        }
    }

    /// The write failed; perhaps nobody knows if nothing was written.
    pub(crate) async fn failed(self, error: &StorageError) {
        if !error.may_have_happened() {
            return self.rollback().await;
        }
        for begun in self.0 {
            begun.abandon();
        }
    }
}
