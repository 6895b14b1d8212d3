//! Workload controllers for clusters without nodes: Deployments, ReplicaSets, and a simulated
//! scheduler and kubelet.
//!
//! They bring workloads to life on any API server that has no controllers of its own, such as that
//! of `kubist serve --simulate`. They use only the public crates, so they also serve as examples.
//! They do not replace the controllers of a real cluster: there are no StatefulSets, DaemonSets or
//! Jobs, and no container runs anywhere.
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
//! Each controller reads from listers and writes through `Api`. If a write fails because the object
//! changed or was deleted, the reconcile ends without an error: the newer state will requeue the
//! key.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![expect(clippy::doc_markdown, reason = "kinds are words of the text here")]

mod clock;
pub mod deployment;
pub mod kubelet;
mod ownership;
pub mod replica_set;

use kubist_client::{ApiError, Client};
use kubist_controller::{Action, Error, Manager, ManagerError, Summary};
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
/// `replica-set` and `kubelet`, in this order.
pub fn manager(client: &Client, options: &Options) -> Manager<Client> {
    let factory = SharedInformerFactory::new(client.clone());
    let (deployments, deploy) = deployment::controller(client, &factory);
    let (replica_sets, replicate) = replica_set::controller(client, &factory);
    let pods = options
        .kubelet
        .as_ref()
        .map(|options| kubelet::controller(client, &factory, options));
    let manager = Manager::new(factory)
        .with(deployments.workers(options.workers), deploy)
        .with(replica_sets.workers(options.workers), replicate);
    match (pods, &options.kubelet) {
        (Some((pods, live)), Some(settings)) => {
            let (client, nodes) = (client.clone(), settings.nodes);
            manager
                .with(pods.workers(options.workers), live)
                .with_task("nodes", move |_| kubelet::register_nodes(client, nodes))
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
