//! `Hooks`: actions before and after a write.
//!
//! For side effects of a write outside the object: addresses from a range, counts, notifications. A
//! begin hook may change the new object or reject it; its allocations are released unless the write
//! succeeds. Rules about one object alone belong into a `Strategy`.

use crate::storage::error::StorageError;
use crate::stored::Stored;
use crate::strategy::BoxFuture;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{AnyObject, Status};
use std::fmt;
use std::future::ready;
use std::sync::Arc;

/// The hooks of one resource. Objects are of the storage version.
pub trait Hooks: fmt::Debug + Send + Sync + 'static {
    /// Runs before a new object is prepared, validated and stored, also in an update that creates.
    /// Runs again for each generated name that is tried.
    fn begin_create<'a>(
        &'a self,
        begin: Begin<'a>,
        new: &'a mut dyn AnyObject,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Begun>>, Status>> {
        let _ = (begin, new);
        Box::pin(ready(Ok(None)))
    }

    /// Runs before a changed object is prepared, validated and stored, on each attempt, after the
    /// rollback of the previous attempt. Not for subresources.
    fn begin_update<'a>(
        &'a self,
        begin: Begin<'a>,
        new: &'a mut dyn AnyObject,
        old: &'a dyn AnyObject,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Begun>>, Status>> {
        let _ = (begin, new, old);
        Box::pin(ready(Ok(None)))
    }

    /// Runs after a new object was stored.
    fn after_create(&self, stored: &Stored) {
        let _ = stored;
    }

    /// Runs after an object was updated, even if nothing changed.
    fn after_update(&self, stored: &Stored) {
        let _ = stored;
    }

    /// Runs after an object was removed: by a delete, or by an update that removed its last
    /// finalizer.
    fn after_delete<'a>(&'a self, stored: &'a Stored) -> BoxFuture<'a, ()> {
        let _ = stored;
        Box::pin(ready(()))
    }
}

/// The write that begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Begin<'a> {
    /// The requesting user and the time of the request.
    pub cx: &'a RequestContext,
    /// Whether this is a dry run, which is always rolled back: nothing may be allocated.
    pub dry_run: bool,
}

/// The transaction of a begin hook, open until the result of the write is known.
///
/// # Cancel safety
///
/// Dropping it must release its allocations: that happens if the request is dropped before the
/// write. The same holds for the future of the begin hook. Once a write has begun, it runs to
/// completion and one of these methods is called, even if the request is dropped.
pub trait Begun: Send {
    /// The write succeeded.
    fn commit(self: Box<Self>) -> BoxFuture<'static, ()>;

    /// Nothing was written.
    fn rollback(self: Box<Self>) -> BoxFuture<'static, ()>;

    /// The result of the write is unknown because storage did not answer. It may have happened.
    /// Default: drops the transaction.
    fn abandon(self: Box<Self>) {
        drop(self);
    }
}

/// The transactions of all hooks of a resource.
#[derive(Default)]
pub(crate) struct AllBegun(Vec<Box<dyn Begun>>);

impl From<Vec<Box<dyn Begun>>> for AllBegun {
    fn from(all: Vec<Box<dyn Begun>>) -> Self {
        Self(all)
    }
}

impl AllBegun {
    /// Runs the begin hooks in order; if one fails, the earlier ones are rolled back.
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

    /// Adds others.
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Reports whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
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

    /// Ends the transactions after a failed write, whose effect may be unknown.
    pub(crate) async fn failed(self, error: &StorageError) {
        if !error.may_have_happened() {
            return self.rollback().await;
        }
        for begun in self.0 {
            begun.abandon();
        }
    }
}
