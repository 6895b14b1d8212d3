//! `Hooks`: what has to happen beside a write, before it and after it.
//!
//! For what a write needs that is not part of the object: addresses from a range, counts, a
//! notice to somebody. A begin hook may change the new object or refuse it; what it took goes back
//! unless the write succeeds. Rules about one object alone are a `Strategy`'s.

use crate::{RequestContext, Stored};
use kubist_apimachinery::{AnyObject, Status};
use std::fmt;
use std::sync::Arc;

/// What happens beside the writes of one resource. Objects are of the storage version.
pub trait Hooks: fmt::Debug + Send + Sync + 'static {
    /// Before a new object is prepared, checked and stored: also by an update that creates. Runs
    /// again for each generated name that is tried. A dry run begins and never commits.
    fn begin_create(
        &self,
        cx: &RequestContext,
        new: &mut dyn AnyObject,
    ) -> Result<Option<Box<dyn Begun>>, Status> {
        let _ = (cx, new);
        Ok(None)
    }

    /// Before a changed object is prepared, checked and stored, on each attempt: what the attempt
    /// before began has been rolled back. Not for subresources.
    fn begin_update(
        &self,
        cx: &RequestContext,
        new: &mut dyn AnyObject,
        old: &dyn AnyObject,
    ) -> Result<Option<Box<dyn Begun>>, Status> {
        let _ = (cx, new, old);
        Ok(None)
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
    fn after_delete(&self, stored: &Stored) {
        let _ = stored;
    }
}

/// What a begin hook holds until it is known what becomes of the write. Dropping it uncommitted
/// rolls it back.
pub trait Begun: Send {
    /// The write succeeded.
    fn commit(self: Box<Self>);
}

/// What all hooks of a resource have begun.
#[derive(Default)]
pub(crate) struct AllBegun(Vec<Box<dyn Begun>>);

impl AllBegun {
    /// Begins with each of the hooks in order; if one refuses, those before are rolled back.
    pub(crate) fn begin(
        hooks: &[Arc<dyn Hooks>],
        mut begin: impl FnMut(&dyn Hooks) -> Result<Option<Box<dyn Begun>>, Status>,
    ) -> Result<Self, Status> {
        let mut all = Self::default();
        for hooks in hooks {
            all.0.extend(begin(&**hooks)?);
        }
        Ok(all)
    }

    pub(crate) fn commit(self) {
        for begun in self.0 {
            begun.commit();
        }
    }
}
