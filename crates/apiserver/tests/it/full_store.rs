//! A store that accepts no more writes: they get a clear error, and everything else continues.
//!
//! How a store gets into and out of that state is tested in `storage-redb`, and with a complete
//! server in `kubist`.

use crate::client::{Client, server_with};
use http::Version;
use kubist_apiserver::{ApiServer, Config};
use kubist_registry::{Registry, RegistryConfig};
use kubist_storage::journal::{Batch, Journal, JournaledKv, Replay, Replayed};
use kubist_storage::memory::{self, MemoryKv, TokioClock};
use kubist_storage::{Fault, FaultKind, Revision};
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// A journal without space, on request.
#[derive(Clone, Debug, Default)]
struct Filling(Arc<AtomicBool>);

impl Journal for Filling {
    fn commit(&mut self, _: &Batch) -> Result<(), Fault> {
        if self.0.load(Ordering::Relaxed) {
            return Err(full());
        }
        Ok(())
    }

    fn reopens(&self) -> bool {
        true
    }

    fn reopen(&mut self) -> Result<Replayed, Fault> {
        Err(full())
    }
}

fn full() -> Fault {
    let error = io::Error::new(io::ErrorKind::StorageFull, "No space left on device");
    Fault::new(FaultKind::NoSpace, error)
}

#[tokio::test]
async fn a_full_store_refuses_writes_with_its_reason_and_serves_the_rest() {
    let journal = Filling::default();
    let limits = memory::Config::default();
    let replayed = Replay::new(limits, Revision::ZERO, 0).finish(Revision::EMPTY_STORE);
    let replayed = replayed.expect("it is empty");
    let kv = JournaledKv::new(replayed, Arc::new(TokioClock::start()), journal.clone());
    let registry = Registry::new(RegistryConfig::new(
        Arc::new(kv),
        kubist_kinds::BuiltIn::shared(),
    ));
    registry.start().await.expect("the store is empty");
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let server = ApiServer::bind(config, registry).await;
    let server = server.expect("it listens on nothing");
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let body = json!({"metadata": {"name": "kept"}, "data": {"a": "1"}});
    assert_eq!(client.post(PATH, &body).await.code, 201);
    assert_eq!(client.get("/readyz").await.code, 200);

    journal.0.store(true, Ordering::Relaxed);
    let kept = format!("{PATH}/kept");
    let changed = json!({"metadata": {"name": "kept"}, "data": {"a": "2"}}).to_string();
    let event = json!({
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
    });
    let answers = [
        client
            .post(PATH, &json!({"metadata": {"name": "more"}}))
            .await,
        client.ask("PUT", &kept, "application/json", changed).await,
        client.delete(&kept).await,
        client
            .post("/api/v1/namespaces/default/events", &event)
            .await,
    ];
    for answer in answers {
        let status = answer.json();
        assert_eq!(
            (answer.code, &status["reason"]),
            (500, &json!("InternalError"))
        );
        assert_eq!(
            status["message"],
            "Internal error occurred: the storage engine is out of space: No space left on device"
        );
    }
    let got = client.get(&kept).await;
    assert_eq!(
        (got.code, got.json()["data"]["a"].clone()),
        (200, json!("1"))
    );
    assert_eq!(client.get(PATH).await.code, 200);
    let watch = client
        .get(&format!("{PATH}?watch=true&timeoutSeconds=1"))
        .await;
    assert!(watch.bytes.starts_with(b"{\"type\":\"ADDED\""));
    let (path, body) = (
        format!("{PATH}?dryRun=All"),
        json!({"metadata": {"name": "x"}}),
    );
    assert_eq!(client.post(&path, &body).await.code, 201);

    // Alive but not ready: a restart would not help.
    assert_eq!(client.get("/livez").await.code, 200);
    let ready = client.get("/readyz").await;
    assert_eq!(ready.code, 500);
    let text = String::from_utf8_lossy(&ready.bytes).into_owned();
    assert!(text.contains("[-]etcd failed"), "{text}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_store_that_holds_as_much_as_it_may_takes_what_needs_no_more_room() {
    let limits = memory::Config {
        data_bytes_max: Some(400 << 10),
        ..memory::Config::default()
    };
    let kv = MemoryKv::new(limits, Arc::new(TokioClock::start()));
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let server = server_with(config, |registry| registry.kv = Arc::new(kv)).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let object = |name: &str, size: usize| {
        let text = "x".repeat(size);
        json!({"metadata": {"name": name}, "data": {"a": text}})
    };
    assert_eq!(client.post(PATH, &object("a", 100 << 10)).await.code, 201);
    assert_eq!(client.post(PATH, &object("b", 100 << 10)).await.code, 201);
    let answer = client.post(PATH, &object("c", 300 << 10)).await;
    let status = answer.json();
    assert_eq!(
        (answer.code, &status["reason"]),
        (507, &json!("InsufficientStorage"))
    );
    let message = status["message"].as_str().expect("it says why");
    assert!(
        message.starts_with("the store is full: it holds"),
        "{message}"
    );
    // Everything else is accepted: smaller values, deletions, reads, and whatever fits.
    let smaller = object("a", 50 << 10).to_string();
    let path = format!("{PATH}/a");
    let put = client.ask("PUT", &path, "application/json", smaller).await;
    assert_eq!(put.code, 200);
    assert_eq!(client.delete(&format!("{PATH}/b")).await.code, 200);
    assert_eq!(client.get("/readyz").await.code, 200);
    assert_eq!(client.post(PATH, &object("c", 100 << 10)).await.code, 201);
    server.shutdown().await;
}
