//! Writes whose bodies are never sent: headers, and for every second one a byte now and then.
//!
//! There are more than may be in flight, and none of them is work.

use crate::Outcome;
use crate::call::Call;
use crate::connection::{Answer, Connection, Windows};
use crate::fill::config_maps;
use crate::stage::Stage;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout_at};

/// Connections, and concurrent requests on each: 1,000 in all.
const CONNECTIONS: usize = 4;
const STREAMS: usize = 250;
/// The pause after a rejection; shorter than the server asks for.
const REFUSED_PAUSE: Duration = Duration::from_millis(200);
/// The time between bytes.
const BYTE_PAUSE: Duration = Duration::from_millis(500);

/// Starts writes until the time is over.
pub(super) async fn run(stage: &Arc<Stage>) -> Outcome {
    let mut running = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let connection = Arc::new(stage.hostile(Windows::OPEN).await?);
        for number in 0..STREAMS {
            let (stage, connection) = (Arc::clone(stage), Arc::clone(&connection));
            running.spawn(async move { insist(&stage, &connection, number % 2 == 0).await });
        }
    }
    while let Some(ended) = running.join_next().await {
        ended?;
    }
    Ok(())
}

async fn insist(stage: &Stage, connection: &Connection, silent: bool) {
    let label = if silent { "no body" } else { "slow body" };
    // The body is not sent; the request has no length.
    let call = Call::post(label, config_maps(), "{}");
    while !stage.is_over() {
        let pending = stage.tally.begin(label);
        match timeout_at(stage.until, attempt(connection, &call, silent)).await {
            Ok(Ok(answer)) => {
                pending.end(&answer);
                sleep(REFUSED_PAUSE).await;
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

/// Keeps one write open until it is answered.
async fn attempt(connection: &Connection, call: &Call, silent: bool) -> Outcome<Answer> {
    let (response, mut upload) = connection.begin(call).await?;
    let dribble = async {
        loop {
            sleep(BYTE_PAUSE).await;
            let sent = silent || upload.send_data(Bytes::from_static(b" "), false).is_ok();
            if !sent {
                // The response has the reason.
                std::future::pending::<()>().await;
            }
        }
    };
    tokio::select! {
        head = response => Ok(Answer::unread(&head?)),
        () = dribble => Err("it sends for ever".into()),
    }
}
