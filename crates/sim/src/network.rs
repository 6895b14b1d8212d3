//! `Network`: connections between clients and the server that may be slow, break, or stall.
//!
//! Bytes are never changed: they arrive in order and complete, or not at all.

use crate::rng::SimRng;
use crate::server::Port;
use crate::trace::Trace;
use kubist_client::Client;
use kubist_transport::{Config, Endpoint, HttpVersion, Transport};
use parking_lot::Mutex;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The buffer size of each direction of a connection.
const BUFFER_BYTES: usize = 64 << 10;

/// The protocol of a client's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// One request at a time per connection.
    Http1,
    /// All requests on one connection.
    Http2,
}

/// Creates connections and injects faults into them. Clones refer to the same network.
#[derive(Clone)]
pub(crate) struct Network {
    inner: Arc<Inner>,
}

struct Inner {
    port: Port,
    trace: Trace,
    latency_max: Duration,
    state: Mutex<State>,
    stall: Stall,
}

/// Cancelled when the stall ends; `None` without a stall. (The waiters of a token continue in
/// order; those of tokio's `watch` in random order.)
type Stall = Arc<Mutex<Option<CancellationToken>>>;

struct State {
    rng: SimRng,
    calm: bool,
    /// Closes every open connection except the operator's.
    cut: CancellationToken,
    links: JoinSet<()>,
}

impl Network {
    pub(crate) fn new(port: &Port, trace: &Trace, rng: SimRng, latency_max: Duration) -> Self {
        let state = State {
            rng,
            calm: false,
            cut: CancellationToken::new(),
            links: JoinSet::new(),
        };
        let inner = Inner {
            port: port.clone(),
            trace: trace.clone(),
            latency_max,
            state: Mutex::new(state),
            stall: Stall::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Creates a client with connections of its own.
    pub(crate) fn client(&self, protocol: Protocol) -> Client {
        let network = self.clone();
        let connect = move |_: Endpoint| {
            let network = network.clone();
            async move { network.connect().await }
        };
        client(connect, protocol)
    }

    /// Creates a client whose connections have no faults, as long as the server is available.
    pub(crate) fn operator(&self) -> Client {
        let port = self.inner.port.clone();
        let connect = move |_: Endpoint| {
            let port = port.clone();
            async move {
                let (near, far) = tokio::io::duplex(BUFFER_BYTES);
                port.connect(far).await?;
                Ok(near)
            }
        };
        client(connect, Protocol::Http2)
    }

    /// Breaks every connection.
    pub(crate) fn cut(&self) {
        let mut state = self.inner.state.lock();
        std::mem::take(&mut state.cut).cancel();
    }

    /// Stalls all connections, or ends the stall.
    pub(crate) fn stall(&self, stalled: bool) {
        let token = stalled.then(CancellationToken::new);
        let ended = std::mem::replace(&mut *self.inner.stall.lock(), token);
        if let Some(ended) = ended {
            ended.cancel();
        }
    }

    /// Stops injecting faults.
    pub(crate) fn calm_down(&self) {
        self.inner.state.lock().calm = true;
        self.stall(false);
    }

    /// Closes all connections and waits until they have ended.
    pub(crate) async fn shut_down(&self) {
        self.cut();
        let mut links = std::mem::take(&mut self.inner.state.lock().links);
        while links.join_next().await.is_some() {}
    }

    async fn connect(&self) -> io::Result<DuplexStream> {
        let (near, near_end) = tokio::io::duplex(BUFFER_BYTES);
        let (far, far_end) = tokio::io::duplex(BUFFER_BYTES);
        self.inner.port.connect(far).await?;
        let mut state = self.inner.state.lock();
        let latency = if state.calm {
            Duration::ZERO
        } else {
            let latency_max = self.inner.latency_max;
            state.rng.time(Duration::ZERO, latency_max)
        };
        let cut = state.cut.clone();
        let link = Link {
            stall: Arc::clone(&self.inner.stall),
            latency,
        };
        while state.links.try_join_next().is_some() {}
        state.links.spawn(async move {
            tokio::select! {
                biased;
                () = cut.cancelled() => {}
                () = link.run(near_end, far_end) => {}
            }
        });
        drop(state);
        self.inner
            .trace
            .note("network", format_args!("connected, latency {latency:?}"));
        Ok(near)
    }
}

fn client(connect: impl kubist_transport::Connect, protocol: Protocol) -> Client {
    let server = "http://server.sim".parse().expect("it is a URI");
    let transport = Config {
        http_version: match protocol {
            Protocol::Http1 => HttpVersion::Http1Only,
            Protocol::Http2 => HttpVersion::Http2Only,
        },
        ..Config::new(server)
    };
    let transport = Transport::with_connector(transport, connect);
    let transport = transport.expect("there is no TLS to set up");
    Client::new(transport, kubist_client::Config::default())
}

#[derive(Clone)]
struct Link {
    stall: Stall,
    latency: Duration,
}

impl Link {
    /// Carries bytes both ways until either end is closed.
    async fn run(self, near: DuplexStream, far: DuplexStream) {
        let (near_read, near_write) = tokio::io::split(near);
        let (far_read, far_write) = tokio::io::split(far);
        let up = self.clone().carry(near_read, far_write);
        let down = self.carry(far_read, near_write);
        tokio::select! {
            biased;
            () = up => {}
            () = down => {}
        }
    }

    async fn stall_ended(&self) {
        loop {
            let Some(stall) = self.stall.lock().clone() else {
                return;
            };
            stall.cancelled().await;
        }
    }

    async fn carry(self, mut from: impl AsyncRead + Unpin, mut into: impl AsyncWrite + Unpin) {
        let mut bytes = vec![0; BUFFER_BYTES];
        while let Ok(count) = from.read(&mut bytes).await {
            self.stall_ended().await;
            if !self.latency.is_zero() {
                tokio::time::sleep(self.latency).await;
            }
            if count == 0 || into.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}
