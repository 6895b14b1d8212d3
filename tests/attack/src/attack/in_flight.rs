//! More requests than may be in flight: lists that are started and not read, and retried when they
//! are rejected.
//!
//! The windows are large enough for a rejection and far too small for a list.

use crate::Outcome;
use crate::call::Call;
use crate::connection::{Answer, Connection, Windows};
use crate::fill::config_maps;
use crate::stage::Stage;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout_at};

/// Connections, and concurrent requests on each: 1,000 in all.
const CONNECTIONS: usize = 4;
const STREAMS: usize = 250;
/// The pause after a rejection; shorter than the server asks for.
const REFUSED_PAUSE: Duration = Duration::from_millis(200);
/// A rejection fits, a list does not.
const WINDOWS: Windows = Windows {
    stream: 4 << 10,
    connection: 2 << 20,
};

/// Sends requests until the time is over.
pub(super) async fn run(stage: &Arc<Stage>) -> Outcome {
    let mut running = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let connection = Arc::new(stage.hostile(WINDOWS).await?);
        for _ in 0..STREAMS {
            let (stage, connection) = (Arc::clone(stage), Arc::clone(&connection));
            running.spawn(async move { insist(&stage, &connection).await });
        }
    }
    while let Some(ended) = running.join_next().await {
        ended?;
    }
    Ok(())
}

async fn insist(stage: &Stage, connection: &Connection) {
    let call = Call::get("list", config_maps());
    while !stage.is_over() {
        let pending = stage.tally.begin(call.label);
        match timeout_at(stage.until, connection.head(&call)).await {
            Ok(Ok(head)) if head.status() == 429 => {
                pending.end(&Answer::unread(&head));
                let mut body = head.into_body();
                // The rejection is small, so its stream is usable again.
                while let Some(Ok(chunk)) = body.data().await {
                    body.flow_control().release_capacity(chunk.len()).ok();
                }
                sleep(REFUSED_PAUSE).await;
            }
            Ok(Ok(head)) => {
                pending.end(&Answer::unread(&head));
                sleep_until(stage.until).await;
                drop(head);
            }
            Ok(Err(error)) => {
                pending.fail(&error.to_string());
                return;
            }
            // There was no complete response.
            Err(_) => drop(pending),
        }
    }
}
