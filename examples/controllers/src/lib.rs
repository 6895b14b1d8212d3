//! Sample controllers, written as a user of the public crates would write them: Deployments,
//! ReplicaSets, and a stand-in for the scheduler and the kubelet.
//!
//! They bring an application to life on any API server that has no controllers of its own. They
//! are not a replacement for those of a real cluster: no StatefulSets, DaemonSets or Jobs, and no
//! containers run anywhere.
//!
//! ```no_run
//! # async fn example(client: kubist_client::Client) -> Result<(), Box<dyn std::error::Error>> {
//! use kubist_example_controllers::{Options, run};
//! use tokio_util::sync::CancellationToken;
//!
//! let summary = run(client, Options::default(), CancellationToken::new()).await?;
//! for (name, stats) in summary.controllers {
//!     println!("{name}: {} reconciles, p99 {:?}", stats.reconciles, stats.latency.percentile(99));
//! }
//! # Ok(()) }
//! ```
//!
//! Each controller reads from listers and writes through `Api`. Where a write is refused because
//! the object changed or went, the run ends without an error: the newer state is on its way to the
//! lister, and brings the name back.

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

/// What runs, and how.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Options {
    /// Objects of a kind that are worked on at the same time. Default: 5, as in upstream's
    /// controller manager.
    pub workers: usize,
    /// The stand-in for scheduler and kubelet; `None` leaves Pods to others. Default: one.
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

/// All sample controllers, not yet running. Its monitors are those of `deployment`, `replica-set`
/// and `kubelet`, in this order.
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

/// Runs the sample controllers until `token` is cancelled.
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

/// A write that was refused because the object changed or went needs no repetition: its newer
/// state is about to arrive, and brings the name back.
fn unless_outdated<T>(written: Result<T, ApiError>) -> Result<Option<T>, Error> {
    match written {
        Ok(object) => Ok(Some(object)),
        Err(error) if error.is_conflict() || error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The same, where nothing is left to do.
fn done_unless_refused<T>(written: Result<T, ApiError>) -> Result<Action, Error> {
    unless_outdated(written).map(|_| Action::done())
}
