//! `ResponseBody`: a response body that is read as it arrives.
//!
//! It keeps its place on the connection until it is read to the end or dropped, and decodes gzip if
//! the transport requested it. Reading slowly is fine: flow control stops the server for this body
//! only.

use crate::error::TransportError;
use crate::gunzip::Gunzip;
use crate::pool::Lease;
use crate::responder::AnyBody;
use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// The source of the bytes.
pub(crate) enum Source {
    Connection(Incoming),
    Service(AnyBody),
}

impl Source {
    fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
        ping_timeout: Duration,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        match self {
            Self::Connection(body) => Pin::new(body)
                .poll_frame(cx)
                .map_err(|error| TransportError::from_hyper(error, ping_timeout)),
            Self::Service(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Connection(body) => body.is_end_stream(),
            Self::Service(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Connection(body) => body.size_hint(),
            Self::Service(body) => body.size_hint(),
        }
    }
}

/// A streaming response body.
pub struct ResponseBody {
    source: Source,
    gunzip: Option<Gunzip>,
    /// `None` once the body has ended, normally or with an error, and where there is no connection.
    lease: Option<Lease>,
    ended: bool,
    ping_timeout: Duration,
}

impl ResponseBody {
    pub(crate) fn new(
        source: Source,
        gzip: bool,
        lease: Option<Lease>,
        ping_timeout: Duration,
    ) -> Self {
        let gunzip = gzip.then(Gunzip::new);
        let mut body = Self {
            source,
            gunzip,
            lease,
            ended: false,
            ping_timeout,
        };
        if body.source.is_end_stream() {
            body.end();
        }
        body
    }

    /// Returns the next chunk of the body; `None` at its end.
    ///
    /// Cancel safety: no data is lost when the future is dropped.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, TransportError> {
        while let Some(frame) = self.frame().await {
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Reads the whole body, if it is no longer than `limit` bytes.
    pub async fn bytes(mut self, limit: usize) -> Result<Bytes, TransportError> {
        let expected = self.size_hint().lower();
        if expected > limit as u64 {
            return Err(TransportError::BodyTooLarge { limit });
        }
        let Some(first) = self.chunk().await? else {
            return Ok(Bytes::new());
        };
        let Some(second) = self.chunk().await? else {
            return if first.len() > limit {
                Err(TransportError::BodyTooLarge { limit })
            } else {
                Ok(first)
            };
        };
        let expected = usize::try_from(expected).unwrap_or(limit);
        let mut whole = BytesMut::with_capacity(expected.max(first.len() + second.len()));
        whole.extend_from_slice(&first);
        let mut next = Some(second);
        while let Some(chunk) = next {
            if whole.len().saturating_add(chunk.len()) > limit {
                return Err(TransportError::BodyTooLarge { limit });
            }
            whole.extend_from_slice(&chunk);
            next = self.chunk().await?;
        }
        Ok(whole.freeze())
    }

    /// Returns the connection to the pool.
    fn end(&mut self) {
        self.ended = true;
        if let Some(Lease::Http1(lease)) = self.lease.take() {
            lease.finish();
        }
    }

    /// Releases the place without returning the connection.
    fn fail(
        &mut self,
        error: TransportError,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        self.ended = true;
        self.lease = None;
        Poll::Ready(Some(Err(error)))
    }

    fn poll_gunzip(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let ping_timeout = self.ping_timeout;
        loop {
            let Some(gunzip) = &mut self.gunzip else {
                return Poll::Ready(None);
            };
            let decoded = if gunzip.has_input() {
                gunzip.step()
            } else {
                match ready!(self.source.poll_frame(cx, ping_timeout)) {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) => {
                            gunzip.push(data);
                            continue;
                        }
                        Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                    },
                    Some(Err(error)) => return self.fail(error),
                    None => {
                        let rest = gunzip.finish();
                        self.gunzip = None;
                        self.end();
                        match rest {
                            Ok(rest) if rest.is_empty() => return Poll::Ready(None),
                            rest => rest,
                        }
                    }
                }
            };
            match decoded {
                Ok(data) if data.is_empty() => {}
                Ok(data) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Err(error) => return self.fail(TransportError::Gzip(Arc::new(error))),
            }
        }
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if self.gunzip.is_some() {
            return self.poll_gunzip(cx);
        }
        let ping_timeout = self.ping_timeout;
        match ready!(self.source.poll_frame(cx, ping_timeout)) {
            Some(Ok(frame)) => {
                // Hyper reports the end of a body of known length together with its last byte.
                if self.source.is_end_stream() {
                    self.end();
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => self.fail(error),
            None => {
                self.end();
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        if self.gunzip.is_some() {
            SizeHint::default()
        } else {
            self.source.size_hint()
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody")
            .field("gzip", &self.gunzip.is_some())
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
