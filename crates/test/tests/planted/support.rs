//! What the planted controllers share: parents, children, and how a controller is run.

use kubist::api::core::v1::{ConfigMap, Container, Pod, Secret};
use kubist::apimachinery::wire::{Encode, Ingest};
use kubist::apimachinery::{KubeObject, ObjectName, Str};
use kubist::client::{Api, ApiError, Client, Patch};
use kubist::controller::{Action, Controller, Error, Manager, ManagerError};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The namespace of everything.
pub(crate) const NAMESPACE: &str = "default";
/// The label of parents: config maps that a controller is about.
pub(crate) const PARENT: &str = "example.com/parent";

/// Whether a controller has its bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Planted,
    Fixed,
}

impl Version {
    pub(crate) fn is_fixed(self) -> bool {
        self == Self::Fixed
    }
}

/// A controller with a bug, and without.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) scenario: fn(Version) -> Scenario,
    pub(crate) is_found: fn(&Problem) -> bool,
}

pub(crate) type Reconciled = Result<Action, Error>;

/// Runs a controller until the token is cancelled.
pub(crate) async fn manage<F>(
    factory: SharedInformerFactory<Client>,
    controller: Controller,
    reconcile: impl Fn(ObjectName) -> F + Send + Sync + 'static,
    stop: CancellationToken,
) -> Result<(), ManagerError>
where
    F: Future<Output = Reconciled> + Send + 'static,
{
    let manager = Manager::new(factory).with(controller, reconcile);
    manager.run(stop).await.map(drop)
}

/// Returns a parent with this data.
pub(crate) fn parent(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map.metadata.namespace = NAMESPACE.into();
    map.metadata.labels.insert(PARENT.into(), "yes".into());
    for (key, value) in data {
        map.data.insert(Str::from(*key), Str::from(*value));
    }
    map
}

/// Reports whether a config map is a parent.
pub(crate) fn is_parent(map: &ConfigMap) -> bool {
    map.metadata.labels.contains_key(PARENT)
}

pub(crate) fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.namespace = NAMESPACE.into();
    pod.spec.containers = vec![Container {
        name: "main".into(),
        image: "image".into(),
        ..Container::default()
    }];
    pod
}

pub(crate) fn secret(name: &str) -> Secret {
    let mut secret = Secret::default();
    secret.metadata.name = name.into();
    secret.metadata.namespace = NAMESPACE.into();
    secret
}

/// Creates an object in the namespace.
pub(crate) async fn create<K>(client: Client, object: K) -> Result<K, ApiError>
where
    K: KubeObject<Scope = kubist::apimachinery::Namespaced> + Ingest<Kind = K> + Encode,
{
    Api::namespaced(client, NAMESPACE).create(&object).await
}

/// Deletes an object, if it is there.
pub(crate) async fn delete<K>(client: Client, name: &str) -> Result<(), ApiError>
where
    K: KubeObject<Scope = kubist::apimachinery::Namespaced> + Ingest<Kind = K> + Encode,
{
    let api: Api<K> = Api::namespaced(client, NAMESPACE);
    match api.delete(name).await {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}

/// Patches an object.
pub(crate) async fn merge<K>(client: Client, name: &str, patch: Value) -> Result<K, ApiError>
where
    K: KubeObject<Scope = kubist::apimachinery::Namespaced> + Ingest<Kind = K> + Encode,
{
    let api: Api<K> = Api::namespaced(client, NAMESPACE);
    api.patch(name, &Patch::Merge(patch)).await
}

/// What exists already was created by an earlier attempt.
pub(crate) fn or_exists<T>(created: Result<T, ApiError>) -> Result<(), ApiError> {
    match created {
        Err(error) if !error.is_already_exists() => Err(error),
        _ => Ok(()),
    }
}

/// What is gone need not be deleted.
pub(crate) fn or_gone<T>(deleted: Result<T, ApiError>) -> Result<(), ApiError> {
    match deleted {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}
