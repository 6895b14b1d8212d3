//! What the server's controllers make in every namespace, and Pods that need it.

use kubist::api::core::v1::{ConfigMap, Namespace, Pod, ServiceAccount};
use kubist::client::Api;
use kubist::{Controller, PluginSelection, Server, ServerConfig};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);
const MAP: &str = "kube-root-ca.crt";

async fn start() -> Server {
    let config = ServerConfig {
        listen: Some((Ipv4Addr::LOCALHOST, 0).into()),
        controllers: Controller::ALL.into(),
        admission_plugins: PluginSelection::new(&["ServiceAccount".to_owned()], &[]).unwrap(),
        ..Default::default()
    };
    Server::start(config).await.unwrap()
}

/// Waits until something is so.
async fn until(what: &str, so: impl AsyncFn() -> bool) {
    let reached = async {
        while !so().await {
            sleep(POLL).await;
        }
    };
    timeout(PATIENCE, reached).await.expect(what);
}

#[tokio::test]
async fn a_pod_in_a_new_namespace_runs_as_its_default_account() {
    let server = start().await;
    let mut namespace = Namespace::default();
    namespace.metadata.name = "shop".into();
    let namespaces: Api<Namespace> = Api::all(server.client());
    namespaces.create(&namespace).await.unwrap();
    // Admission waits for the account for a moment.
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let pod: Pod = serde_json::from_value(serde_json::json!({
        "metadata": {"name": "web"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }))
    .unwrap();
    let pod = pods.create(&pod).await.unwrap();
    assert_eq!(pod.spec.service_account_name, "default");
    assert!(pod.spec.volumes[0].name.starts_with("kube-api-access-"));
    server.shutdown().await;
}

#[tokio::test]
async fn accounts_and_certificates_come_back() {
    let server = start().await;
    let accounts: Api<ServiceAccount> = Api::namespaced(server.client(), "kube-public");
    let account = async || accounts.get_opt("default").await.unwrap();
    until("there is an account", async || account().await.is_some()).await;
    accounts.delete("default").await.unwrap();
    until("there is another", async || account().await.is_some()).await;

    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "kube-public");
    let map = async || maps.get_opt(MAP).await.unwrap();
    let right = async || {
        let found = map().await;
        let found = found.as_ref().and_then(|it| it.data.get("ca.crt"));
        found.is_some_and(|it| it.contains("BEGIN CERTIFICATE"))
    };
    until("there are certificates", &right).await;
    let mut wrong = map().await.unwrap();
    wrong.data.insert("ca.crt".into(), "none".into());
    maps.replace(&wrong).await.unwrap();
    until("they are repaired", &right).await;
    maps.delete(MAP).await.unwrap();
    until("they come back", &right).await;
    server.shutdown().await;
}
