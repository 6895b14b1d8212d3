//! Responses that are never read: the flow control windows of HTTP/2 stay closed.
//!
//! For half of the time no stream has a window; for the other half all streams together have 65,535
//! bytes, which one stream takes while the others wait.

use crate::Outcome;
use crate::call::Call;
use crate::connection::{Answer, Connection, Windows};
use crate::stage::Stage;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

/// Concurrent requests on each connection: the server's limit for a client.
const STREAMS: usize = 250;
/// The initial window of a connection; HTTP/2 allows no smaller one.
const FIRST_WINDOW: u32 = 65_535;

/// Sends the call on all streams of this many connections, twice.
pub(super) async fn run(stage: &Arc<Stage>, connections: usize, call: Call) -> Outcome {
    let now = Instant::now();
    let half = now + stage.until.saturating_duration_since(now) / 2;
    for (stream, until) in [(0, half), (FIRST_WINDOW, stage.until)] {
        let windows = Windows {
            stream,
            connection: FIRST_WINDOW,
        };
        hold(stage, connections, &call, windows, until).await?;
    }
    Ok(())
}

async fn hold(
    stage: &Arc<Stage>,
    connections: usize,
    call: &Call,
    windows: Windows,
    until: Instant,
) -> Outcome {
    let mut running = JoinSet::new();
    for _ in 0..connections {
        let connection = Arc::new(stage.hostile(windows).await?);
        for _ in 0..STREAMS {
            let (stage, connection) = (Arc::clone(stage), Arc::clone(&connection));
            let call = call.clone();
            running.spawn(async move { hold_one(&stage, &connection, &call, until).await });
        }
    }
    while let Some(ended) = running.join_next().await {
        ended?;
    }
    Ok(())
}

/// Sends one request, and leaves its response unread until then.
async fn hold_one(stage: &Stage, connection: &Connection, call: &Call, until: Instant) {
    let pending = stage.tally.begin(call.label);
    match timeout_at(until, connection.head(call)).await {
        Ok(Ok(head)) => {
            pending.end(&Answer::unread(&head));
            sleep_until(until).await;
            drop(head);
        }
        Ok(Err(error)) => pending.fail(&error.to_string()),
        // There was no complete response.
        Err(_) => drop(pending),
    }
}
