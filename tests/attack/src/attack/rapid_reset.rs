//! Streams that are opened and reset in one write, so that none counts against the stream limit,
//! and each may cost the server a request.

use super::frames::{GOAWAY, HEAD_BYTES, get_block, opening, parse_head, put_reset_request};
use crate::Outcome;
use crate::fill::config_maps;
use crate::stage::Stage;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;

/// Clients of each kind.
const CLIENTS: usize = 2;
/// Streams in one write: without restraint, and below the number that a server may reject, with a
/// pause after each write.
const BATCH: u32 = 100;
const SMALL_BATCH: u32 = 8;
const PAUSE: Duration = Duration::from_millis(1);
/// Streams on one connection.
const STREAMS_MAX: u32 = 100_000;
/// The time limit for the server to close the connection.
const FAREWELL: Duration = Duration::from_millis(50);
/// Bytes of a frame that are inspected.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// Floods until the time is over; a client whose connection is closed reconnects.
pub(super) async fn run(stage: &Arc<Stage>) -> Outcome {
    let mut running = JoinSet::new();
    for client in 0..2 * CLIENTS {
        let patient = client % 2 == 1;
        let stage = Arc::clone(stage);
        running.spawn(async move {
            while !stage.is_over() {
                if let Err(error) = flood(&stage, patient).await {
                    stage.tally.add("connect", &error.to_string());
                }
                tokio::time::sleep(FAREWELL).await;
            }
        });
    }
    while let Some(ended) = running.join_next().await {
        ended?;
    }
    Ok(())
}

/// Floods one connection.
async fn flood(stage: &Stage, patient: bool) -> Outcome {
    let stream = stage.access.dial(stage.account(), "h2").await?;
    let path = config_maps() + "/m00000";
    let block = get_block(&stage.access.address.to_string(), &path, stage.token());
    let (from, mut to) = tokio::io::split(stream);
    let mut reading = JoinSet::new();
    reading.spawn(until_goaway(from));
    to.write_all(&opening()).await?;
    let mut number: u32 = 0;
    let size = if patient { SMALL_BATCH } else { BATCH };
    let mut batch = Vec::new();
    let mut goaway = None;
    while !stage.is_over() && number < STREAMS_MAX {
        batch.clear();
        for _ in 0..size {
            put_reset_request(&mut batch, 2 * number + 1, &block);
            number += 1;
        }
        let written = async {
            to.write_all(&batch).await?;
            to.flush().await
        };
        let broken = written.await.is_err();
        goaway = reading.try_join_next();
        if broken || goaway.is_some() {
            break;
        }
        if patient {
            tokio::time::sleep(PAUSE).await;
        }
    }
    let label = if patient {
        "reset streams, with pauses"
    } else {
        "reset streams"
    };
    stage.tally.add_many(label, "sent", number.into());
    if goaway.is_none() {
        // A GOAWAY may be on its way.
        let waiting = tokio::time::timeout(FAREWELL, reading.join_next());
        goaway = waiting.await.ok().flatten();
    }
    let what = match goaway {
        Some(goaway) => goaway?,
        None => "taken to the end".to_owned(),
    };
    stage.tally.add(label, &what);
    Ok(())
}

/// Reads frames until the server closes the connection; returns its reason.
async fn until_goaway(mut stream: impl AsyncRead + Unpin) -> String {
    let mut payload = Vec::new();
    loop {
        let mut head = [0; HEAD_BYTES];
        if let Err(error) = stream.read_exact(&mut head).await {
            return format!("closed, {error}");
        }
        let (kind, length) = parse_head(head);
        if length > FRAME_BYTES_MAX {
            return "closed, as it sent no frame".to_owned();
        }
        payload.clear();
        payload.resize(length, 0);
        if let Err(error) = stream.read_exact(&mut payload).await {
            return format!("closed, {error}");
        }
        if kind == GOAWAY {
            // The last stream id, and then the error code.
            let code = payload.get(7).copied().unwrap_or_default();
            return format!("sent away with error {code}");
        }
    }
}
