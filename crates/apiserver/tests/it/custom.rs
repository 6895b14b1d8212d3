//! Custom resources over HTTP.

mod content;
mod definitions;
mod objects;
mod rules;
mod schemas;

use crate::client::Client;
use serde_json::{Value, json};
use std::time::Duration;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn definition() -> Value {
    let schema = json!({"openAPIV3Schema": {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        "x-kubernetes-preserve-unknown-fields": true,
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {
                "plural": "widgets", "kind": "Widget", "shortNames": ["wi"],
                "categories": ["all", "shop"],
            },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": schema,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                ],
            }],
        },
    })
}

async fn defined(client: &mut Client) {
    defined_as(client, &definition()).await;
}

async fn defined_as(client: &mut Client, definition: &Value) {
    let answer = client.post(DEFINITIONS, definition).await;
    assert_eq!(answer.code, 201, "{answer:?}");
    for _ in 0..200 {
        if client.get(WIDGETS).await.code == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is never served");
}

fn widget(name: &str) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": name}, "spec": {"size": 3, "deep": {"list": [1, {"a": null}]}},
    })
}
