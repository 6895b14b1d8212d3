//! What becomes of a connection after its upgrade, and the words in which a process ends.

use super::process::{Output, Process};
use super::target::Streams;
use super::{spdy, websocket};
use futures_util::future::BoxFuture;
use serde_json::json;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// How long a connection may be silent, as at kubelets.
pub(super) const IDLE_MAX: Duration = Duration::from_secs(4 * 3600);

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// A WebSocket with channels.
    Channels {
        /// Whether channels can be closed one by one, as in the fifth version.
        closes: bool,
    },
    /// SPDY within a WebSocket.
    Tunnel,
    Spdy,
}

/// What a connection is for.
pub(super) enum Session {
    /// The ports, if they are known beforehand.
    Forward(Vec<u16>),
    Process {
        streams: Streams,
        process: Process,
        begin: Vec<Output>,
        /// Completes when the container has ended.
        ended: BoxFuture<'static, ()>,
    },
}

impl Session {
    /// Serves a connection until it ends.
    pub(super) async fn serve(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        protocol: Protocol,
    ) -> io::Result<()> {
        match (self, protocol) {
            (Self::Forward(_), Protocol::Spdy) => spdy::forward(stream).await,
            (Self::Forward(_), Protocol::Tunnel) => websocket::tunnel(stream).await,
            (Self::Forward(ports), _) => websocket::forward(stream, &ports).await,
            (
                Self::Process {
                    streams,
                    process,
                    begin,
                    ended,
                },
                Protocol::Channels { closes },
            ) => {
                let channels = websocket::Channels { streams, closes };
                channels.run(stream, process, begin, ended).await
            }
            (
                Self::Process {
                    streams,
                    process,
                    begin,
                    ended,
                },
                _,
            ) => spdy::run(stream, streams, process, begin, ended).await,
        }
    }
}

/// Tells the end of a process, as the fourth version of the protocol does: a `Status`.
pub(super) fn exit_status(code: i32) -> String {
    if code == 0 {
        return json!({"metadata": {}, "status": "Success"}).to_string();
    }
    let message = format!("command terminated with non-zero exit code: exit status {code}");
    json!({
        "metadata": {}, "status": "Failure", "message": message, "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": code.to_string()}]},
    })
    .to_string()
}
