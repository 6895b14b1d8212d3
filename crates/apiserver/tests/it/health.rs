//! Health checks follow storage, watch caches and shutdown.

use crate::client::{Client, server, server_with};
use http::Version;
use kubist_apiserver::{ApiServer, Config};
use kubist_registry::storage::WatchCacheConfig;
use kubist_registry::{Registry, RegistryConfig};
use kubist_storage::memory::MemoryKv;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

#[tokio::test]
async fn a_server_whose_store_is_closed_is_not_ready() {
    let kv = MemoryKv::default();
    let registry = Registry::new(RegistryConfig::new(
        Arc::new(kv.clone()),
        kubist_kinds::BuiltIn::shared(),
    ));
    registry.start().await.expect("the store is empty");
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let server = ApiServer::bind(config, registry)
        .await
        .expect("it listens on nothing");
    let mut client = Client::in_memory(&server, Version::HTTP_11).await;
    for path in [
        "/readyz",
        "/livez",
        "/healthz/etcd",
        "/readyz/etcd-readiness",
    ] {
        assert_eq!(client.get(path).await.bytes, "ok", "{path}");
    }
    kv.close();
    let answer = client
        .get("/readyz?exclude=poststarthook/crd-informer-synced")
        .await;
    assert_eq!(answer.code, 500);
    assert_eq!(
        answer.bytes,
        "[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n\
         [-]etcd-readiness failed: reason withheld\n[+]poststarthook/storage-readiness ok\n\
         [+]poststarthook/crd-informer-synced excluded: ok\n[+]shutdown ok\n\
         readyz check failed\n"
    );
    for path in [
        "/livez",
        "/healthz",
        "/readyz/etcd",
        "/livez/etcd",
        "/healthz/etcd",
    ] {
        assert_eq!(client.get(path).await.code, 500, "{path}");
    }
    let others = "/livez?exclude=etcd&exclude=poststarthook/crd-informer-synced";
    assert_eq!(client.get(others).await.code, 200);
    assert_eq!(client.get("/livez/ping").await.code, 200);
    server.shutdown().await;
}

#[tokio::test]
async fn a_lost_watch_cache_and_lost_definitions_are_named() {
    let kv = MemoryKv::default();
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let store = kv.clone();
    let server = server_with(config, |registry| {
        registry.kv = Arc::new(store);
        registry.watch_cache = WatchCacheConfig::everywhere();
    })
    .await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(client.get("/readyz").await.bytes, "ok");
    kv.close();
    // The caches and the definition loop are updated when they run.
    let caches = "/readyz/poststarthook/storage-readiness";
    while client.get(caches).await.code == 200 {
        tokio::task::yield_now().await;
    }
    let text = client.get("/readyz").await.bytes;
    let text = String::from_utf8_lossy(&text);
    let first = "[-]poststarthook/storage-readiness failed: not ready: configmaps, ";
    assert!(text.contains(first), "{text}");
    while client
        .get("/livez/poststarthook/crd-informer-synced")
        .await
        .code
        == 200
    {
        tokio::task::yield_now().await;
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn readiness_fails_first_while_everything_else_continues() {
    let config = Config {
        listen: None,
        shutdown_delay: Duration::from_secs(30),
        ..Config::default()
    };
    let server = server(config).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut ending = JoinSet::new();
    ending.spawn(server.shutdown());
    tokio::time::sleep(Duration::from_secs(29)).await;
    let answer = client.get("/readyz").await;
    assert_eq!(answer.code, 500);
    let text = String::from_utf8_lossy(&answer.bytes);
    let line = "[-]shutdown failed: process is shutting down\n";
    assert!(text.contains(line), "{text}");
    assert_eq!(client.get("/livez").await.bytes, "ok");
    assert_eq!(client.get("/api/v1/namespaces").await.code, 200);
    assert!(ending.try_join_next().is_none());
    ending.join_all().await;
    assert!(client.send("GET", "/livez", "", "").await.is_err());
}
