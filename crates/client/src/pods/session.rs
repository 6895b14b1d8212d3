//! `Session`: the task that moves bytes between a WebSocket and the streams of its channels.
//!
//! Each channel has a pipe with a bounded buffer. A channel whose reader does not read fills its
//! pipe and then stops the whole connection, since there is one socket for all: the sender is
//! slowed down, and nothing is lost or piled up. A reader that was dropped does not: what arrives
//! for it is thrown away.

use super::PodStreamError;
use super::socket::Socket;
use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};
use tokio_tungstenite::tungstenite::{Error as WsError, Message};

/// The bytes in the pipe of a channel, for each direction.
pub(super) const PIPE_BYTES: usize = 64 << 10;
/// The most bytes of one frame that is sent.
const FRAME_BYTES: usize = 32 << 10;
/// How often the server is pinged, as by kubectl.
const PING_PERIOD: Duration = Duration::from_secs(5);
/// How long the server may be silent, as for kubectl: twelve pings and a second.
const SILENCE_MAX: Duration = Duration::from_secs(61);
/// The frames that wait to be sent.
const OUTGOING_MAX: usize = 4;
/// The channel whose frames close another channel, since v5.
pub(super) const CLOSE: u8 = 255;

/// Where the bytes of a channel go.
pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// What arrives on one channel, for the task.
pub(super) enum Incoming {
    /// Its bytes go to a pipe, without the first ones.
    Pipe {
        /// The pipe.
        pipe: Writer,
        /// How many bytes are still to be left out.
        skip: usize,
    },
    /// It is collected whole, up to a limit, and handed over when the connection ends or the
    /// channel is closed.
    Message(Vec<u8>),
    /// Nothing is expected, or the reader was dropped.
    Ignored,
}

/// The longest message of a channel that is collected: a Status.
pub(super) const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Sends frames, from any number of places.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    sender: mpsc::Sender<Bytes>,
}

pub(super) fn frames() -> (Frames, mpsc::Receiver<Bytes>) {
    let (sender, receiver) = mpsc::channel(OUTGOING_MAX);
    (Frames { sender }, receiver)
}

impl Frames {
    /// Sends a frame; false if the connection is over.
    pub(super) async fn send(&self, channel: u8, bytes: &[u8]) -> bool {
        let mut frame = BytesMut::with_capacity(bytes.len() + 1);
        frame.put_u8(channel);
        frame.extend_from_slice(bytes);
        self.sender.send(frame.freeze()).await.is_ok()
    }

    /// Sends all that is read from a pipe until it is closed or the connection is over.
    pub(super) async fn pump(&self, channel: u8, pipe: &mut (impl AsyncRead + Unpin)) {
        let mut buffer = vec![0; FRAME_BYTES];
        while let Ok(count) = pipe.read(&mut buffer).await {
            if count == 0 || !self.send(channel, &buffer[..count]).await {
                return;
            }
        }
    }
}

/// Runs a connection until the server ends it or it fails. `incoming` is called with each frame.
pub(super) async fn run(
    socket: Socket,
    outgoing: mpsc::Receiver<Bytes>,
    channels: &mut [Incoming],
) -> Result<(), PodStreamError> {
    let (sink, stream) = socket.split();
    tokio::select! {
        ended = receive(stream, channels) => ended,
        failed = transmit(sink, outgoing) => Err(failed),
    }
}

async fn receive(
    mut stream: SplitStream<Socket>,
    channels: &mut [Incoming],
) -> Result<(), PodStreamError> {
    loop {
        let deadline = Instant::now() + SILENCE_MAX;
        let Ok(next) = timeout_at(deadline, stream.next()).await else {
            return Err(PodStreamError::Timeout { limit: SILENCE_MAX });
        };
        let bytes = match next {
            None | Some(Ok(Message::Close(_)) | Err(WsError::ConnectionClosed)) => return Ok(()),
            Some(Ok(Message::Binary(bytes))) => bytes,
            Some(Ok(Message::Text(text))) => Bytes::from(text),
            Some(Ok(_)) => continue,
            Some(Err(error)) => return Err(failure(error)),
        };
        let Some((channel, bytes)) = bytes.split_first() else {
            continue;
        };
        if *channel == CLOSE {
            close(channels, bytes);
        } else if let Some(of_channel) = channels.get_mut(usize::from(*channel)) {
            deliver(of_channel, bytes).await?;
        }
    }
}

/// Closes the channels that a frame names: their readers see the end.
fn close(channels: &mut [Incoming], numbers: &[u8]) {
    for number in numbers {
        if let Some(channel) = channels.get_mut(usize::from(*number))
            && matches!(channel, Incoming::Pipe { .. })
        {
            *channel = Incoming::Ignored;
        }
    }
}

async fn deliver(channel: &mut Incoming, bytes: &[u8]) -> Result<(), PodStreamError> {
    match channel {
        Incoming::Pipe { pipe, skip } => {
            let skipped = bytes.len().min(*skip);
            *skip -= skipped;
            if pipe.write_all(&bytes[skipped..]).await.is_err() {
                *channel = Incoming::Ignored;
            }
        }
        Incoming::Message(message) => {
            if message.len() + bytes.len() > MESSAGE_BYTES_MAX {
                let reason = format!("a status of more than {MESSAGE_BYTES_MAX} bytes");
                return Err(PodStreamError::Malformed { reason });
            }
            message.extend_from_slice(bytes);
        }
        Incoming::Ignored => {}
    }
    Ok(())
}

/// Sends frames and pings; returns only if that fails.
async fn transmit(
    mut sink: SplitSink<Socket, Message>,
    mut outgoing: mpsc::Receiver<Bytes>,
) -> PodStreamError {
    let mut pings = interval(PING_PERIOD);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            Some(frame) = outgoing.recv() => Message::Binary(frame),
            _ = pings.tick() => Message::Ping(Bytes::new()),
        };
        if let Err(error) = sink.send(message).await {
            // What the server has sent before it closed the connection is still to be read; the
            // receiver ends then, or after the silence.
            if !matches!(
                error,
                WsError::ConnectionClosed | WsError::AlreadyClosed | WsError::Io(_)
            ) {
                return failure(error);
            }
            std::future::pending::<()>().await;
        }
    }
}

fn failure(error: WsError) -> PodStreamError {
    match error {
        WsError::Io(error) => error.into(),
        other => PodStreamError::Malformed {
            reason: other.to_string(),
        },
    }
}
