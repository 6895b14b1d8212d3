//! A controller that runs in a test, and the keys it was called with.

use crate::cluster::Cluster;
use kubist_api::apps::v1::Deployment;
use kubist_apimachinery::ObjectName;
use kubist_controller::{Action, Controller, Error, RunError, Stats};
use kubist_informers::SharedInformerFactory;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// The keys that a reconciler was called with, and when.
#[derive(Clone, Default)]
pub(crate) struct Calls(pub(crate) Arc<Mutex<Vec<(String, Duration)>>>);

impl Calls {
    pub(crate) fn push(&self, key: &ObjectName, begin: Instant) {
        self.0.lock().push((key.name.to_string(), begin.elapsed()));
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
            .into_iter()
            .map(|it| it.0)
            .collect()
    }

    pub(crate) fn times(&self) -> Vec<u64> {
        let calls = self.0.lock();
        calls
            .iter()
            .map(|it| u64::try_from(it.1.as_millis()).expect("short"))
            .collect()
    }
}

/// Waits long enough for everything that has no delay.
pub(crate) async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

pub(crate) struct Running {
    /// Informers stop with their factory.
    _factory: SharedInformerFactory<Cluster>,
    pub(crate) token: CancellationToken,
    pub(crate) run: JoinHandle<Result<Stats, RunError>>,
}

#[expect(clippy::disallowed_methods, reason = "a test's own task")]
pub(crate) fn start(
    controller: Controller,
    factory: &SharedInformerFactory<Cluster>,
    reconciler: impl kubist_controller::Reconciler,
) -> Running {
    factory.start();
    let token = CancellationToken::new();
    let run = tokio::spawn(controller.run(reconciler, token.clone()));
    Running {
        _factory: factory.clone(),
        token,
        run,
    }
}

impl Running {
    pub(crate) async fn stop(self) -> Stats {
        self.token.cancel();
        self.run.await.expect("no panic").expect("no error")
    }
}

/// Returns a reconciler that records its calls.
pub(crate) fn recorder(calls: &Calls) -> impl kubist_controller::Reconciler {
    let (calls, begin) = (calls.clone(), Instant::now());
    move |key: ObjectName| {
        calls.push(&key, begin);
        async { Ok::<_, Error>(Action::done()) }
    }
}

pub(crate) fn deployments(cluster: &Cluster) -> (SharedInformerFactory<Cluster>, Controller) {
    let factory = SharedInformerFactory::new(cluster.clone());
    let controller = Controller::new("deployment", &factory.informer::<Deployment>());
    (factory, controller)
}
