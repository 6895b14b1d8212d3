//! Lists whose clients disconnect: nothing more is read or encoded, and what was read is released.
//!
//! Cost after the client is gone: the chunks that HTTP already had, and the page that is being
//! read.

use crate::client::Client;
use bytes::Bytes;
use http::Version;
use http_body_util::BodyExt;
use kubist_apimachinery::{ResourceVersion, Status};
use kubist_apiserver::{ApiServer, Config, RunningServer};
use kubist_registry::{Registry, RegistryConfig, Stored, User};
use kubist_storage::memory::MemoryKv;
use kubist_storage::{
    Expected, KeyValue, Kv, KvFuture, KvWrapper, PutRequest, RangeRequest, RangeResponse, ReadError,
};
use kubist_storage::{KvRead, KvWrite};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::sleep;

const PATH: &str = "/api/v1/namespaces/default/configmaps";
const OBJECTS: usize = 20_000;
const BOTH: [Version; 2] = [Version::HTTP_11, Version::HTTP_2];

/// An engine that counts which of the values it returned are still held, and that serves only as
/// many ranges as there are permits.
#[derive(Debug)]
struct Counting {
    kv: MemoryKv,
    held: Arc<()>,
    ranges: AtomicUsize,
    permits: Semaphore,
}

impl Counting {
    fn new(kv: MemoryKv) -> Self {
        Self {
            kv,
            held: Arc::default(),
            ranges: AtomicUsize::new(0),
            permits: Semaphore::new(1_000),
        }
    }

    fn held(&self) -> usize {
        Arc::strong_count(&self.held) - 1
    }
}

/// A value that is counted as long as it is held.
struct Held {
    value: Bytes,
    _count: Arc<()>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.value
    }
}

impl KvWrapper for Counting {
    fn inner(&self) -> &dyn Kv {
        &self.kv
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        KvFuture::boxed(async move {
            self.permits.acquire().await.expect("it is open").forget();
            self.ranges.fetch_add(1, Ordering::Relaxed);
            let mut found = self.kv.range(request).await?;
            for kv in &mut found.kvs {
                *kv = Arc::new(KeyValue {
                    value: Bytes::from_owner(Held {
                        value: kv.value.clone(),
                        _count: Arc::clone(&self.held),
                    }),
                    ..KeyValue::clone(kv)
                });
            }
            Ok(found)
        })
    }
}

async fn start(kv: Arc<dyn Kv>, cache_bytes_max: usize) -> (RunningServer, Registry) {
    let mut config = RegistryConfig::new(kv, kubist_kinds::BuiltIn::shared());
    config.cache_bytes_max = cache_bytes_max;
    let registry = Registry::new(config);
    registry.start().await.expect("the store is empty");
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let server = ApiServer::bind(config, registry.clone()).await;
    (server.expect("it listens on nothing"), registry)
}

fn key(index: usize) -> String {
    format!("/registry/configmaps/default/c{index:05}")
}

/// Creates as many config maps as long lists have, directly in storage: copies of one. The one in
/// the middle is corrupt, which shows only when it is decoded.
async fn fill(server: &RunningServer, kv: &MemoryKv) {
    let mut client = Client::in_memory(server, Version::HTTP_2).await;
    let text = "marked".repeat(60);
    let body = json!({"metadata": {"name": "c00000"}, "data": {"a": text}});
    assert_eq!(client.post(PATH, &body).await.code, 201);
    let found = kv.get(key(0).as_bytes(), None).await.expect("it is open");
    let value = found.kv.expect("it was created").value.clone();
    for index in 1..OBJECTS {
        let mut value = value.clone();
        if index == OBJECTS / 2 {
            let at = value.windows(6).position(|it| it == b"marked");
            let mut bytes = value.to_vec();
            bytes[at.expect("it is in there")] = 0xff;
            value = bytes.into();
        }
        let put = PutRequest::new(key(index), value, Expected::Absent);
        kv.put(put).await.expect("it is open");
    }
}

