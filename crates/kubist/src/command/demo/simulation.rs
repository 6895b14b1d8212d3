//! `Simulation`: the sample controllers, running beside the demonstration, and their figures.

use super::super::units;
use super::error::DemoError;
use super::report::Caches;
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Ingest, Wire};
use kubist_apimachinery::{Resource, Str, with_causes};
use kubist_cache::Encoded;
use kubist_client::Client;
use kubist_controller::{Manager, ManagerError, Monitor, Stats, Summary};
use kubist_informers::SharedInformerFactory;
use kubist_workloads::{Options, kubelet, manager};
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Time limit for the first lists.
const SYNC_DEADLINE: Duration = Duration::from_secs(120);
/// Time limit for controllers to stop.
const STOP_DEADLINE: Duration = Duration::from_secs(5);

/// The controllers, in a separate task.
pub(super) struct Simulation {
    client: Client,
    factory: SharedInformerFactory<Client>,
    monitors: Vec<Monitor>,
    token: CancellationToken,
    running: JoinSet<Result<Summary, ManagerError>>,
}

impl Simulation {
    /// Starts them; Pods take `start_delay` to be ready.
    pub(super) fn start(client: Client, start_delay: Duration) -> Self {
        let kubelet = kubelet::Options {
            start_delay,
            stop_delay: start_delay / 2,
            ..kubelet::Options::default()
        };
        let options = Options {
            kubelet: Some(kubelet),
            ..Options::default()
        };
        let manager: Manager<Client> = manager(&client, &options);
        let (factory, monitors) = (manager.factory().clone(), manager.monitors());
        let token = CancellationToken::new();
        let mut running = JoinSet::new();
        running.spawn(manager.run(token.clone()));
        Self {
            client,
            factory,
            monitors,
            token,
            running,
        }
    }

    /// Waits for the first list of every informer.
    pub(super) async fn synced(&self) -> Result<String, DemoError> {
        let names: Vec<&str> = self.monitors.iter().map(|it| it.name().as_str()).collect();
        match timeout(SYNC_DEADLINE, self.factory.wait_for_sync()).await {
            Ok(Ok(())) => {
                let objects = self.caches().objects;
                let objects = units::of(objects, "object");
                Ok(format!("{} know {objects}", names.join(", ")))
            }
            Ok(Err(error)) => Err(DemoError::Controllers {
                reason: with_causes(&error),
            }),
            Err(_) => Err(DemoError::Deadline {
                what: format!("{} have synced", names.join(", ")),
                waited: SYNC_DEADLINE,
                seen: format!("{:?}", self.factory.summary()),
            }),
        }
    }

    /// Completes when they end, which they should not.
    ///
    /// Cancel safe.
    pub(super) async fn ended(&mut self) -> DemoError {
        let reason = match self.running.join_next().await {
            Some(Ok(Ok(_))) | None => "they stopped".to_owned(),
            Some(Ok(Err(error))) => with_causes(&error),
            Some(Err(error)) => describe(&error),
        };
        DemoError::Controllers { reason }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the figures of each controller.
    pub(super) fn stats(&self) -> Vec<(Str, Stats)> {
        self.monitors
            .iter()
            .map(|it| (it.name().clone(), it.stats()))
            .collect()
    }

    /// Returns the contents of their informers.
    pub(super) fn caches(&self) -> Caches {
        let encoded = self
            .factory
            .informer::<Encoded<Pod>>()
            .lister_unsynced()
            .list();
        let bytes = encoded.iter().map(|it| it.heap_size() as u64).sum();
        let mut caches = Caches {
            objects: encoded.len() as u64,
            bytes,
        };
        caches.add(&decoded::<Deployment>(&self.factory));
        caches.add(&decoded::<ReplicaSet>(&self.factory));
        caches
    }

    /// Stops them in order.
    pub(super) async fn stop(mut self) {
        self.token.cancel();
        let running = &mut self.running;
        let stopped = async { while running.join_next().await.is_some() {} };
        // Dropping the set aborts what has not ended.
        drop(timeout(STOP_DEADLINE, stopped).await);
    }
}

/// Returns the number of decoded objects, and their protobuf size.
fn decoded<K: Ingest<Kind = K> + Wire + Resource>(
    factory: &SharedInformerFactory<Client>,
) -> Caches {
    let objects = factory.informer::<K>().lister_unsynced().list();
    let bytes = objects.iter().map(|it| it.to_protobuf().len() as u64).sum();
    Caches {
        objects: objects.len() as u64,
        bytes,
    }
}

fn describe(error: &JoinError) -> String {
    if error.is_panic() {
        "one panicked".to_owned()
    } else {
        "they stopped".to_owned()
    }
}
