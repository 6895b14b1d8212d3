//! `Stage`: the application's namespace, as the demonstration observes it.
//!
//! It has its own shared informers, so that waiting needs no requests. Results of steps are
//! verified through the API (`verify`).

use super::availability::{APP_LABEL, Availability, is_live, is_ready};
use super::error::DemoError;
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{Namespaced, ResourceFacts, Str};
use kubist_cache::{Lister, ResourceEvent, Selection};
use kubist_client::{Api, Client};
use kubist_informers::{
    Delivery, FactoryConfig, HandlerConfig, SharedInformer, SharedInformerFactory,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

/// The namespace of the application.
pub(super) const NAMESPACE: &str = "shop";
/// Time limit of each condition.
const DEADLINE: Duration = Duration::from_secs(60);
/// Limit of queued Pod changes; more than the demonstration causes.
const POD_EVENTS_MAX: usize = 65_536;

/// The namespace and its objects.
#[derive(Debug)]
pub(super) struct Stage {
    client: Client,
    factory: SharedInformerFactory<Client>,
    deployments: Lister<Deployment>,
    replica_sets: Lister<ReplicaSet>,
    pods: Lister<Pod>,
    pod_informer: SharedInformer<Pod>,
    /// Changes with every event.
    changed: watch::Sender<u64>,
}

impl Stage {
    /// Begins to watch the namespace.
    pub(super) async fn open(client: Client) -> Result<Self, DemoError> {
        let factory = SharedInformerFactory::with_config(
            client.clone(),
            FactoryConfig {
                selection: Selection::all().in_namespace(NAMESPACE),
                ..FactoryConfig::default()
            },
        );
        let changed = watch::Sender::new(0);
        let pod_informer = factory.informer::<Pod>();
        let stage = Self {
            deployments: lister(&factory.informer(), &changed),
            replica_sets: lister(&factory.informer(), &changed),
            pods: lister(&pod_informer, &changed),
            pod_informer,
            client,
            factory,
            changed,
        };
        stage.factory.start();
        let synced = timeout(DEADLINE, stage.factory.wait_for_sync()).await;
        if matches!(synced, Ok(Ok(()))) {
            return Ok(stage);
        }
        Err(DemoError::Deadline {
            what: format!("the informers of namespace {NAMESPACE} have synced"),
            waited: DEADLINE,
            seen: format!("{:?}", stage.factory.summary()),
        })
    }

    /// An informer for a kind in the namespace.
    pub(super) fn api<K>(&self) -> Api<K>
    where
        K: Ingest,
        K::Kind: ResourceFacts<Scope = Namespaced>,
    {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub(super) fn deployment(&self, name: &str) -> Option<Arc<Deployment>> {
        self.deployments.find(NAMESPACE, name)
    }

    /// Returns the ready replicas in the status of a Deployment.
    pub(super) fn available(&self, name: &str) -> u64 {
        let status = self.deployment(name).map(|it| it.status.available_replicas);
        status.and_then(|it| u64::try_from(it).ok()).unwrap_or(0)
    }

    /// Returns the `ReplicaSets` of an application.
    pub(super) fn replica_sets(&self, app: &str) -> Vec<Arc<ReplicaSet>> {
        let mut all = self.replica_sets.list();
        all.retain(|it| {
            it.metadata
                .labels
                .get(APP_LABEL)
                .is_some_and(|it| it.as_str() == app)
        });
        all
    }

    /// Returns the Pods of an application, including those being deleted.
    pub(super) fn pods(&self, app: &str) -> Vec<Arc<Pod>> {
        let mut all = self.pods.list();
        all.retain(|it| {
            it.metadata
                .labels
                .get(APP_LABEL)
                .is_some_and(|it| it.as_str() == app)
        });
        all
    }

    /// Waits until the application has `replicas` ready Pods, all of the current template, and no
    /// others.
    pub(super) async fn until_rolled_out(
        &self,
        app: &str,
        replicas: u64,
        mut progress: impl FnMut(u64),
    ) -> Result<(), DemoError> {
        let what = format!("{app} has {replicas} available replicas and no others");
        self.until(&what, |stage| {
            let Some(deployment) = stage.deployment(app) else {
                return Err(format!("no Deployment {app}"));
            };
            let status = &deployment.status;
            progress(stage.available(app));
            let seen = format!(
                "generation {} of {}, {} replicas, {} updated, {} available",
                status.observed_generation,
                deployment.metadata.generation,
                status.replicas,
                status.updated_replicas,
                status.available_replicas
            );
            let counts = [
                status.replicas,
                status.updated_replicas,
                status.available_replicas,
            ];
            let reached = counts.iter().all(|it| u64::try_from(*it) == Ok(replicas));
            let observed = status.observed_generation >= deployment.metadata.generation;
            let pods = stage.pods(app);
            let ready = pods
                .iter()
                .filter(|pod| is_live(pod) && is_ready(pod))
                .count() as u64;
            if reached && observed && ready == replicas && pods.len() as u64 == replicas {
                return Ok(());
            }
            Err(format!("{seen}; {ready} of {} Pods ready", pods.len()))
        })
        .await
    }

    /// Waits until `look` succeeds; its last error becomes that of the wait.
    pub(super) async fn until(
        &self,
        what: &str,
        mut look: impl FnMut(&Self) -> Result<(), String>,
    ) -> Result<(), DemoError> {
        let deadline = Instant::now() + DEADLINE;
        let mut changes = self.changed.subscribe();
        loop {
            changes.mark_unchanged();
            let Err(seen) = look(self) else { return Ok(()) };
            if timeout_at(deadline, changes.changed()).await.is_err() {
                return Err(DemoError::Deadline {
                    what: what.to_owned(),
                    waited: DEADLINE,
                    seen,
                });
            }
        }
    }

    /// Tracks the availability of an application. Returns once the current Pods are counted.
    pub(super) async fn follow(&self, app: &str) -> Result<Availability, DemoError> {
        let availability = Availability::of(app);
        let noting = availability.clone();
        let config = HandlerConfig {
            delivery: Delivery::EveryEvent {
                pending_max: POD_EVENTS_MAX,
            },
            name: Str::from("availability"),
            ..HandlerConfig::default()
        };
        let handler = move |change: ResourceEvent<Pod>| noting.note(&change);
        let registration = self.pod_informer.add_handler_with(handler, config);
        if timeout(DEADLINE, registration.synced()).await.is_err() {
            return Err(DemoError::Deadline {
                what: format!("the Pods of {app} were counted"),
                waited: DEADLINE,
                seen: format!("{} waiting", registration.waiting()),
            });
        }
        Ok(availability)
    }

    /// Stops its informers.
    pub(super) async fn close(&self) {
        self.factory.shutdown().await;
    }
}

fn lister<K: Ingest>(informer: &SharedInformer<K>, changed: &watch::Sender<u64>) -> Lister<K> {
    let changed = changed.clone();
    informer.add_handler(move |_: ResourceEvent<K>| {
        changed.send_modify(|count| *count = count.wrapping_add(1));
    });
    informer.lister_unsynced()
}
