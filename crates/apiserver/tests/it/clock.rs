//! A wall clock that jumps: durations are not affected, dates follow it.

use crate::client::Client;
use http::Version;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use kubist_apiserver::{ApiServer, Config, RunningServer};
use kubist_registry::{Registry, RegistryConfig, WallClock};
use kubist_storage::memory::MemoryKv;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const PATH: &str = "/api/v1/namespaces/default/configmaps";
/// The start of the tests.
const START: u64 = 1_800_000_000;
const YEAR: u64 = 365 * 24 * 3600;

/// A manual clock.
#[derive(Debug)]
struct Jumping(Mutex<u64>);

impl WallClock for Jumping {
    fn now(&self) -> Duration {
        Duration::from_secs(*self.0.lock())
    }
}

impl Jumping {
    fn set(&self, seconds: u64) {
        *self.0.lock() = seconds;
    }
}

struct World {
    server: RunningServer,
    clock: Arc<Jumping>,
    _engine: JoinSet<()>,
}

async fn world() -> World {
    let clock = Arc::new(Jumping(Mutex::new(START)));
    let kv = MemoryKv::default();
    let mut engine = JoinSet::new();
    let running = kv.clone();
    engine.spawn(async move { running.run().await });
    let mut config = RegistryConfig::new(Arc::new(kv), kubist_kinds::BuiltIn::shared());
    config.clock = Arc::clone(&clock) as _;
    let registry = Registry::new(config);
    registry.start().await.expect("the store is empty");
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let server = ApiServer::bind(config, registry).await;
    World {
        server: server.expect("it listens on nothing"),
        clock,
        _engine: engine,
    }
}

