//! One connection: HTTP/1.1 or HTTP/2, as the client begins, until either side ends it.

use super::cork::cork;
use super::timed_stream::TimedStream;
use crate::authn::Peer;
use crate::config::Config;
use crate::service::Service;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
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
        let service = service_fn(|request| {
            let (service, peer) = (Arc::clone(&self.service), peer.clone());
            async move { Ok::<_, Infallible>(service.answer(peer, request).await) }
        });
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        let (mut ending, mut asked) = (pin!(self.ending.cancelled()), false);
        let ended = poll_fn(|cx| {
            if !asked && ending.as_mut().poll(cx).is_ready() {
                asked = true;
                connection.as_mut().graceful_shutdown();
            }
            cork.poll(cx, |cx| connection.as_mut().poll(cx))
        });
        drop(ended.await);
    }
}
