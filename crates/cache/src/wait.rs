//! Waiting until a store shows a write of one's own.
//!
//! No clock and no runtime: the deadline is a future of the caller's, and waiters are woken by the
//! writer's [`publish`](crate::Indexer::publish). It never waits past the deadline, nor for a
//! writer that is gone.

use crate::{Lister, Visibility, Written};
use kubist_apimachinery::{Object, ResourceVersion, Str};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

/// Why a wait for a write ended without it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The deadline came first.
    #[error("the cache is at version {} and does not show {written} yet{}", quoted(.store), because(.problem.as_ref()))]
    Deadline {
        /// What was waited for.
        written: Written,
        /// How far the store had come.
        store: ResourceVersion,
        /// What kept it from coming further, if whoever feeds it has said.
        problem: Option<Str>,
    },
    /// The deadline came, and the versions of the write and of the store cannot be compared: the
    /// store may have passed the write without ever showing exactly it.
    #[error("versions cannot be compared: {} in the cache, {written}", quoted(.store))]
    Incomparable {
        /// What was waited for.
        written: Written,
        /// What the store had come to.
        store: ResourceVersion,
    },
    /// Nobody writes to the store any more; its informer has stopped.
    #[error("the cache is closed and does not show {written}")]
    Closed {
        /// What was waited for.
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
    /// Whether the published state shows this write or something later.
    ///
    /// A saved object is shown when the object of that name, or the store itself, has come to its
    /// version: so also when a selector keeps the object out of the store, or when it is deleted
    /// again by now. A deletion is shown when no object of that name has that uid any more, even
    /// if a new one has the name.
    pub fn visibility(&self, written: &Written) -> Visibility {
        written.visibility(&self.published.state.load())
    }

    /// Waits until the store shows a write ([`Self::visibility`] says what that means), or until
    /// `deadline` is ready. If the store shows it already, the deadline does not matter.
    ///
    /// On an idle resource it is a bookmark that tells how far the store has come: servers send
    /// them about once a minute.
    ///
    /// # Errors
    /// The deadline, or a closed store, came first.
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

    /// As [`Self::wait_for`], for several writes within one deadline.
    ///
    /// # Errors
    /// The deadline, or a closed store, came before one of them was shown.
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
            // Listening before looking: what is published in between rings.
            let mut changed = self.published.changed.listen();
            let is_closed = self.published.is_closed();
            if self.visibility(written) == Visibility::Shown {
                return Ok(());
            }
            if is_closed {
                let written = written.clone();
                return Err(WaitError::Closed { written });
            }
            // The deadline is asked each time, so that a busy writer cannot keep it from counting.
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

    /// At the deadline: one last look.
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
