//! The namespace controller: deletes the contents of terminating namespaces, then finalizes them.
//!
//! It discovers what the server serves, deletes everything in the namespace, and removes its own
//! finalizer (`kubernetes`) through the subresource `finalize` once nothing is left. It waits for
//! finalizers of others.

mod conditions;
mod content;

use self::content::delete_all;
use kubist_api::core::v1::Namespace;
use kubist_apimachinery::{Object as _, ObjectName};
use kubist_cache::Lister;
use kubist_client::{Api, ApiError, Client};
use kubist_controller::{Action, Controller, Error, Manager, ManagerError, Reconciler, Stats};
use kubist_informers::SharedInformerFactory;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The finalizer of this controller.
const FINALIZER: &str = "kubernetes";

/// The configuration of the namespace controller.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Options {
    /// The number of namespaces processed concurrently. Default: 10, as upstream.
    pub workers: usize,
    /// How soon to process a namespace again that is not empty. Default: 500 ms.
    pub poll: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 10,
            poll: Duration::from_millis(500),
        }
    }
}

/// Runs until `token` is cancelled.
///
/// # Errors
/// Namespaces could not be listed for two minutes.
pub async fn run(
    client: Client,
    options: Options,
    token: CancellationToken,
) -> Result<Stats, ManagerError> {
    let factory = SharedInformerFactory::new(client.clone());
    let namespaces = factory.informer::<Namespace>();
    let controller = Controller::new("namespace", &namespaces).workers(options.workers);
    let reconciler = NamespaceReconciler {
        api: Api::all(client),
        namespaces: namespaces.lister_unsynced(),
        poll: options.poll,
    };
    let manager = Manager::new(factory).with(controller, reconciler);
    let monitors = manager.monitors();
    manager.run(token).await?;
    Ok(monitors
        .first()
        .map(kubist_controller::Monitor::stats)
        .unwrap_or_default())
}

struct NamespaceReconciler {
    api: Api<Namespace>,
    namespaces: Lister<Namespace>,
    poll: Duration,
}

impl Reconciler for NamespaceReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(namespace) = self.namespaces.get(&key) else {
            return Ok(Action::done());
        };
        let waits = namespace.spec.finalizers.iter().any(|it| *it == FINALIZER);
        if !namespace.is_terminating() || !waits {
            return Ok(Action::done());
        }
        let client = self.api.client();
        let discovery = client.discover().await?;
        let remains = delete_all(client, &discovery, &key.name).await;
        if remains.is_empty() && discovery.failed().is_empty() {
            return unless_outdated(self.finalize(&namespace).await).map(|()| Action::done());
        }
        let mut updated = Namespace::clone(&namespace);
        let now = client.ambient().time();
        if conditions::update(&mut updated.status, discovery.failed(), &remains, now) {
            unless_outdated(self.api.replace_status(&updated).await)?;
        }
        Ok(Action::requeue_after(self.poll))
    }
}

impl NamespaceReconciler {
    async fn finalize(&self, namespace: &Arc<Namespace>) -> Result<(), ApiError> {
        let mut emptied = Namespace::clone(namespace);
        emptied.spec.finalizers.retain(|it| *it != FINALIZER);
        let finalize = self.api.subresource::<Namespace>("finalize");
        finalize.replace(namespace.name(), &emptied).await.map(drop)
    }
}

/// Ignores conflicts and deletions: the newer state will requeue the key.
fn unless_outdated<T>(written: Result<T, ApiError>) -> Result<(), Error> {
    match written {
        Err(error) if error.is_conflict() || error.is_not_found() => Ok(()),
        written => written.map(drop).map_err(Error::from),
    }
}
