//! Waits until a store shows one's own write.
//!
//! There is no clock and no runtime: the deadline is a future of the caller, and waiters are woken
//! by the writer's [`publish`](crate::Indexer::publish). A wait ends at the latest at the deadline,
//! or when the writer is dropped.

use crate::{Lister, Visibility, Written};
use kubist_apimachinery::{Object, ResourceVersion, Str};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

/// Why a wait for a write failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The deadline passed first.
    #[error("the cache is at version {} and does not show {written} yet{}", quoted(.store), because(.problem.as_ref()))]
    Deadline {
        /// The write.
        written: Written,
        /// The version of the store.
        store: ResourceVersion,
        /// The problem that keeps the store from being up to date, if known.
        problem: Option<Str>,
    },
    /// The deadline passed, and the versions of the write and the store cannot be compared: the
    /// store may have passed the write without showing exactly it.
    #[error("versions cannot be compared: {} in the cache, {written}", quoted(.store))]
    Incomparable {
        /// The write.
        written: Written,
        /// The version of the store.
        store: ResourceVersion,
    },
    /// The store has no writer any more; its informer has stopped.
    #[error("the cache is closed and does not show {written}")]
    Closed {
        /// The write.
        written: Written,
    },
}

fn because(problem: Option<&Str>) -> String {
    problem.map_or_else(String::new, |problem| format!(": {problem}"))
}

fn quoted(version: &ResourceVersion) -> String {
    format!("{:?}", version.as_str())
}

impl<K: Object> Lister<K> {
    /// Reports whether the published state includes this write or a later one.
    ///
    /// A saved object is visible when the object of that name, or the store itself, has reached its
    /// version. This includes objects that a selector excludes and objects that were deleted again.
    /// A deletion is visible when no object of that name has that uid any more, even if a new
    /// object has the name.
    pub fn visibility(&self, written: &Written) -> Visibility {
        written.visibility(&self.published.state.load())
    }

    /// Waits until a write is [visible](Self::visibility), or `deadline` completes. If it is
    /// visible already, the deadline does not matter.
    ///
    /// On an idle resource the store's version advances by bookmarks only, which servers send about
    /// once a minute.
    ///
    /// # Errors
    /// The deadline passed, or the store was closed, first.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use kubist_apimachinery::ObjectMeta;
    /// # use kubist_cache::{Delta, Indexer, WaitError, Written};
    /// # async fn example() {
    /// let mut indexer = Indexer::new();
    /// let lister = indexer.lister();
    /// let meta = |version: &str| {
    ///     let (name, resource_version) = ("web".into(), version.into());
    ///     ObjectMeta { name, resource_version, ..Default::default() }
    /// };
    /// let written = Written::saved(&meta("7"));
    /// let at_once = std::future::ready(()); // elsewhere: tokio::time::sleep(limit)
    /// let late = lister.wait_for(&written, at_once).await;
    /// assert!(matches!(late, Err(WaitError::Deadline { .. })));
    ///
    /// indexer.apply(Delta::Added(Arc::new(meta("7"))), &mut Vec::new());
    /// indexer.publish();
    /// assert_eq!(lister.wait_for(&written, std::future::pending::<()>()).await, Ok(()));
    /// # }
    /// ```
    pub async fn wait_for(
        &self,
        written: &Written,
        deadline: impl Future,
    ) -> Result<(), WaitError> {
        self.wait_until(written, pin!(deadline)).await
    }

    /// Does the same as [`Self::wait_for`] for several writes with one deadline.
    ///
    /// # Errors
    /// The deadline passed, or the store was closed, before one of them was visible.
    pub async fn wait_for_all(
        &self,
        writes: impl IntoIterator<Item = Written>,
        deadline: impl Future,
    ) -> Result<(), WaitError> {
        let mut deadline = pin!(deadline);
        for written in writes {
            self.wait_until(&written, deadline.as_mut()).await?;
        }
        Ok(())
    }

    async fn wait_until(
        &self,
        written: &Written,
        mut deadline: Pin<&mut impl Future>,
    ) -> Result<(), WaitError> {
        loop {
            // Listening before looking: a publication in between fires the event.
            let mut changed = self.published.changed.listen();
            let is_closed = self.published.is_closed();
            if self.visibility(written) == Visibility::Shown {
                return Ok(());
            }
            if is_closed {
                let written = written.clone();
                return Err(WaitError::Closed { written });
            }
            // The deadline is polled each time, so that frequent publications cannot starve it.
            let in_time = poll_fn(|cx| {
                let rang = Pin::new(&mut changed).poll(cx).is_ready();
                match deadline.as_mut().poll(cx) {
                    Poll::Ready(_) => Poll::Ready(false),
                    Poll::Pending if rang => Poll::Ready(true),
                    Poll::Pending => Poll::Pending,
                }
            });
            if !in_time.await {
                return self.judge(written);
            }
        }
    }

    /// Checks one last time at the deadline.
    fn judge(&self, written: &Written) -> Result<(), WaitError> {
        let state = self.published.state.load();
        let store = state.resource_version.clone();
        let is_shown = written.visibility(&state);
        let written = written.clone();
        match is_shown {
            Visibility::Shown => Ok(()),
            Visibility::Unknown => Err(WaitError::Incomparable { written, store }),
            Visibility::NotYet => {
                let problem = self.published.problem.load();
                let problem = problem.as_deref().cloned();
                Err(WaitError::Deadline {
                    written,
                    store,
                    problem,
                })
            }
        }
    }
}
