//! `Controller`: maps the events of informers to keys and calls a reconciler.

use crate::event_source::{AnyEventSource, OwnerKind};
use crate::own_writes::{Logged, OwnWrites, PendingKeys};
use crate::run::Run;
use crate::run_error::RunError;
use crate::stats::{Shared, Watched as _};
use crate::{Config, ControllerHandle, EventSource, Key, Monitor, Reconciler, Stats};
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, Object, ObjectName, Str};
use kubist_cache::WriteLog;
use kubist_informers::SharedInformer;
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Calls a reconciler for the objects of one kind.
///
/// It is built from the informers to watch, and then [run](Self::run). It does not run the
/// informers: a factory or a [`Manager`](crate::Manager) does.
pub struct Controller<Q = ObjectName> {
    name: Str,
    /// None for keys that are not names of objects of one kind.
    kind: Option<OwnerKind>,
    sources: Vec<Box<dyn AnyEventSource<Q>>>,
    own_writes: Vec<Box<dyn OwnWrites<Q>>>,
    config: Config<Q>,
    /// Set by [`Self::workers`].
    workers: Option<usize>,
    needs_leader: bool,
    /// Created early, for monitors and handles before the run.
    shared: Option<Arc<Shared<Q>>>,
    /// It was told to own objects without being of a kind.
    owns_nothing: bool,
}

impl Controller {
    /// Creates a controller for the objects of an informer, in any stored form. With the feature
    /// `kube`, also for types that derive kube's `Resource`.
    pub fn new<K: Ingest>(name: impl Into<Str>, informer: &SharedInformer<K>) -> Self {
        Self::with_source::<K, K>(name, EventSource::for_object(informer))
    }

    /// Creates a controller for objects of the kind `K` whose keys come from `source`, for instance
    /// with predicates or resyncs for its own kind.
    pub fn with_source<K: Ingest, W: Object>(name: impl Into<Str>, source: EventSource<W>) -> Self {
        Self::empty(name.into(), Some(OwnerKind::of::<K>())).source(source)
    }

    /// Creates a controller for the objects of a kind that is known only at run time.
    pub fn dynamic<K: Object>(
        name: impl Into<Str>,
        resource: &ApiResource,
        informer: &SharedInformer<K>,
    ) -> Self {
        let kind = OwnerKind::of_resource(resource);
        Self::empty(name.into(), Some(kind)).source(EventSource::for_object(informer))
    }

    /// Watches objects and maps them to their controller owner, if it is of this controller's kind.
    #[must_use]
    pub fn owns<W: Object>(mut self, informer: &SharedInformer<W>) -> Self {
        let Some(kind) = self.kind.clone() else {
            self.owns_nothing = true;
            return self;
        };
        self.source(EventSource::owner(informer, kind))
    }

    /// Delays a key until the informer shows everything that was written to its kind for that key,
    /// as recorded in `log`. Call it once for each kind. The key waits without a worker, at most
    /// for [`Config::own_writes_timeout`].
    ///
    /// ```
    /// # use kubist_api::apps::v1::{Deployment, ReplicaSet};
    /// # use kubist_apimachinery::ObjectName;
    /// # use kubist_cache::WriteLog;
    /// # use kubist_client::{Api, Client};
    /// # use kubist_controller::{Action, Controller, Error};
    /// # use kubist_informers::SharedInformer;
    /// # fn example(
    /// #     client: Client,
    /// #     deployments: SharedInformer<Deployment>,
    /// #     replica_sets: SharedInformer<ReplicaSet>,
    /// # ) {
    /// let log = WriteLog::<ReplicaSet>::new();
    /// let controller = Controller::new("deployment", &deployments)
    ///     .owns(&replica_sets)
    ///     .reads_own_writes(&replica_sets, &log);
    /// let reconcile = move |key: ObjectName| {
    ///     let api = Api::<ReplicaSet>::namespaced(client.clone(), key.namespace.clone())
    ///         .with_write_log(&log.for_key(&key));
    ///     async move {
    ///         api.create(&ReplicaSet::default()).await?; // seen before `key` comes again
    ///         Ok::<_, Error>(Action::done())
    ///     }
    /// };
    /// # drop((controller, reconcile));
    /// # }
    /// ```
    #[must_use]
    pub fn reads_own_writes<W: Object, K: 'static>(
        mut self,
        informer: &SharedInformer<W>,
        log: &WriteLog<K>,
    ) -> Self {
        self.own_writes.push(Box::new(Logged {
            lister: informer.lister_unsynced(),
            log: log.clone(),
        }));
        self
    }
}

