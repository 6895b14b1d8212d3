//! WebSockets: the channels of a process, and tunnels that carry SPDY.

use super::process::{Output, Process};
use super::session::{IDLE_MAX, exit_status};
use super::spdy;
use super::target::Streams;
use futures_util::{SinkExt as _, StreamExt as _};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message};

/// The largest message that is read.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// How long the other side has to say goodbye.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const ERROR: u8 = 3;
/// Closes the channel that its message names.
const CLOSE: u8 = 255;

async fn open<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> WebSocketStream<S> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await
}

fn failed(error: tungstenite::Error) -> io::Error {
    match error {
        tungstenite::Error::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// The channels of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channels {
    pub(super) streams: Streams,
    pub(super) closes: bool,
}

impl Channels {
    /// Serves a process until it ends, the client leaves, or `ended` completes.
    pub(super) async fn run(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        mut process: Process,
        begin: Vec<Output>,
        ended: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let mut socket = open(stream).await;
        let mut ended = std::pin::pin!(ended);
        let mut output = begin;
        loop {
            if self.write(&mut socket, std::mem::take(&mut output)).await? {
                return close(socket).await;
            }
            let message = tokio::select! {
                message = timeout(IDLE_MAX, socket.next()) => message,
                () = &mut ended => {
                    output = vec![Output::Exit(0)];
                    continue;
                }
            };
            let Ok(Some(message)) = message else {
                return Ok(());
            };
            let bytes = match message.map_err(failed)? {
                Message::Binary(bytes) => bytes,
                Message::Close(_) => return Ok(()),
                _ => continue,
            };
            match bytes.split_first() {
                Some((&STDIN, input)) => output = process.input(input),
                Some((&CLOSE, [STDIN, ..])) if self.closes => output = process.end(),
                _ => {}
            }
        }
    }

    /// Writes output; true after the exit code.
    async fn write<S: AsyncRead + AsyncWrite + Unpin>(
        self,
        socket: &mut WebSocketStream<S>,
        output: Vec<Output>,
    ) -> io::Result<bool> {
        for part in output {
            let (channel, bytes) = match part {
                Output::Stderr(bytes) if self.streams.stderr => (STDERR, bytes),
                Output::Stdout(bytes) | Output::Stderr(bytes) => (STDOUT, bytes),
                Output::Exit(code) => (ERROR, exit_status(code).into_bytes()),
            };
            if channel == STDOUT && !self.streams.stdout {
                continue;
            }
            let mut message = vec![channel];
            message.extend(bytes);
            let sent = socket.send(Message::Binary(message.into()));
            sent.await.map_err(failed)?;
            if channel == ERROR {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// kubectl takes an end without a code for a failure.
fn normal() -> CloseFrame {
    CloseFrame {
        code: CloseCode::Normal,
        reason: "".into(),
    }
}

/// Closes a WebSocket, and waits for the other side to do so.
async fn close<S: AsyncRead + AsyncWrite + Unpin>(
    mut socket: WebSocketStream<S>,
) -> io::Result<()> {
    match socket.close(Some(normal())).await {
        Ok(()) | Err(tungstenite::Error::ConnectionClosed) => {}
        Err(error) => return Err(failed(error)),
    }
    let rest = async { while let Some(Ok(_)) = socket.next().await {} };
    drop(timeout(CLOSE_TIMEOUT, rest).await);
    Ok(())
}

/// Serves forwarded ports, each with a channel for data and one for errors: whatever is sent to
/// one comes back.
pub(super) async fn forward(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    ports: &[u16],
) -> io::Result<()> {
    let mut socket = open(stream).await;
    let channels = (0..=u8::MAX).zip(ports.iter().flat_map(|it| [it, it]));
    for (channel, port) in channels {
        let [low, high] = port.to_le_bytes();
        let message = Message::Binary(vec![channel, low, high].into());
        socket.send(message).await.map_err(failed)?;
    }
    while let Ok(Some(message)) = timeout(IDLE_MAX, socket.next()).await {
        match message.map_err(failed)? {
            Message::Binary(bytes) => {
                // Errors have the odd channels.
                let is_data = bytes.first().is_some_and(|it| {
                    let port = usize::from(it / 2);
                    it % 2 == 0 && port < ports.len()
                });
                if is_data {
                    socket.send(Message::Binary(bytes)).await.map_err(failed)?;
                }
            }
            Message::Close(_) => break,
            _ => {}
        }
    }
    Ok(())
}

/// Serves forwarded ports in SPDY, whose bytes are the messages of a WebSocket.
pub(super) async fn tunnel(stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let socket = open(stream).await;
    let (mut sink, mut messages) = socket.split();
    let (near, far) = tokio::io::duplex(64 << 10);
    let (mut from_spdy, mut to_spdy) = tokio::io::split(near);
    let inward = async {
        while let Some(message) = messages.next().await {
            match message.map_err(failed)? {
                Message::Binary(bytes) => to_spdy.write_all(&bytes).await?,
                Message::Close(_) => break,
                _ => {}
            }
        }
        to_spdy.shutdown().await
    };
    let outward = async {
        let mut bytes = vec![0; 32 << 10];
        loop {
            let count = from_spdy.read(&mut bytes).await?;
            if count == 0 {
                break;
            }
            let message = Message::Binary(bytes[..count].to_vec().into());
            sink.send(message).await.map_err(failed)?;
        }
        match sink.send(Message::Close(Some(normal()))).await {
            Ok(()) | Err(tungstenite::Error::ConnectionClosed) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    };
    let served = async {
        let forward = spdy::forward(far);
        let (forwarded, written) = tokio::join!(forward, outward);
        forwarded.and(written)
    };
    // The end of what comes in is the end of SPDY's streams, and that of its answers is the end.
    let mut inward = std::pin::pin!(inward);
    let mut served = std::pin::pin!(served);
    tokio::select! {
        served = &mut served => served,
        read = &mut inward => {
            read?;
            timeout(CLOSE_TIMEOUT, served).await.unwrap_or(Ok(()))
        }
    }
}
