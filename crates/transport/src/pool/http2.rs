//! HTTP/2 connections: many concurrent requests, counted here.
//!
//! One task drives a connection and everything that hyper would otherwise spawn for it. It also
//! publishes how many streams the server allows. That is 0 until the server's settings arrive, and
//! a connection is used only after that, so a burst cannot exceed a small limit.

use super::dial::Stream;
use super::{Occupied, Pool};
use crate::body::Body;
use crate::config::{Http2Config, Timeouts};
use crate::error::{Phase, TransportError};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use hyper::client::conn::http2::{Builder, Connection, SendRequest};
use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The largest HTTP/2 window, in bytes.
const WINDOW_MAX: u32 = (1 << 31) - 1;

pub(crate) struct Http2Connection {
    sender: SendRequest<Body>,
    /// The number of streams that the server allows; 0 until its settings arrive.
    allowed: watch::Receiver<usize>,
    streams_max: usize,
    streams: Mutex<Streams>,
    retired: AtomicBool,
}

struct Streams {
    open: usize,
    idle_since: Instant,
}

impl Http2Connection {
    /// Reserves a stream, if one is free.
    pub(super) fn lease(connection: &Arc<Self>, pool: &Arc<Pool>) -> Option<Http2Lease> {
        let mut streams = connection.streams.lock();
        if streams.open >= connection.limit() {
            return None;
        }
        streams.open += 1;
        drop(streams);
        let connection = Arc::clone(connection);
        let sender = connection.sender.clone();
        Some(Http2Lease {
            sender,
            connection,
            _pool: Arc::clone(pool),
        })
    }

    /// A tenth of the server's limit stays unused: the server may count a reset stream a little
    /// longer than the client does.
    fn limit(&self) -> usize {
        let allowed = *self.allowed.borrow();
        let most = (allowed - allowed / 10).max(usize::from(allowed > 0));
        self.streams_max.max(1).min(most)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.retired.load(Ordering::Relaxed) || self.sender.is_closed()
    }

    pub(super) fn is_idle_since(&self, now: Instant, timeout: Duration) -> bool {
        let streams = self.streams.lock();
        streams.open == 0 && now.duration_since(streams.idle_since) >= timeout
    }

    pub(super) async fn wait_for_settings(&self, limit: Duration) -> Result<(), TransportError> {
        let mut allowed = self.allowed.clone();
        let settled = tokio::time::timeout(limit, allowed.wait_for(|allowed| *allowed > 0)).await;
        match settled {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(TransportError::Closed(Arc::new(error))),
            Err(_) => Err(TransportError::Timeout {
                phase: Phase::Handshake,
                limit,
            }),
        }
    }
}

/// A stream reserved for one request until its response is read or dropped.
pub(crate) struct Http2Lease {
    pub(crate) sender: SendRequest<Body>,
    connection: Arc<Http2Connection>,
    /// Keeps the connection open as long as the pool.
    _pool: Arc<Pool>,
}

impl Http2Lease {
    /// Accepts no further requests on this connection.
    pub(crate) fn retire(&self) {
        self.connection.retired.store(true, Ordering::Relaxed);
    }
}

impl Drop for Http2Lease {
    fn drop(&mut self) {
        let mut streams = self.connection.streams.lock();
        streams.open -= 1;
        if streams.open == 0 {
            streams.idle_since = Instant::now();
        }
    }
}

/// Starts HTTP/2 on a stream. Returns the connection, and the future that drives it.
pub(super) async fn establish(
    io: Stream,
    config: &Http2Config,
    timeouts: Timeouts,
    occupied: Occupied,
) -> Result<(Http2Connection, impl Future<Output = ()> + Send + 'static), TransportError> {
    let spawned = Spawned::default();
    let stream_window = config.stream_window.min(WINDOW_MAX);
    let connection_window = stream_window
        .saturating_mul(config.streams_max)
        .min(WINDOW_MAX);
    let mut builder = Builder::new(spawned.clone());
    builder
        .timer(TokioTimer::new())
        .initial_max_send_streams(0)
        .initial_stream_window_size(stream_window)
        .initial_connection_window_size(connection_window)
        .keep_alive_interval(config.ping_interval)
        .keep_alive_timeout(config.ping_timeout)
        .keep_alive_while_idle(true);
    let limit = timeouts.handshake;
    let (sender, connection) = tokio::time::timeout(limit, builder.handshake(TokioIo::new(io)))
        .await
        .map_err(|_| TransportError::Timeout {
            phase: Phase::Handshake,
            limit,
        })?
        .map_err(|error| TransportError::from_hyper(error, config.ping_timeout))?;

    let (publish, allowed) = watch::channel(0);
    let driver = Driver {
        connection: Some(connection),
        spawned,
        running: FuturesUnordered::new(),
        publish: Some(publish),
        _occupied: occupied,
    };
    let connection = Http2Connection {
        sender,
        allowed,
        streams_max: usize::try_from(config.streams_max).unwrap_or(usize::MAX),
        streams: Mutex::new(Streams {
            open: 0,
            idle_since: Instant::now(),
        }),
        retired: AtomicBool::new(false),
    };
    Ok((connection, driver))
}

type Spawnable = Pin<Box<dyn Future<Output = ()> + Send>>;

/// hyper's executor: passes every future to the driver.
///
/// Bounded by the streams of the connection, with a few futures each.
#[derive(Clone, Default)]
struct Spawned(Arc<Mutex<Vec<Spawnable>>>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Spawned {
    fn execute(&self, future: F) {
        self.0.lock().push(Box::pin(future));
    }
}

/// Drives a connection until it is closed and its last stream has ended.
struct Driver {
    connection: Option<Connection<TokioIo<Stream>, Body, Spawned>>,
    spawned: Spawned,
    running: FuturesUnordered<Spawnable>,
    publish: Option<watch::Sender<usize>>,
    _occupied: Occupied,
}

impl Driver {
    /// Collects the futures that hyper has spawned since; returns whether there were any.
    fn adopt(&mut self) -> bool {
        let spawned = std::mem::take(&mut *self.spawned.0.lock());
        let any = !spawned.is_empty();
        self.running.extend(spawned);
        any
    }

    fn publish(&self, allowed: usize) {
        if let Some(publish) = &self.publish {
            publish.send_if_modified(|published| {
                let changed = *published != allowed;
                *published = allowed;
                changed
            });
        }
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            this.adopt();
            while let Poll::Ready(Some(())) = this.running.poll_next_unpin(cx) {}
            if let Some(connection) = &mut this.connection {
                let ended = Pin::new(&mut *connection).poll(cx).is_ready();
                let allowed = connection.current_max_send_streams();
                if ended {
                    // Requests receive the error through their own channels.
                    this.connection = None;
                    this.publish = None;
                } else {
                    this.publish(allowed);
                }
            }
            if !this.adopt() {
                break;
            }
        }
        if this.connection.is_none() && this.running.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
