//! Failures of etcd: unreachable, slow, full. Each costs a bounded time and has a clear error, and
//! no acknowledged write is lost.

use crate::etcd::{Etcd, Release};
use kubist::api::core::v1::{ConfigMap, Service, ServicePort};
use kubist::apimachinery::{AnyObject, DeleteOptions, ListOptions, PostOptions, Status};
use kubist::client::{Api, Client};
use kubist::registry::{Registry, RegistryConfig, User};
use kubist::storage::{Expected, PutRequest};
use kubist::storage_etcd::{Config, EtcdKv};
use kubist::transport::Body;
use kubist::{EtcdServers, Server, ServerConfig};
use kubist_storage::{KvMaintenance, KvWrite};
use kubist_test_support::FaultProxy;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long a server waits for etcd, with a margin.
const START_WITHIN: Duration = Duration::from_secs(40);
/// The same for a request, where the test sets the limit.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
const REQUEST_WITHIN: Duration = Duration::from_secs(6);

fn config(url: String) -> ServerConfig {
    ServerConfig {
        controllers: [].into(),
        etcd: Some(EtcdServers {
            servers: vec![url],
            ..EtcdServers::default()
        }),
        ..ServerConfig::default()
    }
}

async fn registry(url: String) -> Registry {
    let config = Config {
        request_timeout: REQUEST_TIMEOUT,
        ..Config::new([url])
    };
    let kv = EtcdKv::new(config).unwrap();
    let registry = Registry::new(RegistryConfig::new(
        Arc::new(kv),
        kubist_kinds::BuiltIn::shared(),
    ));
    registry.start().await.unwrap();
    registry
}

fn config_map(name: &str, bytes: usize) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map.data.insert("value".into(), "x".repeat(bytes).into());
    map
}

fn service(name: &str) -> Service {
    let mut service = Service::default();
    service.metadata.name = name.into();
    service.spec.type_ = "NodePort".into();
    service.spec.ports.push(ServicePort {
        port: 80,
        ..ServicePort::default()
    });
    service
}

async fn create(
    registry: &Registry,
    plural: &str,
    object: impl AnyObject,
) -> Result<(), Box<Status>> {
    let rest = registry.resource("", "v1", plural).unwrap();
    let cx = registry.request(User::default());
    let (object, options) = (Box::new(object), PostOptions::default());
    let created = rest.create(&cx, "default", "", object, &options).await;
    created.map(drop).map_err(Box::new)
}

async fn names(registry: &Registry) -> Result<Vec<String>, Box<Status>> {
    let rest = registry.resource("", "v1", "configmaps").unwrap();
    let cx = registry.request(User::default());
    let options = ListOptions::default();
    let listed = rest
        .list(&cx, "default", &options)
        .await
        .map_err(Box::new)?;
    let name = |it: &kubist::registry::Stored| it.object().unwrap().meta().name.to_string();
    Ok(listed.items.iter().map(name).collect())
}

#[tokio::test]
async fn an_etcd_that_does_not_answer_at_the_start_is_named_in_a_bounded_time() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let proxy = FaultProxy::start(etcd.address()).unwrap();
    proxy.hold();
    let started = timeout(START_WITHIN, Server::start(config(proxy.url("http")))).await;
    let error = started.expect("it does not wait forever").unwrap_err();
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    let named = format!("cannot use the etcd at {}", proxy.url("http"));
    assert!(text.contains(&named), "{text}");
    assert!(text.contains("did not answer in time"), "{text}");
}

/// Returns the response of `/readyz`.
async fn ready(client: &Client) -> Result<(), String> {
    let request = http::Request::get("/readyz").body(Body::empty()).unwrap();
    let sent = timeout(Duration::from_secs(10), client.send(request)).await;
    let answer = sent.expect("it does not wait for etcd");
    answer.map(drop).map_err(|error| error.to_string())
}

