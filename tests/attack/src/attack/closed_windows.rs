//! Answers that are asked for and never read: the flow control windows of HTTP/2 stay closed.
//!
//! For half of the time nothing may flow on any stream, for the other half 65,535 bytes on all of
//! them together, which is what one stream takes and the others wait for.

use crate::Outcome;
use crate::call::Call;
use crate::connection::{Answer, Connection, Windows};
use crate::stage::Stage;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

/// Requests at a time on each connection: as many as the server lets a client have.
const STREAMS: usize = 250;
/// What a connection may send before its client has said anything; less cannot be said.
const FIRST_WINDOW: u32 = 65_535;

/// Sends the call on all streams of so many connections, twice.
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

/// One request, whose answer is kept unread until then.
async fn hold_one(stage: &Stage, connection: &Connection, call: &Call, until: Instant) {
    let pending = stage.tally.begin(call.label);
    match timeout_at(until, connection.head(call)).await {
        Ok(Ok(head)) => {
            pending.end(&Answer::unread(&head));
            sleep_until(until).await;
            drop(head);
        }
        Ok(Err(error)) => pending.fail(&error.to_string()),
        // There was no answer to the end.
        Err(_) => drop(pending),
    }
}
