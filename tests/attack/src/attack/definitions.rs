//! Definitions with large schemas that are created, used once and deleted in turn: the server must
//! not retain memory for deleted ones.

use crate::Outcome;
use crate::call::Call;
use crate::connection::{Connection, Windows};
use crate::stage::{NAMESPACE, Stage};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Clients, each with its own definitions.
const CLIENTS: usize = 2;
/// Properties of a schema, of about 300 kB.
const PROPERTIES: usize = 3_000;
/// The time limit for a new definition to be served, and the interval of attempts.
const ATTEMPTS: usize = 50;
const PAUSE: Duration = Duration::from_millis(20);
const GROUP: &str = "attack.example.com";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Repeats until the time is over.
pub(super) async fn run(stage: &Arc<Stage>) -> Outcome {
    let mut running = JoinSet::new();
    for client in 0..CLIENTS {
        let connection = stage.hostile(Windows::OPEN).await?;
        let stage = Arc::clone(stage);
        running.spawn(async move {
            for round in 0.. {
                if stage.is_over() || !one(&stage, &connection, client, round).await {
                    return;
                }
            }
        });
    }
    while let Some(ended) = running.join_next().await {
        ended?;
    }
    Ok(())
}

/// Creates, uses and deletes one definition; returns false if the connection has ended.
async fn one(stage: &Stage, connection: &Connection, client: usize, round: usize) -> bool {
    let kind = format!("W{client}x{round}");
    let plural = kind.to_lowercase() + "s";
    let create = Call::post(
        "create",
        DEFINITIONS,
        definition(&kind, &plural).to_string(),
    );
    if stage.send(connection, &create).await.status == 0 {
        return false;
    }
    let objects = format!("/apis/{GROUP}/v1/namespaces/{NAMESPACE}/{plural}");
    let object = json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": kind,
        "metadata": {"name": "one"},
    });
    for _ in 0..ATTEMPTS {
        let call = Call::post("create an object", objects.as_str(), object.to_string());
        match stage.send(connection, &call).await.status {
            0 => return false,
            404 => sleep(PAUSE).await,
            _ => break,
        }
    }
    let delete = Call::delete("delete", format!("{DEFINITIONS}/{plural}.{GROUP}"));
    stage.send(connection, &delete).await.status != 0
}

fn definition(kind: &str, plural: &str) -> Value {
    let property = |number: usize| {
        let schema = json!({
            "type": "string",
            "description": format!("the value number {number}, of which there are many"),
            "maxLength": 63,
        });
        (format!("property{number:05}"), schema)
    };
    let properties: Map<String, Value> = (0..PROPERTIES).map(property).collect();
    let spec = json!({"type": "object", "properties": properties});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "names": {
                "kind": kind,
                "listKind": format!("{kind}List"),
                "plural": plural,
                "singular": kind.to_lowercase(),
            },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_large_and_named_by_its_rules() {
        let definition = definition("W0x1", "w0x1s");
        assert_eq!(definition["metadata"]["name"], "w0x1s.attack.example.com");
        let bytes = definition.to_string().len();
        assert!((250_000..600_000).contains(&bytes), "{bytes}");
    }
}
