//! Connections that cost their clients nothing: without a handshake, without a request, with half a
//! request, and with headers and bodies that are sent byte by byte.

use crate::Outcome;
use crate::call::Call;
use crate::connection::{Answer, Connection, Windows};
use crate::fill::config_maps;
use crate::stage::Stage;
use bytes::Bytes;
use h2::RecvStream;
use http::Response;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Connections of each kind, and in the short form.
const EACH: usize = 100;
const EACH_SHORT: usize = 30;
/// Time between bytes, and in the short form.
const PACE: Duration = Duration::from_secs(1);
const PACE_SHORT: Duration = Duration::from_millis(100);
/// Bytes of a body that is never completed.
const BODY_BYTES: usize = 100_000;

/// How a connection is slow.
#[derive(Clone, Copy, Debug)]
enum Manner {
    NoHandshake,
    OnlyHandshake,
    HalfARequest,
    SlowHead,
    SlowBody,
}

impl Manner {
    const ALL: [Self; 5] = [
        Self::NoHandshake,
        Self::OnlyHandshake,
        Self::HalfARequest,
        Self::SlowHead,
        Self::SlowBody,
    ];

    const fn label(self) -> &'static str {
        match self {
            Self::NoHandshake => "no handshake",
            Self::OnlyHandshake => "only a handshake",
            Self::HalfARequest => "half a request",
            Self::SlowHead => "slow head",
            Self::SlowBody => "slow body",
        }
    }

    /// Returns what is sent at once, and what is sent repeatedly after it.
    fn bytes(self, token: &str) -> (String, Option<u8>) {
        match self {
            Self::NoHandshake | Self::OnlyHandshake => (String::new(), None),
            Self::HalfARequest => ("GET /api/v1/name".to_owned(), None),
            Self::SlowHead => ("GET /livez HTTP/1.1\r\nx-slow: ".to_owned(), Some(b'x')),
            Self::SlowBody => {
                let path = config_maps();
                let head = format!(
                    "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
                     content-type: application/json\r\ncontent-length: {BODY_BYTES}\r\n\r\n{{"
                );
                (head, Some(b' '))
            }
        }
    }
}

/// Keeps connections open until the time is over or the server closes them.
pub(super) async fn run(stage: &Arc<Stage>) -> Outcome {
    let mut running = JoinSet::new();
    let each = stage.many(EACH, EACH_SHORT);
    for manner in Manner::ALL {
        for _ in 0..each {
            let stage = Arc::clone(stage);
            running.spawn(async move {
                let what = match open(&stage, manner).await {
                    Ok(what) => what,
                    Err(error) => error.to_string(),
                };
                stage.tally.add(manner.label(), &what);
            });
        }
    }
    let connection = Arc::new(stage.hostile(Windows::OPEN).await?);
    for _ in 0..each {
        let (stage, connection) = (Arc::clone(stage), Arc::clone(&connection));
        running.spawn(async move {
            let call = Call::post("slow stream", config_maps(), " ");
            let pending = stage.tally.begin(call.label);
            let answered = drip(&stage, &connection, &call);
            match tokio::time::timeout_at(stage.until, answered).await {
                Ok(Ok(head)) => pending.end(&Answer::unread(&head)),
                Ok(Err(error)) => pending.fail(&error.to_string()),
                Err(_) => pending.fail("still open at the end"),
            }
        });
    }
    while let Some(ended) = running.join_next().await {
        ended?;
    }
    Ok(())
}

/// Sends a request over HTTP/2 whose body comes byte by byte, until it is answered.
async fn drip(
    stage: &Stage,
    connection: &Connection,
    call: &Call,
) -> Outcome<Response<RecvStream>> {
    let (mut response, mut body) = connection.begin(call).await?;
    loop {
        match tokio::time::timeout(pace(stage), &mut response).await {
            Ok(answered) => return Ok(answered?),
            // After the end of the stream, the response has the reason.
            Err(_) => drop(body.send_data(Bytes::from_static(b" "), false)),
        }
    }
}

fn pace(stage: &Stage) -> Duration {
    if stage.short { PACE_SHORT } else { PACE }
}

async fn open(stage: &Stage, manner: Manner) -> Outcome<String> {
    let (head, drip) = manner.bytes(stage.token());
    if matches!(manner, Manner::NoHandshake) {
        let stream = TcpStream::connect(stage.access.address).await?;
        return Ok(hold(stage, stream, &head, drip).await?);
    }
    let stream = stage.access.dial(stage.account(), "http/1.1").await?;
    Ok(hold(stage, stream, &head, drip).await?)
}

/// Sends the bytes, and returns how the connection ended.
async fn hold<S>(
    stage: &Stage,
    mut stream: S,
    head: &str,
    drip: Option<u8>,
) -> std::io::Result<String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(head.as_bytes()).await?;
    stream.flush().await?;
    let mut buffer = [0; 256];
    while !stage.is_over() {
        match tokio::time::timeout(pace(stage), stream.read(&mut buffer)).await {
            Err(_) => {}
            Ok(Ok(0)) => return Ok("hung up on".to_owned()),
            Ok(Ok(size)) => {
                let text = String::from_utf8_lossy(&buffer[..size]);
                let line = text.lines().next().unwrap_or_default();
                return Ok(format!("answered by {line}"));
            }
            Ok(Err(error)) => return Ok(format!("hung up on, {error}")),
        }
        if let Some(byte) = drip {
            stream.write_all(&[byte]).await?;
            stream.flush().await?;
        }
    }
    Ok("still open at the end".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_sent_is_a_whole_request() {
        for manner in Manner::ALL {
            let (head, drip) = manner.bytes("t");
            let whole = head.contains("\r\n\r\n");
            let slow_body = matches!(manner, Manner::SlowBody);
            assert_eq!(whole, slow_body, "{manner:?}");
            assert!(!slow_body || drip.is_some() && head.ends_with("\r\n\r\n{"));
        }
    }
}
