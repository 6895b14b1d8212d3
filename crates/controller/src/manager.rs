//! `Manager`: runs several controllers and their informers as one future.

use crate::{Controller, Error, Monitor, Reconciler, RunError, Stats};
use futures_core::future::BoxFuture;
use kubist_apimachinery::Str;
use kubist_cache::Source;
use kubist_informers::{InformerSummary, SharedInformerFactory};
use std::fmt;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Runs controllers and the informers of a factory.
///
/// Controllers start together, and each waits for its own informers. They stop before the informers
/// do. If one fails, all are stopped.
pub struct Manager<S> {
    factory: SharedInformerFactory<S>,
    parts: Vec<Part>,
    monitors: Vec<Monitor>,
}

struct Part {
    name: Str,
    start: Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, Result<(), PartError>> + Send>,
}

enum PartError {
    Controller(RunError),
    Task(Error),
}

/// How long a task may continue after the stop before it is dropped, as in controller-runtime.
const TASK_STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// The figures of controllers and informers.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// The figures of each controller by name, in the order in which they were added.
    pub controllers: Vec<(Str, Stats)>,
    /// The figures of each informer.
    pub informers: Vec<InformerSummary>,
}

/// Why a manager stopped by itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// A controller failed.
    #[error(transparent)]
    Controller(RunError),
    /// A task failed.
    #[error("{name} failed")]
    Task {
        /// The task's name.
        name: Str,
        /// The cause.
        #[source]
        source: Error,
    },
    /// A task panicked.
    #[error("{name} panicked")]
    Panicked {
        /// The task's name.
        name: Str,
    },
}

impl<S: Source> Manager<S> {
    /// Creates a manager without controllers.
    pub fn new(factory: SharedInformerFactory<S>) -> Self {
        Self {
            factory,
            parts: Vec::new(),
            monitors: Vec::new(),
        }
    }

    /// Adds a controller. Its informers should be the factory's, which the manager starts; others
    /// must be run elsewhere.
    #[must_use]
    pub fn with(mut self, mut controller: Controller, reconciler: impl Reconciler) -> Self {
        self.monitors.push(controller.monitor());
        let name = controller.name().clone();
        self.parts.push(Part {
            name,
            start: Box::new(move |token| {
                Box::pin(async move {
                    let run = controller.run(reconciler, token).await;
                    run.map(drop).map_err(PartError::Controller)
                })
            }),
        });
        self
    }

    /// Adds a task that runs until its token is cancelled, for instance a metrics server. If it
    /// ends early without an error, the others continue. It is dropped if it has not ended 30 s
    /// after the stop.
    #[must_use]
    pub fn with_task<F>(
        mut self,
        name: impl Into<Str>,
        task: impl FnOnce(CancellationToken) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        self.parts.push(Part {
            name: name.into(),
            start: Box::new(move |token| {
                let run = task(token.clone());
                Box::pin(async move {
                    tokio::select! {
                        biased;
                        ended = run => ended.map_err(PartError::Task),
                        () = out_of_time(token) => Ok(()),
                    }
                })
            }),
        });
        self
    }

    /// Returns monitors of the controllers' figures, in the order in which they were added.
    pub fn monitors(&self) -> Vec<Monitor> {
        self.monitors.clone()
    }

    /// Returns the factory.
    pub fn factory(&self) -> &SharedInformerFactory<S> {
        &self.factory
    }

    /// Runs everything until `token` is cancelled, then stops it, the factory last.
    ///
    /// # Errors
    /// The first failure, after which the others were stopped.
    ///
    /// # Cancel safety
    /// Dropping the future drops everything that runs.
    pub async fn run(self, token: CancellationToken) -> Result<Summary, ManagerError> {
        let Self {
            factory,
            parts,
            monitors,
        } = self;
        let token = token.child_token();
        factory.start();
        let mut running = JoinSet::new();
        let mut names = hashbrown::HashMap::new();
        for Part { name, start } in parts {
            let handle = running.spawn(start(token.clone()));
            names.insert(handle.id(), name);
        }
        let mut first = Ok(());
        while let Some(ended) = running.join_next_with_id().await {
            let failed = match ended {
                Ok((_, Ok(()))) => continue,
                Ok((id, Err(error))) => failure(names.remove(&id), error),
                Err(error) => ManagerError::Panicked {
                    name: names.remove(&error.id()).unwrap_or_default(),
                },
            };
            first = first.and(Err(failed));
            token.cancel();
        }
        // If all controllers and tasks ended by themselves, the informers run until the stop.
        if first.is_ok() {
            token.cancelled().await;
        }
        let informers = factory.summary();
        factory.shutdown().await;
        let controllers = monitors.iter().map(|it| (it.name().clone(), it.stats()));
        first.map(|()| Summary {
            controllers: controllers.collect(),
            informers,
        })
    }
}

/// Completes when a task should have ended after the stop.
async fn out_of_time(token: CancellationToken) {
    token.cancelled().await;
    tokio::time::sleep(TASK_STOP_TIMEOUT).await;
}

fn failure(name: Option<Str>, error: PartError) -> ManagerError {
    match error {
        PartError::Controller(error) => ManagerError::Controller(error),
        PartError::Task(source) => ManagerError::Task {
            name: name.unwrap_or_default(),
            source,
        },
    }
}

impl<S> fmt::Debug for Manager<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager")
            .field("factory", &self.factory)
            .field(
                "parts",
                &self.parts.iter().map(|it| &it.name).collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}
