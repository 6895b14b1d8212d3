//! `Manager`: runs several controllers and their informers as one future.

#[cfg(feature = "leader-election")]
use crate::election::Election;
use crate::{Controller, Error, Key, Monitor, Reconciler, RunError, Stats};
use futures_core::future::BoxFuture;
use kubist_apimachinery::Str;
use kubist_cache::Source;
use kubist_informers::{InformerSummary, SharedInformerFactory};
#[cfg(feature = "leader-election")]
use kubist_leader_election::{InvalidConfig, LeaderElectionConfig, LeaderWatch};
use std::fmt;
use std::time::Duration;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

/// Runs controllers and the informers of a factory.
///
/// Controllers start together, and each waits for its own informers. They stop before the informers
/// do. If one fails, all are stopped.
pub struct Manager<S> {
    factory: SharedInformerFactory<S>,
    parts: Vec<Part>,
    monitors: Vec<Monitor>,
    /// Those of other clusters.
    further: Vec<Box<dyn AnyFactory>>,
    #[cfg(feature = "leader-election")]
    election: Option<Election>,
}

/// A factory with its source erased.
trait AnyFactory: Send {
    fn start(&self);
    fn summary(&self) -> Vec<InformerSummary>;
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}

impl<S: Source> AnyFactory for SharedInformerFactory<S> {
    fn start(&self) {
        Self::start(self);
    }
    fn summary(&self) -> Vec<InformerSummary> {
        Self::summary(self)
    }
    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(Self::shutdown(self))
    }
}

struct Part {
    name: Str,
    #[cfg_attr(
        not(feature = "leader-election"),
        expect(dead_code, reason = "without elections there is no leader to wait for")
    )]
    needs_leader: bool,
    start: StartPart,
}

type StartPart =
    Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, Result<(), PartError>> + Send>;

enum PartError {
    Controller(RunError),
    Task(Error),
    #[cfg(feature = "leader-election")]
    Election(Error),
}

