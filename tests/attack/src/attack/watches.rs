//! Many watches of one collection, and writes to it.

use crate::Outcome;
use crate::call::{Call, MERGE_PATCH};
use crate::connection::{Answer, Connection, Windows};
use crate::fill::config_maps;
use crate::stage::Stage;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout_at};

/// Connections, and in the short form.
const CONNECTIONS: usize = 8;
const CONNECTIONS_SHORT: usize = 4;
/// Watches on each.
const STREAMS: usize = 250;
/// Time between writes; each causes an event for every watch.
const PACE: Duration = Duration::from_millis(200);

/// Watches, and reads the events, until the time is over.
pub(super) async fn run(stage: &Arc<Stage>) -> Outcome {
    let mut running = JoinSet::new();
    for _ in 0..stage.many(CONNECTIONS, CONNECTIONS_SHORT) {
        let connection = Arc::new(stage.hostile(Windows::OPEN).await?);
        for _ in 0..STREAMS {
            let (stage, connection) = (Arc::clone(stage), Arc::clone(&connection));
            running.spawn(async move { watch(&stage, &connection).await });
        }
    }
    let connection = stage.hostile(Windows::OPEN).await?;
    let path = config_maps() + "/m00000";
    let mut number: u64 = 0;
    while !stage.is_over() {
        number += 1;
        let body = json!({"data": {"number": number.to_string()}}).to_string();
        let patch = Call::patch("patch", path.as_str(), MERGE_PATCH, body);
        stage.send(&connection, &patch).await;
        sleep(PACE).await;
    }
    while let Some(ended) = running.join_next().await {
        ended?;
    }
    Ok(())
}

async fn watch(stage: &Stage, connection: &Connection) {
    let path = config_maps() + "?watch=true&timeoutSeconds=600&allowWatchBookmarks=true";
    let call = Call::get("watch", path);
    let pending = stage.tally.begin(call.label);
    let head = match timeout_at(stage.until, connection.head(&call)).await {
        Ok(Ok(head)) => head,
        Ok(Err(error)) => return pending.fail(&error.to_string()),
        // There was no complete response.
        Err(_) => return drop(pending),
    };
    pending.end(&Answer::unread(&head));
    let mut body = head.into_body();
    let reading = async {
        while let Some(Ok(chunk)) = body.data().await {
            if body.flow_control().release_capacity(chunk.len()).is_err() {
                return;
            }
        }
    };
    if timeout_at(stage.until, reading).await.is_ok() {
        stage.tally.add("watch", "ended by the server");
    }
}
