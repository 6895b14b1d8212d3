//! `Network`: connections between clients and the server, which are slow, break, or hang.
//!
//! Bytes are not touched: what comes through comes in order and whole, or not at all.

use crate::dice::Dice;
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

/// Bytes that either end of a connection may be ahead of the other.
const BUFFER_BYTES: usize = 64 << 10;

/// What a client's connections speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// One request at a time on each.
    Http1,
    /// All requests on one.
    Http2,
}

/// Makes connections, and makes trouble on them. Clones are the same network.
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

/// Cancelled when the stall ends; none if there is no stall. (The waiters of a token go on in
/// order; those of tokio's `watch` by chance.)
type Stall = Arc<Mutex<Option<CancellationToken>>>;

struct State {
    dice: Dice,
    calm: bool,
    /// Ends every connection that is open, but those of the operator.
    cut: CancellationToken,
    links: JoinSet<()>,
}

impl Network {
    pub(crate) fn new(port: &Port, trace: &Trace, dice: Dice, latency_max: Duration) -> Self {
        let state = State {
            dice,
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

    /// A client with connections of its own.
    pub(crate) fn client(&self, speaks: Speaks) -> Client {
        let network = self.clone();
        let connect = move |_: Endpoint| {
            let network = network.clone();
            async move { network.connect().await }
        };
        client(connect, speaks)
    }

    /// A client whose connections nothing happens to, as long as the server is there.
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
        client(connect, Speaks::Http2)
    }

    /// Breaks every connection.
    pub(crate) fn cut(&self) {
        let mut state = self.inner.state.lock();
        std::mem::take(&mut state.cut).cancel();
    }

    /// Lets nothing through, or again everything.
    pub(crate) fn stall(&self, stalled: bool) {
        let token = stalled.then(CancellationToken::new);
        let ended = std::mem::replace(&mut *self.inner.stall.lock(), token);
        if let Some(ended) = ended {
            ended.cancel();
        }
    }

    /// No trouble from now on.
    pub(crate) fn calm_down(&self) {
        self.inner.state.lock().calm = true;
        self.stall(false);
    }

    /// Ends all connections, and waits until they have.
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
            state.dice.time(Duration::ZERO, latency_max)
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

fn client(connect: impl kubist_transport::Connect, speaks: Speaks) -> Client {
    let server = "http://server.sim".parse().expect("it is a URI");
    let transport = Config {
        http_version: match speaks {
            Speaks::Http1 => HttpVersion::Http1Only,
            Speaks::Http2 => HttpVersion::Http2Only,
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
    /// Carries bytes both ways until either end is closed for both.
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
