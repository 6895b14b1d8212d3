//! Connection upgrades, for WebSocket and similar protocols.
//!
//! An upgrade uses its own HTTP/1.1 connection outside the pool, so it neither waits for nor
//! disturbs HTTP/2. The protocol after the upgrade is up to the caller.

use crate::body::Body;
use crate::error::TransportError;
use crate::pool::{Lease, Pool};
use crate::response_body::{ResponseBody, Source};
use crate::transport::{Transport, authorize};
use http::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The response to an upgrade request.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "it either switches or it does not")]
pub enum Upgrade {
    /// 101: the connection has been upgraded.
    Switched {
        /// The status and headers.
        response: Response<()>,
        /// The connection.
        io: UpgradedIo,
    },
    /// Any other response.
    Refused(Box<Response<ResponseBody>>),
}

/// An upgraded connection.
pub struct UpgradedIo {
    io: TokioIo<hyper::upgrade::Upgraded>,
    /// Counts and drives the connection.
    _pool: Arc<Pool>,
}

impl Transport {
    /// Sends an upgrade request; the caller sets `Connection`, `Upgrade` and further headers. It is
    /// never retried.
    ///
    /// Cancel safety: dropping the future closes the connection.
    pub async fn upgrade(&self, request: Request<Body>) -> Result<Upgrade, TransportError> {
        let inner = &self.inner;
        if inner.responder.is_some() {
            let cause = io::Error::other("a service in place of a server takes no upgrades");
            return Err(TransportError::Request(Arc::new(cause)));
        }
        let issued = inner.issue().await?;
        let (mut request, decode) = inner.prepare(request)?;
        if !request.headers().contains_key(http::header::AUTHORIZATION) {
            authorize(&mut request, &issued);
        }
        let ping_timeout = inner.pool.http2_config().ping_timeout;
        let mut lease = inner.pool.lease_for_upgrade().await?;
        let response = lease
            .sender
            .send_request(inner.origin_form(request))
            .await
            .map_err(|error| TransportError::from_hyper(error, ping_timeout))?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let response = response.map(Source::Connection);
            let response = inner.receive(response, Some(Lease::Http1(lease)), decode);
            return Ok(Upgrade::Refused(Box::new(response)));
        }
        let mut response = response;
        let upgraded = hyper::upgrade::on(&mut response)
            .await
            .map_err(|error| TransportError::from_hyper(error, ping_timeout))?;
        let io = UpgradedIo {
            io: TokioIo::new(upgraded),
            _pool: Arc::clone(&inner.pool),
        };
        Ok(Upgrade::Switched {
            response: response.map(drop),
            io,
        })
    }
}

impl std::fmt::Debug for UpgradedIo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpgradedIo").finish_non_exhaustive()
    }
}

impl AsyncRead for UpgradedIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl AsyncWrite for UpgradedIo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
