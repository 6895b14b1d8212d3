//! `SharedInformer`: one watch, one store, any number of handlers.
//!
//! One task, the future of [`SharedInformer::run`], owns the indexer and everything that writes.
//! Handles are cheap clones: they add handlers and indexes, wait for the first list, and give out
//! listers. It is not restarted once it has stopped.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kubist_apimachinery::{Object, Str};
use kubist_cache::{Index, IndexError, IndexHandle, Indexer, Lister, ListerWatcher};
use kubist_reflector::{Config, Report, Transform};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::processor::Processor;
use crate::seat::Seat;
use crate::{EventHandler, HandlerConfig, Registration, Subscription};

/// How an informer works. `Default` is right for a client of any API server.
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct InformerConfig<K> {
    /// A name for reports. Default: empty.
    pub name: Str,
    /// How to list and watch.
    pub reflector: Config,
    /// Varies pauses and watch timeouts. Default: `None`, a different one for each informer.
    pub seed: Option<u64>,
    /// Changes each object as it arrives, once, before anybody sees it. Default: none.
    pub transform: Option<Transform<K>>,
    /// Told of everything that went wrong; the informer goes on by itself. Default: none.
    pub on_problem: Option<OnProblem>,
}

/// Told of problems, on the informer's task: it must return soon.
pub type OnProblem = Arc<dyn Fn(&Problem) + Send + Sync>;

impl<K> Default for InformerConfig<K> {
    fn default() -> Self {
        Self {
            name: Str::default(),
            reflector: Config::default(),
            seed: None,
            transform: None,
            on_problem: None,
        }
    }
}

impl<K> Clone for InformerConfig<K> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            reflector: self.reflector.clone(),
            seed: self.seed,
            transform: self.transform.clone(),
            on_problem: self.on_problem.clone(),
        }
    }
}

impl<K> fmt::Debug for InformerConfig<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerConfig")
            .field("name", &self.name)
            .field("reflector", &self.reflector)
            .finish_non_exhaustive()
    }
}

/// Something that went wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// In listing or watching, or with one object.
    Fetch(Report),
    /// An index function failed.
    Index(IndexError),
    /// A handler panicked in one call.
    HandlerPanicked {
        /// Its name.
        handler: Str,
    },
    /// A handler fell too far behind, and its registration ended.
    HandlerOverflowed {
        /// Its name.
        handler: Str,
    },
}

/// What an informer has done, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InformerStats {
    /// Of listing and watching.
    pub reflector: kubist_reflector::Stats,
    /// Objects in the store.
    pub objects: usize,
    /// Changes told to handlers, each counted once.
    pub changes: u64,
    /// Handlers that are served.
    pub handlers: usize,
    /// Calls of handlers that panicked.
    pub handler_panics: u64,
    /// Handlers that ended because they fell too far behind.
    pub handler_overflows: u64,
    /// Index functions that failed for an object.
    pub index_errors: u64,
    /// Objects that were decoded in full, however often each; for encoded forms only.
    pub full_decodes: u64,
}

/// The informer has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the informer has stopped")]
pub struct Stopped;

/// Why an informer cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It runs already, or has run: an informer runs once.
    #[error("the informer was started before")]
    StartedBefore,
}

/// Where an informer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InformerState {
    /// Nobody runs it yet.
    Created,
    /// The first list is not complete.
    Syncing,
    /// The first list is in the store.
    Synced,
    /// It runs no more.
    Stopped,
}

/// One watch, one store, any number of handlers. Clones are the same informer.
pub struct SharedInformer<K> {
    pub(crate) shared: Arc<Shared<K>>,
}

/// What handles and the running task share.
pub(crate) struct Shared<K> {
    pub(crate) config: InformerConfig<K>,
    pub(crate) source: Arc<dyn ListerWatcher<K>>,
    pub(crate) lister: Lister<K>,
    /// Waits here until the informer runs.
    indexer: Mutex<Option<Indexer<K>>>,
    /// What handles ask of the task, in order; bounded by what callers hold.
    pub(crate) commands: Mutex<Vec<Command<K>>>,
    pub(crate) wake: Notify,
    pub(crate) state: watch::Sender<InformerState>,
    pub(crate) stats: Mutex<InformerStats>,
    pub(crate) decodes: Arc<AtomicU64>,
}

pub(crate) enum Command<K> {
    Seat(Arc<Seat<K>>, Option<Box<dyn EventHandler<K>>>),
    Index(IndexHandle<K>),
}

