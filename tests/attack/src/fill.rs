//! Creates many objects, as the administrator.

use crate::Outcome;
use crate::call::Call;
use crate::stage::{NAMESPACE, Stage};
use serde_json::json;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Connections that create.
const CONNECTIONS: usize = 2;
/// Concurrent requests on each.
const STREAMS: usize = 32;

/// Creates this many objects, each by the call that `make` returns for its number.
pub(crate) async fn fill<F>(stage: &Stage, count: usize, make: F) -> Outcome
where
    F: Fn(usize) -> Call + Send + Sync + 'static,
{
    let make = Arc::new(make);
    let mut running: JoinSet<Outcome> = JoinSet::new();
    for lane in 0..CONNECTIONS {
        let connection = Arc::new(stage.administrator().await?);
        for stream in 0..STREAMS {
            let (connection, make) = (Arc::clone(&connection), Arc::clone(&make));
            let begin = lane * STREAMS + stream;
            running.spawn(async move {
                for number in (begin..count).step_by(CONNECTIONS * STREAMS) {
                    let answer = connection.call(&make(number)).await;
                    if answer.status != 201 {
                        let text = String::from_utf8_lossy(&answer.body);
                        let (status, reason) = (answer.status, answer.reason);
                        return Err(format!("creating: {status} {reason} {text}").into());
                    }
                }
                Ok(())
            });
        }
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

/// Returns the collection of config maps that attacks use.
pub(crate) fn config_maps() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}

/// Returns the collection of Pods that attacks use.
pub(crate) fn pods() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/pods")
}

/// Creates config maps with a value of this many bytes.
pub(crate) async fn fill_config_maps(stage: &Stage, count: usize, bytes: usize) -> Outcome {
    fill(stage, count, move |number| {
        let object = json!({
            "metadata": {"name": format!("m{number:05}")},
            "data": {"value": "x".repeat(bytes)},
        });
        Call::post("fill", config_maps(), object.to_string())
    })
    .await
}

/// Creates Pods with labels, for selectors and tables.
pub(crate) async fn fill_pods(stage: &Stage, count: usize) -> Outcome {
    fill(stage, count, |number| {
        let object = json!({
            "metadata": {
                "name": format!("p{number:05}"),
                "labels": {
                    "app": format!("app-{}", number % 100),
                    "key": format!("v{number:05}"),
                    "tier": "back",
                    "zone": format!("zone-{}", number % 3),
                },
            },
            "spec": {
                "containers": [{
                    "name": "main",
                    "image": "registry.example/app:1",
                    "env": [{"name": "NUMBER", "value": number.to_string()}],
                }],
            },
        });
        Call::post("fill", pods(), object.to_string())
    })
    .await
}
