//! `StreamingBody`: the body of a backend's answer, which drives its connection while it is read.

use crate::proxy::exchange::Driver;
use crate::proxy::slots::Slot;
use crate::response::body::ResponseAborted;
use bytes::Bytes;
use futures_core::Stream;
use http_body::Body as _;
use hyper::body::Incoming;
use kubist_apimachinery::Status;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio_util::sync::WaitForCancellationFutureOwned;

/// The chunks of a body, as they arrive.
pub(super) struct StreamingBody {
    body: Incoming,
    /// `None` once the connection has ended.
    driver: Option<Driver>,
    /// Ends the body early.
    ends: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    _slot: Slot,
}

impl StreamingBody {
    pub(super) fn new(
        body: Incoming,
        driver: Option<Driver>,
        slot: Slot,
        ends: Option<WaitForCancellationFutureOwned>,
    ) -> Self {
        Self {
            body,
            driver,
            ends: ends.map(Box::pin),
            _slot: slot,
        }
    }
}

fn aborted(why: &str) -> ResponseAborted {
    ResponseAborted(Status::internal_error(why))
}

impl Stream for StreamingBody {
    type Item = Result<Bytes, ResponseAborted>;

    fn poll_next(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, ResponseAborted>>> {
        let this = self.get_mut();
        if let Some(ends) = &mut this.ends
            && ends.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Some(Err(aborted("the server is shutting down"))));
        }
        loop {
            if let Some(driver) = &mut this.driver
                && driver.as_mut().poll(cx).is_ready()
            {
                // What it received is in the body, and so is its error.
                this.driver = None;
            }
            match Pin::new(&mut this.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => return Poll::Ready(Some(Ok(data))),
                    // Trailers are not passed on.
                    Err(_) => {}
                },
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Some(Err(aborted(&error.to_string()))));
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
