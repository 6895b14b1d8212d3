//! Workload controllers for clusters without nodes: Deployments, ReplicaSets, StatefulSets,
//! DaemonSets, Jobs, CronJobs, ReplicationControllers, and a simulated scheduler and kubelet.
//!
//! They bring workloads to life on any API server that has no controllers of its own, such as that
//! of `kubist serve --simulate`. They use only the public crates, so they also serve as examples.
//! They follow upstream's controllers of v1.36, and do not replace a real cluster: no container
//! runs anywhere, volumes are only bound, and nobody simulates endpoints or load.
//!
//! ```no_run
//! # async fn example(client: kubist_client::Client) -> Result<(), Box<dyn std::error::Error>> {
//! use kubist_workloads::{Options, run};
//! use tokio_util::sync::CancellationToken;
//!
//! let summary = run(client, Options::default(), CancellationToken::new()).await?;
//! for (name, stats) in summary.controllers {
//!     println!("{name}: {} reconciles, p99 {:?}", stats.reconciles, stats.latency.percentile(99));
//! }
//! # Ok(()) }
//! ```
//!
//! Each controller is a shell around a pure core, which gets the objects and the time and returns
//! what is to be done. The shell reads from listers and writes through `Api`. If a write fails
//! because the object changed or was deleted, the reconcile ends without an error: the newer state
//! will requeue the key.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![expect(clippy::doc_markdown, reason = "kinds are words of the text here")]

mod clock;
pub mod cron_job;
pub mod daemon_set;
pub mod deployment;
pub mod job;
pub mod kubelet;
mod node_fit;
mod owned_pods;
mod ownership;
mod pod_ranking;
mod pod_state;
mod pod_writer;
pub mod replica_set;
pub mod replication_controller;
mod replicator;
mod revisions;
pub mod stateful_set;
pub mod volumes;

use kubist_client::{ApiError, Client};
use kubist_controller::{Action, Error, Manager, ManagerError, Summary};
use kubist_events::EventBroadcaster;
use kubist_informers::SharedInformerFactory;
use tokio_util::sync::CancellationToken;

/// Which controllers run, and how.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Options {
    /// The number of concurrent reconciles of each controller. Default: 5, as in upstream's
    /// controller manager.
    pub workers: usize,
    /// The simulated scheduler and kubelet; `None` leaves Pods to others. Default: enabled.
    pub kubelet: Option<kubelet::Options>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 5,
            kubelet: Some(kubelet::Options::default()),
        }
    }
}

/// Creates a manager with all controllers, not yet running. Its monitors are those of `deployment`,
/// `replica-set`, `replication-controller`, `job`, `job-orphans`, `cron-job`, `stateful-set`,
/// `daemon-set`, and with the simulated kubelet `kubelet`, `volume-claims` and `volumes`, in this
/// order. Its task `events` writes their events.
pub fn manager(client: &Client, options: &Options) -> Manager<Client> {
    let factory = SharedInformerFactory::new(client.clone());
    let events = EventBroadcaster::new(client.clone());
    let recorder = events.recorder("deployment-controller");
    let (deployments, deploy) = deployment::controller(client, &factory, recorder);
    let recorder = events.recorder("replicaset-controller");
    let (replica_sets, replicate) = replica_set::controller(client, &factory, recorder);
    let recorder = events.recorder("replication-controller");
    let (old_sets, replicate_old) = replication_controller::controller(client, &factory, recorder);
    let (jobs, work) = job::controller(client, &factory, events.recorder("job-controller"));
    let (orphans, release) = job::orphan_controller(client, &factory);
    let recorder = events.recorder("cronjob-controller");
    let (cron_jobs, schedule) = cron_job::controller(client, &factory, recorder);
    let recorder = events.recorder("statefulset-controller");
    let (stateful_sets, number) = stateful_set::controller(client, &factory, recorder);
    let recorder = events.recorder("daemonset-controller");
    let (daemon_sets, spread) = daemon_set::controller(client, &factory, recorder);
    let pods = options
        .kubelet
        .as_ref()
        .map(|options| kubelet::controller(client, &factory, options));
    let workers = options.workers;
    let manager = Manager::new(factory)
        .with(deployments.workers(workers), deploy)
        .with(replica_sets.workers(workers), replicate)
        .with(old_sets.workers(workers), replicate_old)
        .with(jobs.workers(workers), work)
        .with(orphans.workers(workers), release)
        .with(cron_jobs.workers(workers), schedule)
        .with(stateful_sets.workers(workers), number)
        .with(daemon_sets.workers(workers), spread)
        .with_task("events", |token| async move {
            events.run(token).await;
            Ok(())
        });
    match (pods, &options.kubelet) {
        (Some((pods, live)), Some(settings)) => {
            let (client, settings) = (client.clone(), settings.clone());
            let factory = manager.factory().clone();
            let (claims, bind) = volumes::claim_controller(&client, &factory);
            let (volumes, follow) = volumes::volume_controller(&client, &factory);
            manager
                .with(pods.workers(workers), live)
                .with(claims.workers(workers), bind)
                .with(volumes.workers(workers), follow)
                .with_task("nodes", move |token| {
                    kubelet::serve_nodes(client, factory, settings, token)
                })
        }
        _ => manager,
    }
}

/// Runs all controllers until `token` is cancelled.
///
/// # Errors
/// A controller could not read what it watches, or the nodes could not be registered.
pub async fn run(
    client: Client,
    options: Options,
    token: CancellationToken,
) -> Result<Summary, ManagerError> {
    manager(&client, &options).run(token).await
}

/// Ignores conflicts and deletions: the newer state will requeue the key.
fn unless_outdated<T>(written: Result<T, ApiError>) -> Result<Option<T>, Error> {
    match written {
        Ok(object) => Ok(Some(object)),
        Err(error) if error.is_conflict() || error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Does the same for a write after which nothing is left to do.
fn done_unless_refused<T>(written: Result<T, ApiError>) -> Result<Action, Error> {
    unless_outdated(written).map(|_| Action::done())
}

/// Reports whether the namespace accepts no new objects because it is terminating: so is this
/// one's.
fn is_namespace_ending(error: &ApiError) -> bool {
    let causes = error
        .status()
        .map(kubist_apimachinery::Status::causes)
        .unwrap_or_default();
    causes.iter().any(|it| it.reason == "NamespaceTerminating")
}
