//! `Following`: a running informer with the stream of its events, and the summary of both.

use super::super::memory;
use super::Target;
use super::arrivals::Arrivals;
use super::problems::Problems;
use super::summary::Summary;
use kubist_apimachinery::Object;
use kubist_cache::{ListerWatcher, ResourceEvent};
use kubist_informers::{
    Delivery, HandlerConfig, HandlerState, InformerConfig, Overflow, Problem, RunError,
    SharedInformer, Subscription,
};
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Limit of events that wait for output in order; beyond it, events of the same object are merged.
const WAITING_MAX: usize = 65_536;

/// A running informer, and what is shown of it.
pub(super) struct Following<K: Object> {
    informer: SharedInformer<K>,
    changes: Subscription<K>,
    summary: Summary,
    arrivals: Arrivals,
    running: JoinSet<Result<(), RunError>>,
    stop: DropGuard,
}

impl<K: Object> Following<K> {
    /// Starts it, in a task of its own, because slow output must not block the watch.
    pub(super) fn start(
        target: &Target,
        source: Arc<dyn ListerWatcher<K>>,
        problems: Arc<Problems>,
    ) -> Self {
        let summary = Summary::start(&target.resource, &target.client, memory::resident());
        let arrivals = Arrivals::default();
        let config = InformerConfig {
            name: target.resource.plural.clone(),
            on_problem: Some(Arc::new(move |problem: &Problem| problems.report(problem))),
            ..InformerConfig::default()
        };
        let informer = SharedInformer::new(arrivals.stamp(source), config);
        let changes = informer.subscribe(HandlerConfig {
            delivery: Delivery::Bounded {
                pending_max: WAITING_MAX,
                on_overflow: Overflow::Snapshot,
            },
            ..HandlerConfig::default()
        });
        let mut running = JoinSet::new();
        let (runs, token) = (informer.clone(), CancellationToken::new());
        let stop = token.clone().drop_guard();
        running.spawn(async move { runs.run(token).await });
        Self {
            informer,
            changes,
            summary,
            arrivals,
            running,
            stop,
        }
    }

    /// Returns the next event; none after the end.
    ///
    /// Cancel safe.
    pub(super) async fn next(&mut self) -> Option<ResourceEvent<K>> {
        self.changes.next().await
    }

    /// Counts an event that is shown now.
    pub(super) fn shown(&mut self, change: &ResourceEvent<K>) {
        let age = self.arrivals.age(change);
        self.summary.count(change, age);
    }

    /// Reports whether all of the first list is shown, and notes when it was.
    pub(super) fn has_synced(&mut self) -> bool {
        let synced = self.changes.registration().state() == HandlerState::Synced;
        if synced {
            self.summary.synced();
        }
        synced
    }

    /// Returns the version of the last event; empty before there is one.
    pub(super) fn version(&self) -> String {
        self.informer
            .lister_unsynced()
            .resource_version()
            .to_string()
    }

    /// Stops it and prints the summary.
    pub(super) async fn finish(mut self) {
        self.summary.finish(&self.informer);
        drop(self.stop);
        while self.running.join_next().await.is_some() {}
    }
}
