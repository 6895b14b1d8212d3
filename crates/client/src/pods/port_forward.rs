//! Port forwarding: connections to ports of a Pod.

use super::PodStreamError;
use super::session::{self, Incoming, PIPE_BYTES};
use super::socket::{self, Protocol, Socket};
use crate::Api;
use kubist_apimachinery::{Object, Str};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The channel of the data; the next one has errors.
const DATA: u8 = 0;
/// Each channel begins with its port, in two bytes.
const PORT_BYTES: usize = 2;
/// The most connections that a [`PortForwarder`] serves at a time; further ones wait.
const CONNECTIONS_MAX: usize = 128;

/// A connection to a port of a Pod: a reader and writer, each direction with a buffer of 64 KiB. A
/// task moves the bytes.
///
/// The protocol cannot end one direction alone: after a shutdown of the writer the Pod's side still
/// waits for more. Dropping the stream ends the connection.
pub struct PortStream {
    pipe: DuplexStream,
    task: JoinSet<Result<(), PodStreamError>>,
}

impl PortStream {
    fn start(socket: Socket, port: u16) -> Self {
        let (pipe, remote) = duplex(PIPE_BYTES);
        let mut task = JoinSet::new();
        task.spawn(drive(socket, port, remote));
        Self { pipe, task }
    }

    /// Waits until the Pod's side has ended the connection, and returns why if that was a failure.
    /// What was not read by then is thrown away.
    ///
    /// # Errors
    /// The port could not be reached ([`PodStreamError::Port`]), or the connection broke.
    pub async fn ended(self) -> Result<(), PodStreamError> {
        let Self { pipe, mut task } = self;
        drop(pipe);
        match task.join_next().await {
            Some(Ok(result)) => result,
            _ => Err(PodStreamError::Ended),
        }
    }
}

async fn drive(socket: Socket, port: u16, pipe: DuplexStream) -> Result<(), PodStreamError> {
    let (frames, outgoing) = session::frames();
    let (mut from_user, to_user) = tokio::io::split(pipe);
    let data = Incoming::Pipe {
        pipe: Box::new(to_user),
        skip: PORT_BYTES,
    };
    let mut channels = [data, Incoming::Message(Vec::new())];
    let send = async {
        frames.pump(DATA, &mut from_user).await;
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        ended = session::run(socket, outgoing, &mut channels) => ended,
        () = send => Ok(()),
    };
    let [_, Incoming::Message(message)] = &channels else {
        return ended;
    };
    let reason = String::from_utf8_lossy(message.get(PORT_BYTES..).unwrap_or_default());
    match reason.trim() {
        "" => ended,
        reason => Err(PodStreamError::Port {
            port,
            reason: reason.to_owned(),
        }),
    }
}

impl<K: Object> Api<K> {
    /// Connects to a port of a Pod: one that a container listens on, whether the spec names it or
    /// not. For other kinds the server answers 404.
    ///
    /// Whether something listens there is known only later: a reader then sees the end at once, and
    /// [`PortStream::ended`] has the reason.
    ///
    /// Cancel safety: dropping the future closes the connection.
    ///
    /// # Errors
    /// [`PodStreamError::Api`] if the server refuses, [`PodStreamError::Protocol`] if it does not
    /// speak WebSocket.
    pub async fn port_forward(&self, name: &str, port: u16) -> Result<PortStream, PodStreamError> {
        let mut target = self.endpoint.target(Some(name));
        target.subresource = "portforward";
        let query = vec![("ports", port.to_string())];
        let (socket, _) = socket::open(self.client(), target, &query, &[Protocol::V4]).await?;
        Ok(PortStream::start(socket, port))
    }

    /// Returns what forwards connections of a local listener to a port of a Pod, as `kubectl
    /// port-forward` does.
    pub fn port_forwarder(&self, name: impl Into<Str>, port: u16) -> PortForwarder<K> {
        PortForwarder {
            api: self.clone(),
            name: name.into(),
            port,
        }
    }
}

/// Forwards connections of a local listener to a port of a Pod; see [`Api::port_forwarder`].
///
/// ```
/// # use kubist_api::core::v1::Pod;
/// # use kubist_client::Api;
/// # use tokio_util::sync::CancellationToken;
/// # async fn example(pods: Api<Pod>, stop: CancellationToken) -> std::io::Result<()> {
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// pods.port_forwarder("web-0", 80).serve(listener, stop).await
/// # }
/// ```
pub struct PortForwarder<K> {
    api: Api<K>,
    name: Str,
    port: u16,
}

impl<K: Object> PortForwarder<K> {
    /// Serves connections until the token is cancelled, at most 128 at a time. A connection that
    /// fails is logged and does not affect the others.
    ///
    /// Cancel safety: dropping the future closes all connections.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn serve(self, listener: TcpListener, token: CancellationToken) -> io::Result<()> {
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let this = Arc::new(self);
        let mut running = JoinSet::new();
        loop {
            let next = async {
                let place = Arc::clone(&room).acquire_owned().await;
                (listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                () = token.cancelled() => return Ok(()),
                _ = running.join_next(), if !running.is_empty() => continue,
                next = next => next,
            };
            let (stream, from) = accepted?;
            let this = Arc::clone(&this);
            running.spawn(async move {
                if let Err(error) = this.forward(stream).await {
                    let (pod, port) = (&this.name, this.port);
                    tracing::warn!(%pod, port, %from, %error, "a forwarded connection failed");
                }
                drop(place);
            });
        }
    }

    async fn forward(&self, mut local: TcpStream) -> Result<(), PodStreamError> {
        let mut remote = self.api.port_forward(&self.name, self.port).await?;
        let (mut from_local, mut to_local) = local.split();
        let (mut from_pod, mut to_pod) = tokio::io::split(&mut remote.pipe);
        let upload = async {
            // A local side that has sent everything may still wait for the answer.
            tokio::io::copy(&mut from_local, &mut to_pod).await?;
            std::future::pending::<io::Result<u64>>().await
        };
        tokio::select! {
            copied = tokio::io::copy(&mut from_pod, &mut to_local) => copied?,
            failed = upload => failed?,
        };
        remote.ended().await
    }
}

impl fmt::Debug for PortStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortStream").finish_non_exhaustive()
    }
}

impl<K> fmt::Debug for PortForwarder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortForwarder")
            .field("api", &self.api)
            .field("name", &self.name)
            .field("port", &self.port)
            .finish()
    }
}

impl AsyncRead for PortStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_read(cx, buf)
    }
}

impl AsyncWrite for PortStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.pipe).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }
}