/// The name of the task that takes part in leader election.
#[cfg(feature = "leader-election")]
const ELECTION: &str = "leader election";

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
    /// This process was the leader and is no more. With the feature `leader-election`, the source
    /// can be [downcast](Error::downcast_ref) to a `LeaderElectionError`.
    #[error("leader election failed")]
    LeaderElection {
        /// The cause.
        #[source]
        source: Error,
    },
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
            further: Vec::new(),
            #[cfg(feature = "leader-election")]
            election: None,
        }
    }

    /// Adds a controller. Its informers should be the factory's, which the manager starts; others
    /// must be run elsewhere.
    #[must_use]
    pub fn with<Q: Key>(
        mut self,
        mut controller: Controller<Q>,
        reconciler: impl Reconciler<Q>,
    ) -> Self {
        self.monitors.push(controller.monitor());
        let name = controller.name().clone();
        self.parts.push(Part {
            name,
            needs_leader: controller.needs_leader(),
            start: Box::new(move |token| {
                Box::pin(async move {
                    let run = controller.run(reconciler, token).await;
                    run.map(drop).map_err(PartError::Controller)
                })
            }),
        });
        self
    }

    /// Adds the informers of another cluster, or of other settings, which are started and stopped
    /// with the manager's. A controller of several clusters is one controller for each; they may
    /// share a reconciler, which learns the cluster from what it was made with:
    ///
    /// ```
    /// # use kubist_api::core::v1::ConfigMap;
    /// # use kubist_apimachinery::ObjectName;
    /// # use kubist_client::Client;
    /// # use kubist_controller::{Action, Controller, Error, Manager};
    /// # use kubist_informers::SharedInformerFactory;
    /// # async fn sync(cluster: &str, key: ObjectName) -> Result<Action, Error> {
    /// #     Ok(Action::done())
    /// # }
    /// # fn example(here: Client, there: Client) -> Manager<Client> {
    /// let mut manager = Manager::new(SharedInformerFactory::new(here.clone()));
    /// for (cluster, client) in [("here", here), ("there", there)] {
    ///     let factory = SharedInformerFactory::new(client);
    ///     let maps = factory.informer::<ConfigMap>();
    ///     let controller = Controller::new(format!("maps-{cluster}"), &maps);
    ///     manager = manager
    ///         .with_factory(factory)
    ///         .with(controller, move |key| sync(cluster, key));
    /// }
    /// # manager }
    /// ```
    #[must_use]
    pub fn with_factory<T: Source>(mut self, factory: SharedInformerFactory<T>) -> Self {
        self.further.push(Box::new(factory));
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
            needs_leader: false,
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

    /// Takes part in leader election: controllers start when this process becomes the leader,
    /// except those that [do not need it](Controller::need_leader_election). Informers and tasks
    /// start at once, so that the caches of a new leader are filled.
    ///
    /// At the stop, the lease is given up after the controllers have ended. If the term is lost,
    /// the manager stops with [`ManagerError::LeaderElection`], as in controller-runtime. Running
    /// reconciles then have until another process may lead
    /// ([`lease_duration`](LeaderElectionConfig::lease_duration) after the last renewal), and at
    /// most their stop timeout; what must not happen after the term can be run with
    /// [`Term::run`](kubist_leader_election::Term::run).
    ///
    /// ```
    /// # use kubist_client::Client;
    /// # use kubist_controller::Manager;
    /// # use kubist_informers::SharedInformerFactory;
    /// # use kubist_leader_election::{InvalidConfig, LeaderElectionConfig, LeaseLock};
    /// # fn example(client: Client) -> Result<(), InvalidConfig> {
    /// let lock = LeaseLock::new(client.clone(), "kube-system", "my-operator");
    /// let manager = Manager::new(SharedInformerFactory::new(client))
    ///     .with_leader_election(LeaderElectionConfig::new(lock))?;
    /// let leader = manager.leader_watch(); // for reconcilers, readiness and metrics
    /// # drop((manager, leader));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The settings cannot work.
    #[cfg(feature = "leader-election")]
    pub fn with_leader_election(
        mut self,
        config: LeaderElectionConfig,
    ) -> Result<Self, InvalidConfig> {
        self.election = Some(Election::new(config)?);
        Ok(self)
    }

    /// Returns a view of who leads; none without leader election.
    #[cfg(feature = "leader-election")]
    pub fn leader_watch(&self) -> Option<LeaderWatch> {
        self.election.as_ref().map(Election::watch)
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
    pub async fn run(mut self, token: CancellationToken) -> Result<Summary, ManagerError> {
        let token = token.child_token();
        self.factory.start();
        self.further.iter().for_each(|it| it.start());
        let (mut running, mut names) = self.start(&token);
        let Self {
            factory,
            monitors,
            further,
            ..
        } = self;
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
        let mut informers = factory.summary();
        factory.shutdown().await;
        for other in further {
            informers.extend(other.summary());
            other.shutdown().await;
        }
        let controllers = monitors.iter().map(|it| (it.name().clone(), it.stats()));
        first.map(|()| Summary {
            controllers: controllers.collect(),
            informers,
        })
    }
}

impl<S> Manager<S> {
    /// Starts the parts, and returns them with their names.
    fn start(&mut self, token: &CancellationToken) -> (Running, hashbrown::HashMap<Id, Str>) {
        let mut running = JoinSet::new();
        let mut names = hashbrown::HashMap::new();
        #[cfg(feature = "leader-election")]
        let election = self.election.take();
        for part in std::mem::take(&mut self.parts) {
            let (token, start) = (token.clone(), part.start);
            #[cfg(feature = "leader-election")]
            if let Some(election) = election.as_ref().filter(|_| part.needs_leader) {
                let handle = running.spawn(election.standby().run(token, start));
                names.insert(handle.id(), part.name);
                continue;
            }
            names.insert(running.spawn(start(token)).id(), part.name);
        }
        #[cfg(feature = "leader-election")]
        if let Some(election) = election {
            let election = election.run(token.clone());
            let handle = running.spawn(async { election.await.map_err(PartError::Election) });
            names.insert(handle.id(), ELECTION.into());
        }
        (running, names)
    }
}

type Running = JoinSet<Result<(), PartError>>;

/// Completes when a task should have ended after the stop.
async fn out_of_time(token: CancellationToken) {
    token.cancelled().await;
    tokio::time::sleep(TASK_STOP_TIMEOUT).await;
}

fn failure(name: Option<Str>, error: PartError) -> ManagerError {
    match error {
        #[cfg(feature = "leader-election")]
        PartError::Election(source) => ManagerError::LeaderElection { source },
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
