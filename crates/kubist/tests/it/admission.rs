//! Admission in a server with clients: quotas, and a plugin of one's own.

use crate::etcd::{Etcd, Release};
use futures_util::future::join_all;
use kubist::api::core::v1::{ConfigMap, Namespace, Pod, ResourceQuota};
use kubist::apimachinery::Status;
use kubist::client::{Api, Client};
use kubist::registry::BoxFuture;
use kubist::registry::admission::{AdmissionPlugin, Attributes, Target};
use kubist::{EtcdServers, Server, ServerConfig};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);
const NAMESPACE: &str = "shop";

async fn create_namespace(client: Client) {
    let mut namespace = Namespace::default();
    namespace.metadata.name = NAMESPACE.into();
    let namespaces: Api<Namespace> = Api::all(client);
    namespaces.create(&namespace).await.unwrap();
}

fn map(name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map
}

/// Limits the maps of the namespace, and waits until that is in force.
async fn limit_maps(client: Client, most: &str) -> Api<ResourceQuota> {
    let quotas: Api<ResourceQuota> = Api::namespaced(client, NAMESPACE);
    let mut quota = ResourceQuota::default();
    quota.metadata.name = "maps".into();
    let hard = &mut quota.spec.hard;
    hard.insert("count/configmaps".into(), most.parse().unwrap());
    quotas.create(&quota).await.unwrap();
    until_used(&quotas, "0").await;
    quotas
}

async fn until_used(quotas: &Api<ResourceQuota>, amount: &str) {
    let used = async || {
        let quota = quotas.get("maps").await.unwrap();
        let used = quota.status.used.get("count/configmaps");
        used.map(ToString::to_string)
    };
    let reached = async {
        while used().await.as_deref() != Some(amount) {
            sleep(POLL).await;
        }
    };
    let reached = timeout(PATIENCE, reached).await;
    reached.expect("the usage is counted");
}

#[tokio::test]
async fn a_quota_limits_what_clients_create_until_they_delete() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    create_namespace(server.client()).await;
    let quotas = limit_maps(server.client(), "2").await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), NAMESPACE);
    for name in ["a", "b"] {
        maps.create(&map(name)).await.unwrap();
    }
    let error = maps.create(&map("c")).await.unwrap_err();
    let message = "configmaps \"c\" is forbidden: exceeded quota: maps, requested: \
                   count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2";
    assert!(error.to_string().contains(message), "{error}");
    maps.delete("a").await.unwrap();
    until_used(&quotas, "1").await;
    maps.create(&map("c")).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn privileged_containers_are_refused_where_they_are_not_allowed() {
    let privileged: Pod = serde_json::from_value(serde_json::json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{
            "name": "c", "image": "i", "securityContext": {"privileged": true},
        }]},
    }))
    .unwrap();
    for allow_privileged in [true, false] {
        let config = ServerConfig {
            allow_privileged,
            ..ServerConfig::default()
        };
        let server = Server::start(config).await.unwrap();
        let pods: Api<Pod> = Api::namespaced(server.client(), "default");
        let created = pods.create(&privileged).await;
        if allow_privileged {
            created.unwrap();
        } else {
            let error = created.unwrap_err();
            let message = "Pod \"p\" is invalid: spec.containers[0].securityContext.privileged: \
                           Forbidden: disallowed by cluster policy";
            assert!(error.to_string().contains(message), "{error}");
        }
        server.shutdown().await;
    }
}

#[tokio::test]
async fn servers_on_one_store_exceed_no_quota_together() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let config = || ServerConfig {
        etcd: Some(EtcdServers {
            servers: vec![format!("http://{}", etcd.address())],
            ..EtcdServers::default()
        }),
        ..ServerConfig::default()
    };
    let first = Server::start(config()).await.unwrap();
    let second = Server::start(config()).await.unwrap();
    create_namespace(first.client()).await;
    let quotas = limit_maps(first.client(), "5").await;
    let names: Vec<String> = (0..20).map(|number| format!("m{number}")).collect();
    let create = async |(index, name): (usize, &String)| {
        let server = if index % 2 == 0 { &first } else { &second };
        let maps: Api<ConfigMap> = Api::namespaced(server.client(), NAMESPACE);
        maps.create(&map(name)).await.is_ok()
    };
    let created = join_all(names.iter().enumerate().map(create)).await;
    let created = created.into_iter().filter(|it| *it).count();
    assert_eq!(created, 5);
    until_used(&quotas, "5").await;
    first.shutdown().await;
    second.shutdown().await;
}

/// Lets nobody write into the namespace.
#[derive(Debug)]
struct Closed;

impl AdmissionPlugin for Closed {
    fn name(&self) -> &'static str {
        "Closed"
    }
    fn handles(&self, target: &Target<'_>) -> bool {
        target.namespace == NAMESPACE && !target.is("", "namespaces")
    }
    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move { Err(attributes.forbidden("the shop is closed")) })
    }
}

#[tokio::test]
async fn a_plugin_of_ones_own_is_asked() {
    let config = ServerConfig {
        admission: vec![Arc::new(Closed)],
        ..ServerConfig::default()
    };
    let server = Server::start(config).await.unwrap();
    create_namespace(server.client()).await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), NAMESPACE);
    let error = maps.create(&map("a")).await.unwrap_err();
    let message = "configmaps \"a\" is forbidden: the shop is closed";
    assert!(error.to_string().contains(message), "{error}");
    let elsewhere: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    elsewhere.create(&map("a")).await.unwrap();
    server.shutdown().await;
}
