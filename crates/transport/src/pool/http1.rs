//! HTTP/1.1 connections: one request at a time, kept open between requests.

use super::dial::Stream;
use super::{Occupied, Pool, READY_GRACE};
use crate::body::Body;
use crate::error::TransportError;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A connection in use by one request; dropping it closes the connection.
pub(crate) struct Http1Lease {
    pub(crate) sender: SendRequest<Body>,
    pool: Arc<Pool>,
    generation: u64,
}

impl Http1Lease {
    pub(super) fn new(sender: SendRequest<Body>, pool: Arc<Pool>, generation: u64) -> Self {
        Self {
            sender,
            pool,
            generation,
        }
    }

    /// Keeps the connection for another request after its response was read to the end.
    pub(crate) fn finish(self) {
        if !self.sender.is_closed() {
            let idle = IdleConnection {
                sender: self.sender,
                since: Instant::now(),
            };
            self.pool.take_back(idle, self.generation);
        }
    }
}

/// An idle connection.
pub(super) struct IdleConnection {
    sender: SendRequest<Body>,
    since: Instant,
}

impl IdleConnection {
    pub(super) fn is_usable(&self, now: Instant, timeout: Duration) -> bool {
        !self.sender.is_closed() && now.duration_since(self.since) < timeout
    }

    /// Returns the sender once the driver has finished the last response, which may never happen.
    pub(super) async fn ready(mut self) -> Option<SendRequest<Body>> {
        let ready = tokio::time::timeout(READY_GRACE, self.sender.ready()).await;
        matches!(ready, Ok(Ok(()))).then_some(self.sender)
    }
}

/// Starts HTTP/1.1 on a stream. Returns the sender, and the future that drives the connection.
pub(super) async fn establish(
    io: Stream,
    occupied: Occupied,
    ping_timeout: Duration,
) -> Result<(SendRequest<Body>, impl Future<Output = ()> + Send + 'static), TransportError> {
    let (sender, connection) = Builder::new()
        .handshake(TokioIo::new(io))
        .await
        .map_err(|error| TransportError::from_hyper(error, ping_timeout))?;
    let driver = async move {
        // The waiting request receives the error too.
        drop(connection.with_upgrades().await);
        drop(occupied);
    };
    Ok((sender, driver))
}
