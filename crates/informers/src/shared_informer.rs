//! `SharedInformer`: one watch, one store, any number of handlers.
//!
//! One task, the future of [`SharedInformer::run`], owns the indexer and everything that writes.
//! Handles are cheap clones: they add handlers and indexes, wait for the first list, and give out
//! listers. It is not restarted once it has stopped.

use crate::handler_calls::{self, HandlerRunner};
use crate::informer_state::{HandlerSummary, RunError, SyncError};
use crate::processor;
use crate::shared::{Command, Shared};
use crate::usage::Usage;
use crate::{EventHandler, HandlerConfig, InformerConfig, InformerState, InformerStats};
use crate::{Registration, Subscription};
use kubist_apimachinery::{Object, Str};
use kubist_cache::{Index, IndexHandle, Lister, ListerWatcher, ResourceEvent};
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// One watch, one store, any number of handlers. Clones are the same informer.
pub struct SharedInformer<K> {
    pub(crate) shared: Arc<Shared<K>>,
    usage: Arc<Usage>,
}

impl<K: Object> SharedInformer<K> {
    /// An informer that nobody runs yet.
    pub fn new(source: Arc<dyn ListerWatcher<K>>, config: InformerConfig<K>) -> Self {
        let shared = Shared::new(source, config, Arc::default());
        let usage = shared.new_usage();
        Self::held(Arc::new(shared), usage)
    }

    pub(crate) fn held(shared: Arc<Shared<K>>, usage: Arc<Usage>) -> Self {
        Self { shared, usage }
    }

    /// Keeps the store in step with the server and serves the handlers, until `token` is
    /// cancelled. Handlers finish the call that is under way; what waits for them is dropped.
    ///
    /// # Errors
    /// It was run before.
    ///
    /// # Cancel safety
    /// Dropping the future stops the informer and its handlers at once.
    pub async fn run(&self, token: CancellationToken) -> Result<(), RunError> {
        processor::run(&self.shared, token).await
    }

    /// Adds a handler, with merged delivery and no resyncs, before or after the start. It hears
    /// of what is in the store first, as additions.
    ///
    /// It hears nothing as long as nobody runs the informer; if nobody does for
    /// [`NOT_STARTED_AFTER`](crate::NOT_STARTED_AFTER), that is a
    /// [`Problem::NotStarted`](crate::Problem::NotStarted), which is logged unless somebody asked
    /// to be told. (Nobody looks if this is called outside of a tokio runtime.)
    ///
    /// The same handler added twice is two handlers. One that is added after the informer stopped
    /// is [`HandlerState::Stopped`](crate::HandlerState::Stopped) from the beginning.
    pub fn add_handler(&self, handler: impl EventHandler<K>) -> Registration<K> {
        self.add_handler_with(handler, HandlerConfig::default())
    }

    /// Adds a handler that wants to be told in its own way.
    pub fn add_handler_with(
        &self,
        handler: impl EventHandler<K>,
        config: HandlerConfig,
    ) -> Registration<K> {
        let listener = self.listener(config, HandlerRunner::Task(handler_calls::plain(handler)));
        Registration::new(listener)
    }

    /// Adds a handler that the informer's own task calls, with each change as soon as the store
    /// shows it. Nothing waits, so nothing is merged and nothing is kept: it hears of every state
    /// that a reader may have seen. It is for handlers that only note a name, as a controller
    /// does: what a call takes, the other handlers wait. [`HandlerConfig::delivery`] and
    /// [`HandlerConfig::blocking`] mean nothing to it.
    pub fn add_handler_in_place(
        &self,
        handler: impl EventHandler<K>,
        config: HandlerConfig,
    ) -> Registration<K> {
        let listener = self.listener(config, HandlerRunner::InPlace(Box::new(handler)));
        Registration::new(listener)
    }

    /// Adds a handler whose calls may wait. The next begins when the last is done; others do not
    /// notice how long that takes.
    pub fn add_waiting_handler<F, C>(&self, handler: F, config: HandlerConfig) -> Registration<K>
    where
        F: FnMut(ResourceEvent<K>) -> C + Send + 'static,
        C: Future<Output = ()> + Send,
    {
        let listener = self.listener(config, HandlerRunner::Task(handler_calls::waiting(handler)));
        Registration::new(listener)
    }

    /// Changes to be asked for, instead of a handler that is called. As with
    /// [handlers](Self::add_handler), a start that was forgotten is logged.
    pub fn subscribe(&self, config: HandlerConfig) -> Subscription<K> {
        Subscription::new(self.listener(config, HandlerRunner::Caller))
    }

    fn listener(
        &self,
        config: HandlerConfig,
        attend: HandlerRunner<K>,
    ) -> Arc<crate::listener::Listener<K>> {
        self.shared
            .add_seat(config, Arc::clone(&self.usage), attend)
    }

    /// Adds an index, before or after the start. The handle works at once: look-ups scan until the
    /// index is built (which, once the informer has stopped, is for ever).
    pub fn add_index(&self, index: Index<K>) -> IndexHandle<K> {
        let handle = IndexHandle::new(index);
        self.shared.command(Command::Index(handle.clone()));
        handle
    }

    /// Waits until the first list is in the store. Handlers may still be behind
    /// ([`Registration::synced`]).
    ///
    /// It waits as long as there are [problems](Self::last_problem), and as long as the server does
    /// not serve the kind; [`Self::settled`] does not wait for that.
    ///
    /// # Errors
    /// The informer stopped before, or nobody runs it.
    pub async fn synced(&self) -> Result<Lister<K>, SyncError> {
        self.shared.synced().await?;
        Ok(self.lister_unsynced())
    }

    /// Waits until somebody runs the informer.
    ///
    /// # Errors
    /// Nobody does, for [`NOT_STARTED_AFTER`](crate::NOT_STARTED_AFTER).
    pub async fn started(&self) -> Result<(), SyncError> {
        let started = self.shared.started().await;
        started.then_some(()).ok_or(SyncError::NotStarted)
    }

    /// What keeps it from listing or watching, in one line with the cause and what to do; none if
    /// nothing does, or it was never tried.
    pub fn last_problem(&self) -> Option<Str> {
        self.shared.last_problem.lock().clone()
    }

    /// Waits until it is known how the first list stands: it is in the store
    /// ([`InformerState::Synced`]), the server does not serve the kind for now, the informer
    /// stopped, or nobody runs it ([`InformerState::Created`]).
    pub async fn settled(&self) -> InformerState {
        self.shared.settled().await
    }

    /// A lister of whatever is there, which before the first list is nothing.
    ///
    /// As long as it or a clone of it exists, a factory keeps the informer running.
    pub fn lister_unsynced(&self) -> Lister<K> {
        self.shared
            .lister
            .clone()
            .keep_alive(Arc::clone(&self.usage) as _)
    }

    /// Where the informer stands.
    pub fn state(&self) -> InformerState {
        self.shared.standing().state
    }

    /// What it has done, and what it holds.
    pub fn stats(&self) -> InformerStats {
        self.shared.stats()
    }

    /// Its handlers, in the order in which they were added; those that have ended are left out.
    pub fn handlers(&self) -> Vec<HandlerSummary> {
        self.shared.handlers()
    }

    /// Its name.
    pub fn name(&self) -> &Str {
        &self.shared.config.name
    }
}

impl<K> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            usage: Arc::clone(&self.usage),
        }
    }
}

impl<K> fmt::Debug for SharedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformer")
            .field("name", &self.shared.config.name)
            .field("state", &self.shared.standing().state)
            .finish_non_exhaustive()
    }
}