impl<Q: Key> Controller<Q> {
    /// Creates a controller that watches nothing yet, for keys that are not the names of objects of
    /// one kind: [`source`](Self::source) and [`watches`](Self::watches) say what leads to which.
    pub fn keyed(name: impl Into<Str>) -> Self {
        Self::empty(name.into(), None)
    }

    fn empty(name: Str, kind: Option<OwnerKind>) -> Self {
        Self {
            name,
            kind,
            sources: Vec::new(),
            own_writes: Vec::new(),
            config: Config::default(),
            workers: None,
            needs_leader: true,
            shared: None,
            owns_nothing: false,
        }
    }

    /// Watches objects and maps them to keys with a function.
    #[must_use]
    pub fn watches<W: Object>(
        self,
        informer: &SharedInformer<W>,
        map: impl Fn(&W) -> Vec<Q> + Send + 'static,
    ) -> Self {
        self.source(EventSource::mapped(informer, map))
    }

    /// Adds an event source.
    #[must_use]
    pub fn source<W: Object>(mut self, source: EventSource<W, Q>) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// Sets the maximum number of concurrent reconciles. Default: 1.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets the configuration. [`Self::workers`] overrides [`Config::workers`], in whichever order
    /// they are called.
    #[must_use]
    pub fn config(mut self, config: Config<Q>) -> Self {
        self.config = config;
        self
    }

    /// Sets whether a manager with leader election runs the controller only while it leads.
    /// Default: true, as `NeedLeaderElection` of controller-runtime. Without a manager, and in one
    /// without leader election, it has no effect.
    #[must_use]
    pub fn need_leader_election(mut self, need: bool) -> Self {
        self.needs_leader = need;
        self
    }

    pub(crate) fn needs_leader(&self) -> bool {
        self.needs_leader
    }

    /// Returns the controller's name.
    pub fn name(&self) -> &Str {
        &self.name
    }

    /// Returns a monitor of the controller's figures, for use before, during and after the run.
    pub fn monitor(&mut self) -> Monitor {
        Monitor {
            watched: self.shared(),
        }
    }

    /// Returns a handle that enqueues keys and pauses the controller, for use before and during the
    /// run.
    pub fn handle(&mut self) -> ControllerHandle<Q> {
        ControllerHandle {
            shared: self.shared(),
        }
    }

    fn shared(&mut self) -> Arc<Shared<Q>> {
        let name = &self.name;
        let make = || Arc::new(Shared::new(name.clone()));
        Arc::clone(self.shared.get_or_insert_with(make))
    }

    /// Waits for the informers' first lists, then reconciles until `token` is cancelled, then gives
    /// running reconciles [`Config::stop_timeout`] to end.
    ///
    /// # Errors
    /// An informer did not sync in time, or stopped; running reconciles get the same time then. Or
    /// the controller [owns](Self::owns) objects, and was made without a kind.
    ///
    /// # Cancel safety
    /// Dropping the future drops the running reconciles and removes the handlers.
    pub async fn run(
        mut self,
        reconciler: impl Reconciler<Q>,
        token: CancellationToken,
    ) -> Result<Stats, RunError> {
        if self.owns_nothing {
            return Err(RunError::NoKind {
                controller: self.name,
            });
        }
        let shared = self.shared();
        shared.open_queue(std::mem::take(&mut self.config.queue));
        let sources = std::mem::take(&mut self.sources);
        let run = Run {
            attached: sources.into_iter().map(|it| it.attach(&shared)).collect(),
            shared: Arc::clone(&shared),
            pending: Arc::new(PendingKeys::new(
                std::mem::take(&mut self.own_writes),
                self.config.own_writes_timeout,
            )),
            workers: self.workers.unwrap_or(self.config.workers).max(1),
            sync_timeout: self.config.sync_timeout,
            reconcile_timeout: self.config.reconcile_timeout,
            stop_timeout: self.config.stop_timeout,
        };
        drop(self);
        let ended = run.until(reconciler, token).await;
        shared.queue().shut_down();
        ended.map(|()| shared.stats())
    }
}

impl<Q> fmt::Debug for Controller<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
