//! Conversion of custom resources over HTTP, by a webhook with TLS on a local port.

mod faults;
mod services;
mod versions;
mod webhook;

use self::webhook::{Mode, Webhook};
use crate::client::{Client, silent_server_with};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Version;
use kubist_apiserver::{RunningServer, Webhooks};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const V1: &str = "/apis/example.com/v1/namespaces/default/widgets";
const BETA: &str = "/apis/example.com/v1beta1/namespaces/default/widgets";
const JSON: &str = "application/json";

/// A server whose definitions call webhooks.
struct World {
    server: RunningServer,
    client: Client,
}

impl World {
    async fn new() -> Self {
        let server = silent_server_with(|config| {
            config.webhooks = Some(Arc::new(Webhooks::new()));
        })
        .await;
        let client = Client::in_memory(&server, Version::HTTP_2).await;
        Self { server, client }
    }

    /// Defines widgets that are converted by a webhook.
    async fn define(&mut self, client_config: &Value) {
        self.define_as(&definition(client_config)).await;
    }

    /// Defines widgets and waits until they are served.
    async fn define_as(&mut self, definition: &Value) {
        let answer = self.client.post(DEFINITIONS, definition).await;
        assert_eq!(answer.code, 201, "{}", answer.json());
        for _ in 0..200 {
            if self
                .client
                .get("/apis/example.com/v1beta1/widgets")
                .await
                .code
                == 200
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it is never served");
    }

    async fn create(&mut self, path: &str, name: &str, spec: &Value) -> Value {
        let object = json!({
            "apiVersion": version_of(path), "kind": "Widget",
            "metadata": {"name": name}, "spec": spec,
        });
        let answer = self.client.post(path, &object).await;
        assert_eq!(answer.code, 201, "{}", answer.json());
        answer.json()
    }

    async fn get(&mut self, path: &str) -> Value {
        let answer = self.client.get(path).await;
        assert_eq!(answer.code, 200, "{path}: {}", answer.json());
        answer.json()
    }

    async fn end(self, webhook: Webhook) {
        self.server.shutdown().await;
        drop(webhook);
    }
}

/// Returns the API version in a path.
fn version_of(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    format!("{}/{}", parts[2], parts[3])
}

fn definition(client_config: &Value) -> Value {
    let schema = json!({"openAPIV3Schema": {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
    }});
    let version = |name: &str, column: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1", "schema": schema,
            "subresources": {"status": {}},
            "additionalPrinterColumns": [
                {"name": "Size", "type": "string", "jsonPath": column},
            ],
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version("v1", ".spec.size"), version("v1beta1", ".spec.dimension")],
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": client_config, "conversionReviewVersions": ["v1"],
            }},
        },
    })
}

/// Returns the client configuration for a webhook by its URL.
fn by_url(webhook: &Webhook) -> Value {
    json!({
        "url": format!("https://localhost:{}/convert", webhook.port),
        "caBundle": STANDARD.encode(&webhook.ca_pem),
    })
}
