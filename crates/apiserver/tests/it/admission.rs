//! Webhooks and policies that are stored, as clients see them. Webhooks are functions of the test.

mod chain;
mod metrics;
mod mutating_policies;
mod mutating_webhooks;
mod policies;
mod policy_params;
mod validating_webhooks;

use crate::client::{Answer, Client, server_with};
use bytes::Bytes;
use http::Version;
use kubist_admission::PluginSelection;
use kubist_apiserver::{Authorization, Config, DynamicAdmission, RunningServer};
use kubist_registry::{
    BoxFuture, WebhookCall, WebhookCaller, WebhookClient, WebhookConfig, WebhookError,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const VALIDATING: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const MUTATING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// What a webhook answers to a review, given its request.
type Script = Box<dyn Fn(&Value) -> Result<Value, WebhookError> + Send + Sync>;

/// Calls functions in place of webhooks.
#[derive(Clone, Default)]
struct Scripts(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    scripts: Vec<(String, Arc<Script>)>,
    reviews: Vec<Value>,
}

#[derive(Debug)]
struct Scripted {
    scripts: Scripts,
    url: String,
}

impl fmt::Debug for Scripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripts").finish_non_exhaustive()
    }
}

impl WebhookCaller for Scripts {
    fn client(&self, config: &WebhookConfig) -> Result<Arc<dyn WebhookClient>, WebhookError> {
        let scripts = self.clone();
        let url = config.target.url(Duration::from_secs(10));
        Ok(Arc::new(Scripted { scripts, url }))
    }
}

impl WebhookClient for Scripted {
    fn call<'a>(&'a self, call: WebhookCall<'a>) -> BoxFuture<'a, Result<Bytes, WebhookError>> {
        let review: Value = serde_json::from_slice(&call.body).expect("it is JSON");
        let request = review["request"].clone();
        let mut state = self.scripts.0.lock();
        state.reviews.push(review);
        let mut scripts = state.scripts.iter();
        let script = scripts.find(|it| self.url.contains(&it.0));
        let script = script.map(|it| Arc::clone(&it.1));
        drop(state);
        Box::pin(async move {
            let refused = || WebhookError::Transport {
                url: self.url.clone(),
                reason: "dial tcp 127.0.0.1:1: connect: connection refused".to_owned(),
            };
            let mut response = script.ok_or_else(refused)?(&request)?;
            response["uid"] = request["uid"].clone();
            let answer = json!({
                "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
                "response": response,
            });
            Ok(Bytes::from(answer.to_string()))
        })
    }
}

/// A server that obeys webhooks and policies.
struct World {
    server: RunningServer,
    client: Client,
    scripts: Scripts,
}

impl World {
    async fn new() -> Self {
        Self::with(Authorization::default()).await
    }

    async fn with(authorization: Authorization) -> Self {
        let (scripts, admission) = (Scripts::default(), DynamicAdmission::new());
        let caller: Arc<dyn WebhookCaller> = Arc::new(scripts.clone());
        let plugins = admission.plugins(Some(caller), &authorization);
        let config = Config {
            listen: None,
            admission: Some(admission),
            authorization,
            ..Config::default()
        };
        let server = server_with(config, |config| {
            config.admission = PluginSelection::default().chain(plugins);
        })
        .await;
        let client = Client::in_memory(&server, Version::HTTP_2).await;
        Self {
            server,
            client,
            scripts,
        }
    }

    /// Lets the webhook at this path answer so.
    fn script(
        &self,
        path: &str,
        script: impl Fn(&Value) -> Result<Value, WebhookError> + Send + Sync + 'static,
    ) {
        let script: Script = Box::new(script);
        let mut state = self.scripts.0.lock();
        state.scripts.push((path.to_owned(), Arc::new(script)));
    }

    /// Returns the reviews so far.
    fn reviews(&self) -> Vec<Value> {
        self.scripts.0.lock().reviews.clone()
    }

    /// Creates a configuration, a policy or a binding, and waits until it is in force.
    async fn configure(&mut self, path: &str, object: &Value) {
        let answer = self.client.post(path, object).await;
        assert_eq!(answer.code, 201, "{}", answer.json());
        settle().await;
    }

    async fn merge(&mut self, path: &str, patch: &Value) -> Answer {
        let media_type = "application/merge-patch+json";
        self.client
            .ask("PATCH", path, media_type, patch.to_string())
            .await
    }

    async fn put(&mut self, path: &str, object: &Value) -> Answer {
        let body = object.to_string();
        self.client.ask("PUT", path, "application/json", body).await
    }

    async fn create_map(&mut self, name: &str) -> Answer {
        self.client.post(MAPS, &map(name)).await
    }
}

/// Waits for as long as a change of webhooks and policies may take.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

fn map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name}, "data": {"a": "1"},
    })
}

/// Returns a webhook for config maps at a path of `hooks`.
fn hook(name: &str) -> Value {
    json!({
        "name": format!("{name}.example.com"),
        "clientConfig": {"url": format!("https://hooks/{name}")},
        "rules": [{
            "operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"],
            "resources": ["configmaps"],
        }],
        "sideEffects": "None", "admissionReviewVersions": ["v1"],
    })
}

fn configuration(kind: &str, hooks: &[Value]) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
        "metadata": {"name": "hooks"}, "webhooks": hooks,
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the type of scripts")]
fn allow(_: &Value) -> Result<Value, WebhookError> {
    Ok(json!({"allowed": true}))
}
