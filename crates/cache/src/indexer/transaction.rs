//! Several writes that become visible together, with an error for each that failed.
//!
//! The contract is that of client-go's `Transaction` and `TransactionError`. Difference: readers
//! see the result after [`Indexer::publish`], as with any other write.

use super::Indexer;
use kubist_apimachinery::{Object, ObjectName};
use std::fmt;
use std::sync::Arc;

/// One write of a transaction.
#[expect(
    clippy::exhaustive_enums,
    reason = "a store has these writes and no others"
)]
pub enum StoreWrite<K> {
    /// Adds an object or replaces the one of the same name.
    Upsert(Arc<K>),
    /// Removes an object, like [`Indexer::delete`].
    Delete(Arc<K>),
    /// Removes the object of this name, like [`Indexer::remove`].
    Remove(ObjectName),
}

/// An object has no name, and so no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object has no name")]
#[non_exhaustive]
pub struct NoName;

/// Some writes failed; the others were applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} of {total} writes failed", .failed.len())]
#[non_exhaustive]
pub struct TransactionError {
    /// The positions of the applied writes.
    pub done: Vec<usize>,
    /// The positions and errors of the failed writes.
    pub failed: Vec<(usize, NoName)>,
    /// The number of writes.
    pub total: usize,
}

impl<K: Object> Indexer<K> {
    /// Applies several writes in order. A write that fails is skipped and reported by its position.
    /// The store's version becomes that of the last object.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use kubist_apimachinery::ObjectMeta;
    /// use kubist_cache::{Indexer, StoreWrite};
    ///
    /// let named = ObjectMeta { name: "web".into(), ..Default::default() };
    /// let writes = [ObjectMeta::default(), named].map(|it| StoreWrite::Upsert(Arc::new(it)));
    /// let mut indexer = Indexer::new();
    /// let error = indexer.transact(writes).expect_err("one of them has no name");
    /// assert_eq!((error.done, error.failed.len(), error.total), (vec![1], 1, 2));
    /// ```
    ///
    /// # Errors
    /// Some writes failed.
    pub fn transact(
        &mut self,
        writes: impl IntoIterator<Item = StoreWrite<K>>,
    ) -> Result<(), TransactionError> {
        let mut error = TransactionError {
            done: Vec::new(),
            failed: Vec::new(),
            total: 0,
        };
        for (position, write) in writes.into_iter().enumerate() {
            error.total += 1;
            if write.name().is_empty() {
                error.failed.push((position, NoName));
                continue;
            }
            error.done.push(position);
            match write {
                StoreWrite::Upsert(object) => drop(self.upsert(object)),
                StoreWrite::Delete(object) => drop(self.delete(&object)),
                StoreWrite::Remove(name) => drop(self.remove(&name)),
            }
        }
        if error.failed.is_empty() {
            Ok(())
        } else {
            Err(error)
        }
    }
}

impl<K: Object> StoreWrite<K> {
    fn name(&self) -> &str {
        match self {
            Self::Upsert(object) | Self::Delete(object) => object.name(),
            Self::Remove(name) => &name.name,
        }
    }
}

impl<K> Clone for StoreWrite<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Upsert(object) => Self::Upsert(Arc::clone(object)),
            Self::Delete(object) => Self::Delete(Arc::clone(object)),
            Self::Remove(name) => Self::Remove(name.clone()),
        }
    }
}

impl<K: Object> fmt::Debug for StoreWrite<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Upsert(object) => write!(f, "Upsert({})", object.object_name()),
            Self::Delete(object) => write!(f, "Delete({})", object.object_name()),
            Self::Remove(name) => write!(f, "Remove({name})"),
        }
    }
}
