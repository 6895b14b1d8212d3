//! One connection: HTTP/1.1 or HTTP/2, as the client begins, until either side ends it.

use super::cork::cork;
use super::timed_stream::TimedStream;
use crate::authn::Peer;
use crate::body::{Body, BrokenOff};
use crate::config::Config;
use crate::service::Service;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Bytes of a request's head.
const HEADER_BYTES_MAX: u32 = 1 << 20;
/// What HTTP/2 buffers for one stream before it stops asking for more.
const SEND_BUFFER_BYTES_MAX: usize = 256 << 10;
/// Flow control windows of HTTP/2: requests are small, but there are many.
const STREAM_WINDOW_BYTES: u32 = 256 << 10;
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;

/// Serves connections.
pub(super) struct Connections {
    service: Arc<Service>,
    http: Builder<TokioExecutor>,
    header_timeout: Duration,
    write_timeout: Duration,
    ending: CancellationToken,
}

impl Connections {
    pub(super) fn new(config: &Config, service: Service, ending: CancellationToken) -> Self {
        let mut http = Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(config.header_timeout)
            .half_close(true);
        http.http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(config.streams_max)
            .max_header_list_size(HEADER_BYTES_MAX)
            .max_send_buf_size(SEND_BUFFER_BYTES_MAX)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .keep_alive_interval(config.ping_interval)
            .keep_alive_timeout(config.write_timeout);
        Self {
            service: Arc::new(service),
            http,
            header_timeout: config.header_timeout,
            write_timeout: config.write_timeout,
            ending,
        }
    }

    pub(super) fn header_timeout(&self) -> Duration {
        self.header_timeout
    }

    /// Serves until the connection ends. Its errors are the client's.
    pub(super) async fn serve<S>(&self, stream: S, peer: Peer)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (stream, mut cork) = cork(TimedStream::new(stream, self.write_timeout));
        // Counts the requests under way by its references, beside this one and the service's.
        let requests = Arc::new(());
        let counted = Arc::clone(&requests);
        let service = service_fn(move |request| {
            let (service, peer) = (Arc::clone(&self.service), peer.clone());
            let request_mark = Arc::clone(&counted);
            async move {
                let answer = service.answer(peer, request).await;
                Ok::<_, Infallible>(answer.map(|body| Counted {
                    body,
                    _request: request_mark,
                }))
            }
        });
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        let (mut ending, mut asked) = (pin!(self.ending.cancelled()), false);
        let ended = poll_fn(|cx| {
            if !asked && ending.as_mut().poll(cx).is_ready() {
                asked = true;
                connection.as_mut().graceful_shutdown();
            }
            // Nobody adds anything to what the only request under way has written.
            let crowd = Arc::strong_count(&requests) > 3;
            cork.poll(cx, crowd, |cx| connection.as_mut().poll(cx))
        });
        drop(ended.await);
    }
}

/// The body of an answer, for as long as its request counts as under way.
struct Counted {
    body: Body,
    _request: Arc<()>,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
