//! `Controller`: maps the events of informers to keys and calls a reconciler.

use crate::event_source::{AnyEventSource, OwnerKind};
use crate::own_writes::{Logged, OwnWrites, PendingKeys};
use crate::run::Run;
use crate::run_error::RunError;
use crate::stats::Shared;
use crate::{Config, ControllerHandle, EventSource, Monitor, Reconciler, Stats};
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
pub struct Controller {
    name: Str,
    kind: OwnerKind,
    sources: Vec<Box<dyn AnyEventSource>>,
    own_writes: Vec<Box<dyn OwnWrites>>,
    config: Config,
    /// Set by [`Self::workers`].
    workers: Option<usize>,
    needs_leader: bool,
    /// Created early, so that a monitor is available before the run.
    monitor: Option<Monitor>,
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
        Self::empty(name.into(), OwnerKind::of::<K>()).source(source)
    }

    /// Creates a controller for the objects of a kind that is known only at run time.
    pub fn dynamic<K: Object>(
        name: impl Into<Str>,
        resource: &ApiResource,
        informer: &SharedInformer<K>,
    ) -> Self {
        let kind = OwnerKind::of_resource(resource);
        Self::empty(name.into(), kind).source(EventSource::for_object(informer))
    }

    fn empty(name: Str, kind: OwnerKind) -> Self {
        Self {
            name,
            kind,
            sources: Vec::new(),
            own_writes: Vec::new(),
            config: Config::default(),
            workers: None,
            needs_leader: true,
            monitor: None,
        }
    }

    /// Watches objects and maps them to their controller owner, if it is of this controller's kind.
    #[must_use]
    pub fn owns<W: Object>(self, informer: &SharedInformer<W>) -> Self {
        let source = EventSource::owner(informer, self.kind.clone());
        self.source(source)
    }

    /// Watches objects and maps them to keys with a function.
    #[must_use]
    pub fn watches<W: Object>(
        self,
        informer: &SharedInformer<W>,
        map: impl Fn(&W) -> Vec<ObjectName> + Send + 'static,
    ) -> Self {
        self.source(EventSource::mapped(informer, map))
    }

    /// Adds an event source.
    #[must_use]
    pub fn source<W: Object>(mut self, source: EventSource<W>) -> Self {
        self.sources.push(Box::new(source));
        self
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

    /// Sets the maximum number of concurrent reconciles. Default: 1.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets the configuration. [`Self::workers`] overrides [`Config::workers`], in whichever order
    /// they are called.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
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
        let name = &self.name;
        let make = || Monitor {
            shared: Arc::new(Shared::new(name.clone())),
        };
        self.monitor.get_or_insert_with(make).clone()
    }

    /// Returns a handle that enqueues keys and pauses the controller, for use before and during the
    /// run.
    pub fn handle(&mut self) -> ControllerHandle {
        ControllerHandle {
            shared: self.monitor().shared,
        }
    }

    /// Waits for the informers' first lists, then reconciles until `token` is cancelled, then gives
    /// running reconciles [`Config::stop_timeout`] to end.
    ///
    /// # Errors
    /// An informer did not sync in time, or stopped; running reconciles get the same time then.
    ///
    /// # Cancel safety
    /// Dropping the future drops the running reconciles and removes the handlers.
    pub async fn run(
        mut self,
        reconciler: impl Reconciler,
        token: CancellationToken,
    ) -> Result<Stats, RunError> {
        let monitor = self.monitor();
        let shared = Arc::clone(&monitor.shared);
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
        ended.map(|()| monitor.stats())
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
