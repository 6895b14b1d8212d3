//! The garbage collector, the namespace controller and the workload controllers, against the server
//! in this process. They are tested here because the crates of the client half must not depend on
//! the server.

mod apply_sets;
mod definitions;
mod finalizers;
mod kubelets;
mod namespaces;
mod owners;
mod rollouts;

use std::time::Duration;

use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{KubeObject, ObjectMeta, OwnerReference, Resource as _};
use kubist::client::Api;
use kubist::{Server, ServerConfig};
use tokio::time::{Instant, sleep};

const PATIENCE: Duration = Duration::from_secs(30);

async fn server(simulate: bool) -> Server {
    let started = Server::start(ServerConfig::default()).await;
    let mut server = started.expect("it starts");
    if simulate {
        let workloads = |client, token| {
            kubist_workloads::run(client, kubist_workloads::Options::default(), token)
        };
        let added = server.run_controller("simulation", workloads);
        added.expect("it has a client");
    }
    server
}

/// Polls until there is an answer.
async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(begin.elapsed() < PATIENCE, "in vain: {what}");
        sleep(Duration::from_millis(10)).await;
    }
}

async fn until_gone<K: KubeObject>(api: &Api<K>, name: &str) {
    let what = format!("{} {name} is gone", K::KIND);
    until(&what, async || {
        api.get_opt(name)
            .await
            .expect("an answer")
            .is_none()
            .then_some(())
    })
    .await;
}

fn config_map(name: &str, owners: &[&ConfigMap], finalizers: &[&str]) -> ConfigMap {
    let reference = |owner: &&ConfigMap| OwnerReference {
        api_version: ConfigMap::API_VERSION.into(),
        kind: ConfigMap::KIND.into(),
        name: owner.metadata.name.clone(),
        uid: owner.metadata.uid.clone(),
        controller: None,
        block_owner_deletion: Some(true),
    };
    ConfigMap {
        metadata: ObjectMeta {
            name: name.into(),
            namespace: "default".into(),
            owner_references: owners.iter().map(reference).collect(),
            finalizers: finalizers.iter().map(|it| (*it).into()).collect(),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

async fn create(api: &Api<ConfigMap>, map: ConfigMap) -> ConfigMap {
    api.create(&map).await.expect("it is created")
}
