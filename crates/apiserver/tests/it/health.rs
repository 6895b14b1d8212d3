//! Health follows storage.

use crate::client::Client;
use http::Version;
use kubist_apiserver::{ApiServer, Config};
use kubist_registry::{Registry, RegistryConfig};
use kubist_storage::memory::MemoryKv;
use std::sync::Arc;

#[tokio::test]
async fn a_server_whose_store_is_closed_is_not_ready() {
    let kv = MemoryKv::default();
    let registry = Registry::new(RegistryConfig::new(Arc::new(kv.clone())));
    registry.start().await.expect("the store is empty");
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let server = ApiServer::bind(config, registry)
        .await
        .expect("it listens on nothing");
    let mut client = Client::in_memory(&server, Version::HTTP_11).await;
    for path in ["/readyz", "/livez", "/healthz/etcd"] {
        assert_eq!(client.get(path).await.bytes, "ok", "{path}");
    }
    kv.close();
    let answer = client.get("/readyz").await;
    assert_eq!(answer.code, 500);
    assert_eq!(
        answer.bytes,
        "[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n[+]shutdown ok\n\
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
    assert_eq!(client.get("/livez?exclude=etcd").await.code, 200);
    assert_eq!(client.get("/livez/ping").await.code, 200);
    server.shutdown().await;
}
