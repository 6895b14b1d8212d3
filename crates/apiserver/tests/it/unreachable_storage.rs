//! Unreachable storage: errors are reported within the deadline, and not as invalid credentials.

use crate::client::{Client, server_with};
use http::Version;
use kubist_apiserver::{Config, RunningServer};
use kubist_storage::KvRead;
use kubist_storage::memory::MemoryKv;
use kubist_storage::{Fault, FaultKind, GetResponse, Kv, KvFuture, KvWrapper, ReadError, Revision};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::time::Instant;

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// An engine whose reads of single keys can be made to fail, hang or panic.
#[derive(Debug)]
struct UnreachableKv {
    kv: MemoryKv,
    how: AtomicU8,
}

const WORKING: u8 = 0;
const FAILING: u8 = 1;
const SILENT: u8 = 2;
const BROKEN: u8 = 3;

impl KvWrapper for UnreachableKv {
    fn inner(&self) -> &dyn Kv {
        &self.kv
    }

    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        match self.how.load(Ordering::Relaxed) {
            WORKING => self.kv.get(key, at),
            FAILING => {
                let fault = Fault::new(FaultKind::Unavailable, "it was cut");
                KvFuture::ready(Err(fault.into()))
            }
            BROKEN => KvFuture::boxed(async { panic!("a defect") }),
            _ => KvFuture::boxed(std::future::pending()),
        }
    }
}

/// A server, its storage, and a token of a service account.
async fn start() -> (RunningServer, Arc<UnreachableKv>, String) {
    let kv = Arc::new(UnreachableKv {
        kv: MemoryKv::default(),
        how: AtomicU8::new(WORKING),
    });
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let below = Arc::clone(&kv);
    let server = server_with(config, |registry| registry.kv = below).await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let account = json!({"metadata": {"name": "robot"}});
    assert_eq!(admin.post(ACCOUNTS, &account).await.code, 201);
    let path = format!("{ACCOUNTS}/robot/token");
    let answer = admin.post(&path, &json!({"kind": "TokenRequest"})).await;
    let token = answer.json()["status"]["token"].as_str().map(str::to_owned);
    (server, kv, token.expect("there is one"))
}

#[tokio::test(start_paused = true)]
async fn a_token_is_not_refused_because_storage_cannot_be_asked_about_its_account() {
    let (server, kv, token) = start().await;
    let robot = Client::in_memory(&server, Version::HTTP_2).await;
    let mut robot = robot.header("authorization", &format!("Bearer {token}"));
    assert_eq!(robot.get(CONFIG_MAPS).await.code, 200);
    kv.how.store(FAILING, Ordering::Relaxed);
    let answer = robot.get(CONFIG_MAPS).await;
    assert_eq!(answer.code, 500, "{}", answer.json());
    let health = robot.get("/livez/ping").await;
    assert_eq!(health.code, 200, "anyone may read it");

    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let review = json!({"kind": "TokenReview", "spec": {"token": token}});
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    assert_eq!(admin.post(path, &review).await.code, 500);

    kv.how.store(SILENT, Ordering::Relaxed);
    let begun = Instant::now();
    let answer = robot.get(&format!("{CONFIG_MAPS}?timeout=5s")).await;
    assert_eq!(answer.code, 504, "{}", answer.json());
    assert_eq!(begun.elapsed().as_secs(), 5);
    kv.how.store(WORKING, Ordering::Relaxed);
    assert_eq!(robot.get(CONFIG_MAPS).await.code, 200);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_panics_is_an_internal_error_and_its_connection_stays() {
    let (server, kv, token) = start().await;
    for version in [Version::HTTP_11, Version::HTTP_2] {
        let robot = Client::in_memory(&server, version).await;
        let mut robot = robot.header("authorization", &format!("Bearer {token}"));
        kv.how.store(BROKEN, Ordering::Relaxed);
        let answer = robot.get(CONFIG_MAPS).await;
        let status = answer.json();
        assert_eq!(
            (answer.code, &status["reason"]),
            (500, &json!("InternalError"))
        );
        assert_eq!(
            status["message"],
            "Internal error occurred: this request caused apiserver to panic. Look in the logs \
             for details."
        );
        kv.how.store(WORKING, Ordering::Relaxed);
        assert_eq!(robot.get(CONFIG_MAPS).await.code, 200, "{version:?}");
    }
}