/// Waits until the server is idle.
async fn quiet(server: &RunningServer) {
    for _ in 0..2_000 {
        if server.load().requests == 0 {
            return;
        }
        sleep(Duration::from_millis(1)).await;
    }
    panic!("it is busy: {:?}", server.load());
}

async fn middle(registry: &Registry) -> Result<Stored, Status> {
    let rest = registry.resource("", "v1", "configmaps");
    let rest = rest.expect("they are served");
    let cx = registry.request(User::default());
    let (name, any) = (format!("c{:05}", OBJECTS / 2), ResourceVersion::default());
    rest.get(&cx, "default", &name, &any).await
}

#[tokio::test]
async fn a_list_that_is_cut_is_encoded_no_further() {
    let kv = MemoryKv::default();
    let (server, registry) = start(Arc::new(kv.clone()), 512 << 20).await;
    fill(&server, &kv).await;
    for version in BOTH {
        let mut client = Client::in_memory(&server, version).await;
        let response = client.send("GET", PATH, "", "").await.expect("it answers");
        let mut body = response.into_body();
        let first = body
            .frame()
            .await
            .expect("there is more")
            .expect("unbroken");
        assert!(first.data_ref().is_some_and(|it| !it.is_empty()));
        assert_eq!(server.load().requests, 1);
        drop((body, client));
        quiet(&server).await;
        let middle = middle(&registry).await.expect("nobody has looked inside");
        assert!(middle.failure().is_none(), "{version:?}: it came so far");
    }
    // A client that continues to read gets there.
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let response = client.send("GET", PATH, "", "").await.expect("it answers");
    assert!(response.into_body().collect().await.is_err());
    let middle = middle(&registry).await;
    assert_eq!(middle.expect_err("it has been looked at").code, 500);
    server.shutdown().await;
}

#[tokio::test]
async fn a_list_that_is_cut_lets_go_of_what_it_read() {
    let kv = MemoryKv::default();
    let counting = Arc::new(Counting::new(kv.clone()));
    let (server, _registry) = start(Arc::clone(&counting) as _, 0).await;
    fill(&server, &kv).await;
    for version in BOTH {
        let mut client = Client::in_memory(&server, version).await;
        let response = client.send("GET", PATH, "", "").await.expect("it answers");
        let mut body = response.into_body();
        body.frame()
            .await
            .expect("there is more")
            .expect("unbroken");
        assert!(counting.held() > OBJECTS / 2, "{}", counting.held());
        drop((body, client));
        quiet(&server).await;
        // A cache without room keeps the last one or two.
        assert!(counting.held() < 5, "{version:?}: {}", counting.held());
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_list_that_is_cut_reads_no_further_page() {
    let kv = MemoryKv::default();
    let counting = Arc::new(Counting::new(kv.clone()));
    let (server, _registry) = start(Arc::clone(&counting) as _, 512 << 20).await;
    fill(&server, &kv).await;
    for version in BOTH {
        let permits = &counting.permits;
        permits.forget_permits(permits.available_permits());
        permits.add_permits(3);
        let before = counting.ranges.load(Ordering::Relaxed);
        let mut client = Client::in_memory(&server, version).await;
        // It selects nothing, so it would read everything, in pages that begin small.
        let path = format!("{PATH}?limit=1&labelSelector=a%3Db");
        let waiting = tokio::time::timeout(
            Duration::from_millis(200),
            client.send("GET", &path, "", ""),
        );
        assert!(waiting.await.is_err(), "it waits for the fourth page");
        assert_eq!(server.load().requests, 1);
        drop(client);
        quiet(&server).await;
        permits.add_permits(1_000);
        sleep(Duration::from_millis(50)).await;
        let read = counting.ranges.load(Ordering::Relaxed) - before;
        assert_eq!(read, 3, "{version:?}");
    }
    server.shutdown().await;
}
