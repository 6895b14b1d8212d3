//! `RequestBody`: the body of a request, and what its connection can become.
//!
//! A handler reads the body, or takes both to pass them on to another server.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The body of a request. Once it is taken, what is left is empty.
#[derive(Debug, Default)]
pub(crate) struct RequestBody {
    incoming: Option<Incoming>,
    upgrade: Option<OnUpgrade>,
}

impl RequestBody {
    /// `upgrade` is the connection after an answer with 101, if the client asked for that.
    pub(crate) fn new(incoming: Incoming, upgrade: Option<OnUpgrade>) -> Self {
        Self {
            incoming: Some(incoming),
            upgrade,
        }
    }

    /// Takes the body, without the connection.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            incoming: self.incoming.take(),
            upgrade: None,
        }
    }

    /// Takes the connection after an answer with 101, if the client asked for that.
    pub(crate) fn take_upgrade(&mut self) -> Option<OnUpgrade> {
        self.upgrade.take()
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.incoming {
            Some(incoming) => Pin::new(incoming).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.incoming.as_ref().map(Body::size_hint);
        hint.unwrap_or_else(|| SizeHint::with_exact(0))
    }
}
