//! The connection pool of a transport.
//!
//! A [`Lease`] is the right to send one request. HTTP/2 connections are shared up to their stream
//! limit and filled in order of age, so that younger ones become idle and close. HTTP/1.1
//! connections serve one request at a time and return to the pool when the response has been read
//! to its end. Connections are opened one at a time until the server is known to speak HTTP/1.1, so
//! that a burst of requests opens few connections; requests that wait for a failed connection get
//! the same error. The pool does not retry.

mod dial;
mod http1;
mod http2;

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(crate) use self::dial::{Dialer, Protocol};
pub(crate) use self::http1::Http1Lease;
use self::http1::IdleConnection;
use self::http2::{Http2Connection, Http2Lease};
use crate::config::{Http2Config, PoolConfig, Timeouts};
use crate::error::{Phase, TransportError};
use crate::stats::{Counters, OpenConnection};

/// The right to send one request on a connection.
pub(crate) enum Lease {
    Http1(Http1Lease),
    Http2(Http2Lease),
}

pub(crate) struct Pool {
    dialer: Dialer,
    timeouts: Timeouts,
    http2: Http2Config,
    limits: PoolConfig,
    counters: Arc<Counters>,
    state: Mutex<State>,
    /// Held while the shared connection is opened.
    opening: tokio::sync::Mutex<()>,
    permits: Arc<Semaphore>,
    returned: Notify,
    /// The tasks that drive the connections; they end with the pool.
    tasks: Mutex<JoinSet<()>>,
}

/// Never locked across an await.
#[derive(Default)]
struct State {
    http2: Vec<Arc<Http2Connection>>,
    idle: Vec<IdleConnection>,
    protocol: Option<Protocol>,
    /// Counts how often all connections were marked as outdated.
    generation: u64,
    /// Counts the completed attempts to open a shared connection.
    openings: u64,
    failed: Option<TransportError>,
}

/// Held by a connection's driver while it runs.
pub(crate) struct Occupied {
    _permit: OwnedSemaphorePermit,
    _open: OpenConnection,
}

