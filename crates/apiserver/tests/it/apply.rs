//! Server-side apply and the managed fields of every write, over HTTP.

mod applies;
mod bodies;
mod conflicts;
mod definitions;
mod entries;
mod hostile;
mod migration;
mod resets;
mod subresources;
mod versions;
mod writes;

use crate::client::{Answer, Client, server_with};
use http::Version;
use kubist_apiserver::{Config, RunningServer};
use kubist_registry::WallClock;
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON: &str = "application/json";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const CONFIG_MAP: &str = "/api/v1/namespaces/default/configmaps/c";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/d";
/// The start of the tests: 2027-01-15T08:00:00Z.
const START: u64 = 1_800_000_000;

/// A clock that the test advances.
#[derive(Debug)]
struct ManualClock(Mutex<Duration>);

impl WallClock for ManualClock {
    fn now(&self) -> Duration {
        *self.0.lock()
    }
}

/// A server, a connection to it, and its clock.
struct Cluster {
    server: RunningServer,
    client: Client,
    clock: Arc<ManualClock>,
}

impl Cluster {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock(Mutex::new(Duration::from_secs(START))));
        let config = Config {
            listen: None,
            ..Config::default()
        };
        let set = Arc::clone(&clock);
        let server = server_with(config, |config| config.clock = set).await;
        let client = Client::in_memory(&server, Version::HTTP_2).await;
        Self {
            server,
            client,
            clock,
        }
    }

    fn advance(&self, seconds: u64) {
        *self.clock.0.lock() += Duration::from_secs(seconds);
    }

    async fn get(&mut self, path: &str) -> Value {
        let answer = self.client.get(path).await;
        assert_eq!(answer.code, 200, "{path}: {}", answer.json());
        answer.json()
    }

    /// Sends a request whose success the test does not check.
    async fn ask(&mut self, method: &str, path: &str, media: &str, body: &Value) -> Answer {
        self.client.ask(method, path, media, body.to_string()).await
    }

    async fn succeeds(&mut self, method: &str, path: &str, media: &str, body: &Value) -> Value {
        let answer = self.ask(method, path, media, body).await;
        let code = answer.code;
        assert!(code == 200 || code == 201, "{path}: {}", answer.json());
        answer.json()
    }

    /// Creates an object. `path` may have a query.
    async fn create(&mut self, path: &str, object: &Value) -> Value {
        self.succeeds("POST", path, JSON, object).await
    }

    async fn put(&mut self, path: &str, object: &Value) -> Value {
        self.succeeds("PUT", path, JSON, object).await
    }

    async fn merge(&mut self, path: &str, patch: &Value) -> Value {
        self.succeeds("PATCH", path, MERGE, patch).await
    }

    /// Applies as a manager, without force.
    async fn apply(&mut self, path: &str, manager: &str, config: &Value) -> Value {
        let answer = self.try_apply(path, manager, config).await;
        let code = answer.code;
        assert!(code == 200 || code == 201, "{path}: {}", answer.json());
        answer.json()
    }

    async fn try_apply(&mut self, path: &str, manager: &str, config: &Value) -> Answer {
        let config = named(path, config);
        let path = format!("{path}?fieldManager={manager}");
        self.ask("PATCH", &path, APPLY, &config).await
    }

    async fn force(&mut self, path: &str, manager: &str, config: &Value) -> Value {
        let config = named(path, config);
        let path = format!("{path}?fieldManager={manager}&force=true");
        self.succeeds("PATCH", &path, APPLY, &config).await
    }

    async fn shut_down(self) {
        self.server.shutdown().await;
    }
}

/// Returns a configuration with the name in the path, unless it has one.
fn named(path: &str, config: &Value) -> Value {
    let mut config = config.clone();
    let rest = path.split("namespaces/default/").nth(1).unwrap_or_default();
    let name = rest.split('/').nth(1).expect("the path has a name");
    if config["metadata"]["name"].is_null() {
        config["metadata"]["name"] = name.into();
    }
    config
}

/// Returns a line for each entry of an object's managed fields: manager, operation, API version and
/// subresource, and fields.
fn owners(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array();
    let line = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let subresource = text("subresource");
        let slash = if subresource.is_empty() { "" } else { "/" };
        format!(
            "{} {} {}{slash}{subresource}: {}",
            text("manager"),
            text("operation"),
            text("apiVersion"),
            fields(&entry["fieldsV1"]),
        )
    };
    entries.into_iter().flatten().map(line).collect()
}

/// Returns fields in short: `data{. a} spec{replicas}`.
fn fields(tree: &Value) -> String {
    let member = |(name, below): (&String, &Value)| {
        let name = name.strip_prefix("f:").unwrap_or(name);
        let below = fields(below);
        if below.is_empty() {
            name.to_owned()
        } else {
            format!("{name}{{{below}}}")
        }
    };
    let members: Vec<String> = tree.as_object().into_iter().flatten().map(member).collect();
    members.join(" ")
}

fn version(object: &Value) -> &str {
    let version = &object["metadata"]["resourceVersion"];
    version.as_str().expect("it is stored")
}

/// Returns the times of the managers, as seconds after the start of the tests.
fn times(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array();
    let line = |entry: &Value| {
        let time = entry["time"].as_str().unwrap_or_default();
        let time = time.trim_start_matches("2027-01-15T08:");
        format!("{} {time}", entry["manager"].as_str().unwrap_or_default())
    };
    entries.into_iter().flatten().map(line).collect()
}