/// Returns the next frame of a watch, with one event if nothing else happens; `None` at the end.
async fn event(body: &mut Incoming) -> Option<Value> {
    loop {
        let frame = body.frame().await?.expect("it goes on");
        let data = frame.into_data().expect("there are no trailers");
        // The last frame may be empty.
        if !data.is_empty() {
            return Some(serde_json::from_slice(&data).expect("one event"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_has_its_bookmarks_and_its_end_whatever_the_date_is() {
    let world = world().await;
    let mut client = Client::in_memory(&world.server, Version::HTTP_2).await;
    let path = format!("{PATH}?watch=true&allowWatchBookmarks=true&timeoutSeconds=150");
    let response = client.send("GET", &path, "", "").await.expect("it answers");
    let (start, mut body) = (Instant::now(), response.into_body());
    let mut bookmarks = Vec::new();
    for date in [
        START + YEAR,
        START - 20 * YEAR,
        0,
        u64::from(u32::MAX),
        START,
    ] {
        world.clock.set(date);
        let Some(event) = event(&mut body).await else {
            break;
        };
        assert_eq!(event["type"], "BOOKMARK");
        bookmarks.push(start.elapsed().as_secs());
    }
    // After the initial events, each minute, and two seconds before the end.
    assert_eq!(bookmarks, [0, 60, 120, 148]);
    assert_eq!(start.elapsed().as_secs(), 150);
    world.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn the_ages_in_a_watched_table_are_those_at_the_time_of_each_event() {
    let world = world().await;
    let mut writer = Client::in_memory(&world.server, Version::HTTP_2).await;
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let client = Client::in_memory(&world.server, Version::HTTP_2).await;
    let mut client = client.header("accept", table);
    let path = format!("{PATH}?watch=true");
    let response = client.send("GET", &path, "", "").await.expect("it answers");
    let mut body = response.into_body();
    world.clock.set(START + 8);
    writer.post(PATH, &json!({"metadata": {"name": "c"}})).await;
    let age = |event: &Value| event["object"]["rows"][0]["cells"][2].clone();
    let added = event(&mut body).await.expect("there is one");
    assert_eq!(
        (&added["type"], age(&added)),
        (&json!("ADDED"), json!("0s"))
    );
    world.clock.set(START + 8 + 90);
    assert_eq!(writer.delete(&format!("{PATH}/c")).await.code, 200);
    let deleted = event(&mut body).await.expect("there is one");
    let expected = (&json!("DELETED"), json!("90s"));
    assert_eq!((&deleted["type"], age(&deleted)), expected);
    world.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_lives_for_an_hour_whatever_the_date_is() {
    let world = world().await;
    let mut client = Client::in_memory(&world.server, Version::HTTP_2).await;
    let path = "/api/v1/namespaces/default/events";
    let body = json!({
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
        "reason": "Test",
    });
    assert_eq!(client.post(path, &body).await.code, 201);
    drop(client);
    let found = async || {
        let mut client = Client::in_memory(&world.server, Version::HTTP_2).await;
        client.get(&format!("{path}/e")).await.code
    };
    world.clock.set(START + YEAR);
    sleep(Duration::from_secs(30 * 60)).await;
    assert_eq!(found().await, 200, "a year has not passed");
    world.clock.set(START - YEAR);
    sleep(Duration::from_secs(29 * 60)).await;
    assert_eq!(found().await, 200);
    sleep(Duration::from_secs(2 * 60)).await;
    assert_eq!(found().await, 404, "an hour has passed");
    world.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn tokens_follow_the_date_with_a_minute_to_spare() {
    let world = world().await;
    let mut admin = Client::in_memory(&world.server, Version::HTTP_2).await;
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"metadata": {"name": "robot"}});
    assert_eq!(admin.post(accounts, &account).await.code, 201);
    let request = json!({"kind": "TokenRequest", "spec": {"expirationSeconds": 3600}});
    let answer = admin
        .post(&format!("{accounts}/robot/token"), &request)
        .await;
    let token = answer.json()["status"]["token"].clone();
    let bearer = format!("Bearer {}", token.as_str().expect("there is one"));
    let robot = Client::in_memory(&world.server, Version::HTTP_2).await;
    let mut robot = robot.header("authorization", &bearer);
    for (date, code) in [
        (START, 200),
        // Set back slightly, as time services do.
        (START - 59, 200),
        (START - 61, 401),
        (START - YEAR, 401),
        (START + 3600 + 59, 200),
        (START + 3600 + 61, 401),
        (START + YEAR, 401),
        (START, 200),
    ] {
        world.clock.set(date);
        let asked = robot.get(accounts).await.code;
        assert_eq!(
            asked,
            code,
            "{} s after",
            i128::from(date) - i128::from(START)
        );
    }
    world.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn versions_rise_and_requests_have_their_time_when_the_date_goes_back() {
    let world = world().await;
    let mut client = Client::in_memory(&world.server, Version::HTTP_2).await;
    let mut versions = Vec::new();
    for (index, date) in [START, START - YEAR, 0, START + YEAR]
        .into_iter()
        .enumerate()
    {
        world.clock.set(date);
        let body = json!({"metadata": {"name": format!("c{index}")}});
        let created = client.post(PATH, &body).await;
        assert_eq!(created.code, 201);
        let meta = created.json()["metadata"].clone();
        let version: u64 = meta["resourceVersion"]
            .as_str()
            .expect("text")
            .parse()
            .expect("ours");
        versions.push(version);
        let changed = json!({"metadata": {"name": "c0", "labels": {"at": date.to_string()}}});
        let path = format!("{PATH}/c0");
        let changed = client
            .ask("PUT", &path, "application/json", changed.to_string())
            .await;
        assert_eq!(changed.code, 200, "{date}");
    }
    assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
    let path = format!("{PATH}/c1");
    assert_eq!(client.delete(&path).await.code, 200);
    // A deadline is a duration.
    world.clock.set(START + 100 * YEAR);
    assert_eq!(client.get(&format!("{PATH}?timeout=1s")).await.code, 200);
    world.server.shutdown().await;
}