impl Pool {
    pub(crate) fn new(
        dialer: Dialer,
        timeouts: Timeouts,
        http2: Http2Config,
        limits: PoolConfig,
        counters: Arc<Counters>,
    ) -> Self {
        let connections_max = limits.connections_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            dialer,
            timeouts,
            http2,
            limits,
            counters,
            state: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            permits: Arc::new(Semaphore::new(connections_max)),
            returned: Notify::new(),
            tasks: Mutex::default(),
        }
    }

    pub(crate) fn dialer(&self) -> &Dialer {
        &self.dialer
    }

    pub(crate) fn http2_config(&self) -> &Http2Config {
        &self.http2
    }

    /// Retires all connections: current requests finish, new ones use new connections.
    pub(crate) fn retire_all(&self) {
        let mut state = self.state.lock();
        state.generation += 1;
        state.http2.clear();
        state.idle.clear();
    }

    /// Finds or opens a connection with capacity for a request. With `fresh`, an idle HTTP/1.1
    /// connection is not used.
    pub(crate) async fn lease(self: &Arc<Self>, fresh: bool) -> Result<Lease, TransportError> {
        if let Some(lease) = self.reuse(fresh).await {
            return Ok(lease);
        }
        if self.state.lock().protocol == Some(Protocol::Http1) {
            return self.lease_http1(fresh).await;
        }
        let seen = self.state.lock().openings;
        let opening = self.opening.lock().await;
        {
            let state = self.state.lock();
            if state.openings != seen
                && let Some(error) = &state.failed
            {
                return Err(error.clone());
            }
        }
        if let Some(lease) = self.reuse(fresh).await {
            return Ok(lease);
        }
        if self.state.lock().protocol == Some(Protocol::Http1) {
            drop(opening);
            return self.lease_http1(fresh).await;
        }
        let opened = self.open().await;
        let mut state = self.state.lock();
        state.openings += 1;
        state.failed = opened.as_ref().err().cloned();
        opened
    }

    /// Opens a connection for one HTTP/1.1 request that will take it over.
    pub(crate) async fn lease_for_upgrade(self: &Arc<Self>) -> Result<Http1Lease, TransportError> {
        let occupied = self.permit().await?;
        let io = self.dialer.dial(Some(Protocol::Http1)).await?.0;
        self.establish_http1(io, occupied).await
    }

    async fn reuse(self: &Arc<Self>, fresh: bool) -> Option<Lease> {
        if let Some(lease) = self.reuse_http2() {
            return Some(Lease::Http2(lease));
        }
        if fresh {
            None
        } else {
            self.reuse_http1().await.map(Lease::Http1)
        }
    }

    fn reuse_http2(self: &Arc<Self>) -> Option<Http2Lease> {
        let now = Instant::now();
        let mut state = self.state.lock();
        state.http2.retain(|connection| !connection.is_closed());
        let lease = state
            .http2
            .iter()
            .find_map(|connection| Http2Connection::lease(connection, self));
        if state.http2.len() > 1 {
            let timeout = self.limits.idle_timeout;
            let used = state.http2.len();
            let mut spare = used - 1;
            state.http2.retain(|connection| {
                let drop = spare > 0 && connection.is_idle_since(now, timeout);
                spare -= usize::from(drop);
                !drop
            });
        }
        lease
    }

    async fn reuse_http1(self: &Arc<Self>) -> Option<Http1Lease> {
        loop {
            let (idle, generation) = {
                let mut state = self.state.lock();
                let now = Instant::now();
                let timeout = self.limits.idle_timeout;
                state.idle.retain(|idle| idle.is_usable(now, timeout));
                (state.idle.pop()?, state.generation)
            };
            if let Some(sender) = idle.ready().await {
                return Some(Http1Lease::new(sender, Arc::clone(self), generation));
            }
        }
    }

    /// Opens a connection, or takes one that is returned while waiting for a permit.
    async fn lease_http1(self: &Arc<Self>, fresh: bool) -> Result<Lease, TransportError> {
        let waiting = async {
            loop {
                let returned = self.returned.notified();
                if !fresh && let Some(lease) = self.reuse_http1().await {
                    return Ok(lease);
                }
                let permit = Arc::clone(&self.permits).acquire_owned();
                let permit = tokio::select! {
                    biased;
                    permit = permit => permit.expect("the semaphore is never closed"),
                    () = returned => continue,
                };
                return Err(permit);
            }
        };
        let limit = self.timeouts.connect;
        let waited =
            tokio::time::timeout(limit, waiting)
                .await
                .map_err(|_| TransportError::Timeout {
                    phase: Phase::Connect,
                    limit,
                })?;
        let permit = match waited {
            Ok(lease) => return Ok(Lease::Http1(lease)),
            Err(permit) => permit,
        };
        let (io, protocol) = self.dialer.dial(None).await?;
        self.establish(io, protocol, self.occupy(permit)).await
    }

    async fn open(self: &Arc<Self>) -> Result<Lease, TransportError> {
        let occupied = self.permit().await?;
        let (io, protocol) = self.dialer.dial(None).await?;
        self.establish(io, protocol, occupied).await
    }

    async fn establish(
        self: &Arc<Self>,
        io: dial::Stream,
        protocol: Protocol,
        occupied: Occupied,
    ) -> Result<Lease, TransportError> {
        match protocol {
            Protocol::Http1 => {
                let lease = self.establish_http1(io, occupied).await?;
                self.state.lock().protocol = Some(Protocol::Http1);
                Ok(Lease::Http1(lease))
            }
            Protocol::Http2 => {
                let generation = self.state.lock().generation;
                let (connection, driver) =
                    http2::establish(io, &self.http2, self.timeouts, occupied).await?;
                let connection = Arc::new(connection);
                self.spawn(driver);
                connection
                    .wait_for_settings(self.timeouts.handshake)
                    .await?;
                let mut state = self.state.lock();
                state.protocol = Some(Protocol::Http2);
                let lease = Http2Connection::lease(&connection, self);
                if state.generation == generation {
                    state.http2.push(connection);
                }
                lease
                    .map(Lease::Http2)
                    .ok_or_else(TransportError::no_streams)
            }
        }
    }

    async fn establish_http1(
        self: &Arc<Self>,
        io: dial::Stream,
        occupied: Occupied,
    ) -> Result<Http1Lease, TransportError> {
        let generation = self.state.lock().generation;
        let (sender, driver) = http1::establish(io, occupied, self.http2.ping_timeout).await?;
        self.spawn(driver);
        Ok(Http1Lease::new(sender, Arc::clone(self), generation))
    }

    fn spawn(&self, driver: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(driver);
    }

    async fn permit(&self) -> Result<Occupied, TransportError> {
        let limit = self.timeouts.connect;
        let permit = Arc::clone(&self.permits).acquire_owned();
        let permit = tokio::time::timeout(limit, permit)
            .await
            .map_err(|_| TransportError::Timeout {
                phase: Phase::Connect,
                limit,
            })?
            .expect("the semaphore is never closed");
        Ok(self.occupy(permit))
    }

    fn occupy(&self, permit: OwnedSemaphorePermit) -> Occupied {
        Occupied {
            _permit: permit,
            _open: self.counters.open(),
        }
    }

    /// Returns an HTTP/1.1 connection to the pool after a complete response.
    fn take_back(&self, idle: IdleConnection, generation: u64) {
        let mut state = self.state.lock();
        if state.generation == generation && self.limits.idle_max > 0 {
            if state.idle.len() >= self.limits.idle_max {
                state.idle.remove(0);
            }
            state.idle.push(idle);
            drop(state);
            self.returned.notify_one();
        }
    }
}

/// The time for a connection to become ready again after a response.
const READY_GRACE: Duration = Duration::from_millis(20);