#[tokio::test]
async fn readyz_names_an_etcd_that_goes_away_and_all_continues_when_it_is_back() {
    let Some(mut etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let server = Server::start(config(etcd.url())).await.unwrap();
    let client = server.client();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    maps.create(&config_map("before", 1)).await.unwrap();
    ready(&client).await.unwrap();
    etcd.kill();
    let error = ready(&client).await.unwrap_err();
    assert!(error.contains("[-]etcd failed"), "{error}");
    assert!(etcd.run().await);
    let mut back = ready(&client).await;
    for _ in 0..50 {
        if back.is_ok() {
            break;
        }
        sleep(Duration::from_millis(100)).await;
        back = ready(&client).await;
    }
    back.unwrap();
    maps.create(&config_map("after", 1)).await.unwrap();
    let list = maps.list(&ListOptions::default()).await.unwrap();
    assert_eq!(list.items.len(), 2);
    server.shutdown().await;
}

#[tokio::test]
async fn a_slow_etcd_is_a_timeout_for_each_request_and_loses_nothing() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let proxy = FaultProxy::start(etcd.address()).unwrap();
    let registry = registry(proxy.url("http")).await;
    for number in 0..5 {
        let map = config_map(&format!("before-{number}"), 100);
        create(&registry, "configmaps", map).await.unwrap();
    }
    proxy.hold();
    let begun = Instant::now();
    let statuses = tokio::join!(
        create(&registry, "configmaps", config_map("during", 100)),
        create(&registry, "services", service("during")),
        async { names(&registry).await.map(drop) },
    );
    assert!(begun.elapsed() < REQUEST_WITHIN, "{:?}", begun.elapsed());
    for status in [statuses.0, statuses.1, statuses.2] {
        let status = status.unwrap_err();
        let text = status.to_string();
        assert_eq!(
            (status.code, &*status.reason),
            (500, "ServerTimeout"),
            "{text}"
        );
        assert_eq!(status.details.unwrap().retry_after_seconds, 2, "{text}");
    }
    proxy.open();
    let after = async {
        // The first request may find the old connection.
        while create(&registry, "configmaps", config_map("after", 1))
            .await
            .is_err()
        {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(START_WITHIN, after).await.expect("it recovers");
    create(&registry, "services", service("after"))
        .await
        .unwrap();
    let names = names(&registry).await.unwrap();
    for number in 0..5 {
        assert!(names.contains(&format!("before-{number}")), "{names:?}");
    }
    assert!(names.contains(&"after".to_owned()), "{names:?}");
}

#[tokio::test]
async fn a_full_etcd_refuses_writes_answers_reads_and_lets_objects_be_deleted() {
    let quota = ["--quota-backend-bytes", "3000000"];
    let Some(etcd) = Etcd::start_with(Release::Current, &quota).await else {
        return;
    };
    let registry = registry(etcd.url()).await;
    let mut acknowledged = 0;
    let refused = loop {
        assert!(acknowledged < 100, "it is not full");
        let map = config_map(&format!("map-{acknowledged}"), 100_000);
        match create(&registry, "configmaps", map).await {
            Ok(()) => acknowledged += 1,
            Err(status) => break status,
        }
    };
    assert_eq!((refused.code, &*refused.reason), (500, "InternalError"));
    assert!(refused.message.contains("out of space"), "{refused}");
    let kv = EtcdKv::new(Config::new([etcd.url()])).unwrap();
    assert!(kv.no_space_error().is_none(), "it has not tried");
    let put = PutRequest::new("/more", vec![0; 100_000], Expected::Any);
    kv.put(put).await.unwrap_err();
    let missed = kv.no_space_error().expect("it is reported");
    assert!(missed.to_string().contains("out of space"), "{missed}");
    // etcd performs the write that exceeds the quota, and refuses it: it checks the quota again
    // when it applies proposals.
    let stored = names(&registry).await.unwrap().len();
    assert!(
        (acknowledged..=acknowledged + 1).contains(&stored),
        "{stored} are stored, {acknowledged} were acknowledged"
    );
    let rest = registry.resource("", "v1", "configmaps").unwrap();
    let (cx, options) = (registry.request(User::default()), DeleteOptions::default());
    rest.delete(&cx, "default", "map-0", &options)
        .await
        .unwrap();
    assert_eq!(names(&registry).await.unwrap().len(), stored - 1);
}
