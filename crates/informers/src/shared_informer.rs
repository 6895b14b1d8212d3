//! `SharedInformer`: one watch and one store with any number of handlers.
//!
//! One task, the future of [`SharedInformer::run`], owns the indexer and is the only writer.
//! Handles are cheap clones: they add handlers and indexes, wait for the first list, and return
//! listers. An informer cannot be restarted once it has stopped.

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

/// One watch and one store with any number of handlers. Clones refer to the same informer.
pub struct SharedInformer<K> {
    pub(crate) shared: Arc<Shared<K>>,
    usage: Arc<Usage>,
}

impl<K: Object> SharedInformer<K> {
    /// Creates an informer that is not running yet.
    pub fn new(source: Arc<dyn ListerWatcher<K>>, config: InformerConfig<K>) -> Self {
        let shared = Shared::new(source, config, Arc::default());
        let usage = shared.new_usage();
        Self::held(Arc::new(shared), usage)
    }

    pub(crate) fn held(shared: Arc<Shared<K>>, usage: Arc<Usage>) -> Self {
        Self { shared, usage }
    }

    /// Keeps the store up to date and calls the handlers until `token` is cancelled. Handlers
    /// finish their current call; their pending events are dropped.
    ///
    /// # Errors
    /// The informer was run before.
    ///
    /// # Cancel safety
    /// Dropping the future stops the informer and its handlers at once.
    pub async fn run(&self, token: CancellationToken) -> Result<(), RunError> {
        processor::run(&self.shared, token).await
    }

    /// Adds a handler with merged delivery and no resyncs, before or after the start. It first
    /// receives the stored objects as additions.
    ///
    /// It receives nothing until the informer runs. If the informer is not run for
    /// [`NOT_STARTED_AFTER`](crate::NOT_STARTED_AFTER), a
    /// [`Problem::NotStarted`](crate::Problem::NotStarted) is reported, or logged if there is no
    /// callback. (There is no such check if this is called outside a tokio runtime.)
    ///
    /// Adding the same handler twice makes two handlers. A handler that is added after the informer
    /// stopped is [`HandlerState::Stopped`](crate::HandlerState::Stopped) from the start.
    pub fn add_handler(&self, handler: impl EventHandler<K>) -> Registration<K> {
        self.add_handler_with(handler, HandlerConfig::default())
    }

    /// Adds a handler with a configuration.
    pub fn add_handler_with(
        &self,
        handler: impl EventHandler<K>,
        config: HandlerConfig,
    ) -> Registration<K> {
        let listener = self.listener(config, HandlerRunner::Task(handler_calls::plain(handler)));
        Registration::new(listener)
    }

    /// Adds a handler that the informer's own task calls with each event as soon as the store shows
    /// it. Nothing is queued or merged, so it receives every state that a reader may have seen. It
    /// is for handlers that only enqueue a name, as controllers do: the time of each call delays
    /// the other handlers. [`HandlerConfig::delivery`] and [`HandlerConfig::blocking`] are ignored.
    pub fn add_handler_in_place(
        &self,
        handler: impl EventHandler<K>,
        config: HandlerConfig,
    ) -> Registration<K> {
        let listener = self.listener(config, HandlerRunner::InPlace(Box::new(handler)));
        Registration::new(listener)
    }

    /// Adds an asynchronous handler. The next call begins when the last is done, without delaying
    /// other handlers.
    pub fn add_waiting_handler<F, C>(&self, handler: F, config: HandlerConfig) -> Registration<K>
    where
        F: FnMut(ResourceEvent<K>) -> C + Send + 'static,
        C: Future<Output = ()> + Send,
    {
        let listener = self.listener(config, HandlerRunner::Task(handler_calls::waiting(handler)));
        Registration::new(listener)
    }

    /// Returns a stream of events in place of a handler. As with [handlers](Self::add_handler), a
    /// missing start is reported.
    pub fn subscribe(&self, config: HandlerConfig) -> Subscription<K> {
        Subscription::new(self.listener(config, HandlerRunner::Caller))
    }

    fn listener(
        &self,
        config: HandlerConfig,
        runner: HandlerRunner<K>,
    ) -> Arc<crate::listener::Listener<K>> {
        self.shared
            .add_listener(config, Arc::clone(&self.usage), runner)
    }

    /// Adds an index before or after the start. The handle works at once: look-ups scan until the
    /// index is built, and forever if the informer has stopped.
    pub fn add_index(&self, index: Index<K>) -> IndexHandle<K> {
        let handle = IndexHandle::new(index);
        self.shared.command(Command::Index(handle.clone()));
        handle
    }

    /// Waits until the first list is in the store. Handlers may still be behind
    /// ([`Registration::synced`]).
    ///
    /// It waits through [problems](Self::last_problem), and while the server does not serve the
    /// kind; [`Self::settled`] does not wait for that.
    ///
    /// # Errors
    /// The informer stopped first, or nobody runs it.
    pub async fn synced(&self) -> Result<Lister<K>, SyncError> {
        self.shared.synced().await?;
        Ok(self.lister_unsynced())
    }

    /// Waits until the informer is run.
    ///
    /// # Errors
    /// Nobody runs it for [`NOT_STARTED_AFTER`](crate::NOT_STARTED_AFTER).
    pub async fn started(&self) -> Result<(), SyncError> {
        let started = self.shared.started().await;
        started.then_some(()).ok_or(SyncError::NotStarted)
    }

    /// Returns the current problem of listing or watching, in one line with the cause and advice;
    /// `None` if there is none, or nothing was tried yet.
    pub fn last_problem(&self) -> Option<Str> {
        self.shared.last_problem.lock().clone()
    }

    /// Waits until the outcome of the first list is known: it is in the store
    /// ([`InformerState::Synced`]), the server does not serve the kind at present, the informer
    /// stopped, or nobody runs it ([`InformerState::Created`]).
    pub async fn settled(&self) -> InformerState {
        self.shared.settled().await
    }

    /// Returns a lister without waiting for the first list, before which it is empty.
    ///
    /// As long as it or a clone of it exists, a factory keeps the informer running.
    pub fn lister_unsynced(&self) -> Lister<K> {
        self.shared
            .lister
            .clone()
            .keep_alive(Arc::clone(&self.usage) as _)
    }

    /// Returns the state.
    pub fn state(&self) -> InformerState {
        self.shared.status().state
    }

    /// Returns the figures.
    pub fn stats(&self) -> InformerStats {
        self.shared.stats()
    }

    /// Returns the active handlers in the order in which they were added.
    pub fn handlers(&self) -> Vec<HandlerSummary> {
        self.shared.handlers()
    }

    /// Returns the name.
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
            .field("state", &self.shared.status().state)
            .finish_non_exhaustive()
    }
}