impl<K: Object> SharedInformer<K> {
    /// An informer that nobody runs yet.
    pub fn new(source: Arc<dyn ListerWatcher<K>>, config: InformerConfig<K>) -> Self {
        Self::with_decodes(source, config, Arc::default())
    }

    pub(crate) fn with_decodes(
        source: Arc<dyn ListerWatcher<K>>,
        config: InformerConfig<K>,
        decodes: Arc<AtomicU64>,
    ) -> Self {
        let indexer = Indexer::new();
        Self {
            shared: Arc::new(Shared {
                config,
                source,
                lister: indexer.lister(),
                indexer: Mutex::new(Some(indexer)),
                commands: Mutex::new(Vec::new()),
                wake: Notify::new(),
                state: watch::Sender::new(InformerState::Created),
                stats: Mutex::new(InformerStats::default()),
                decodes,
            }),
        }
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
        let indexer = self
            .shared
            .indexer
            .lock()
            .take()
            .ok_or(RunError::StartedBefore)?;
        Processor::new(Arc::clone(&self.shared), indexer)
            .run(token)
            .await;
        Ok(())
    }

    /// Adds a handler, with merged delivery and no resyncs, before or after the start. It hears
    /// of what is in the store first, as additions.
    pub fn add_handler(&self, handler: impl EventHandler<K>) -> Registration<K> {
        self.add_handler_with(handler, HandlerConfig::default())
    }

    /// Adds a handler that wants to be told in its own way.
    pub fn add_handler_with(
        &self,
        handler: impl EventHandler<K>,
        config: HandlerConfig,
    ) -> Registration<K> {
        Registration::new(self.seat(config, Some(Box::new(handler))))
    }

    /// Changes to be asked for, instead of a handler that is called.
    pub fn subscribe(&self, config: HandlerConfig) -> Subscription<K> {
        Subscription::new(self.seat(config, None))
    }

    fn seat(
        &self,
        config: HandlerConfig,
        handler: Option<Box<dyn EventHandler<K>>>,
    ) -> Arc<Seat<K>> {
        let seat = Seat::new(config);
        self.command(Command::Seat(Arc::clone(&seat), handler));
        seat
    }

    /// Adds an index, before or after the start. The handle works at once: look-ups scan until the
    /// index is built.
    pub fn add_index(&self, index: Index<K>) -> IndexHandle<K> {
        let handle = IndexHandle::new(index);
        self.command(Command::Index(handle.clone()));
        handle
    }

    fn command(&self, command: Command<K>) {
        let mut commands = self.shared.commands.lock();
        if *self.shared.state.borrow() == InformerState::Stopped {
            if let Command::Seat(seat, _) = command {
                seat.end(crate::HandlerState::Stopped);
            }
            return;
        }
        commands.push(command);
        drop(commands);
        self.shared.wake.notify_one();
    }

    /// Waits until the first list is in the store. Handlers may still be behind
    /// ([`Registration::synced`]).
    ///
    /// It waits for ever if nobody runs the informer.
    ///
    /// # Errors
    /// The informer stopped before.
    pub async fn synced(&self) -> Result<Lister<K>, Stopped> {
        let mut states = self.shared.state.subscribe();
        let reached =
            |state: &InformerState| matches!(state, InformerState::Synced | InformerState::Stopped);
        match states.wait_for(reached).await.as_deref() {
            Ok(InformerState::Synced) => Ok(self.shared.lister.clone()),
            _ => Err(Stopped),
        }
    }

    /// A lister of whatever is there, which before the first list is nothing.
    pub fn lister_before_sync(&self) -> Lister<K> {
        self.shared.lister.clone()
    }

    /// Where the informer stands.
    pub fn state(&self) -> InformerState {
        *self.shared.state.borrow()
    }

    /// What it has done, and what it holds.
    pub fn stats(&self) -> InformerStats {
        let mut stats = *self.shared.stats.lock();
        stats.full_decodes = self.shared.decodes.load(Ordering::Relaxed);
        stats
    }

    /// Its name.
    pub fn name(&self) -> &Str {
        &self.shared.config.name
    }
}

impl<K> Shared<K> {
    pub(crate) fn report(&self, problem: &Problem) {
        if let Some(on_problem) = &self.config.on_problem {
            on_problem(problem);
        }
    }

    pub(crate) fn seed(&self) -> u64 {
        // The standard library's hasher keys are the one source of randomness that needs no crate.
        self.config
            .seed
            .unwrap_or_else(|| RandomState::new().build_hasher().finish())
    }
}

impl<K> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<K> fmt::Debug for SharedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformer")
            .field("name", &self.shared.config.name)
            .field("state", &*self.shared.state.borrow())
            .finish_non_exhaustive()
    }
}
