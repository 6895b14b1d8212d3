//! One connection: HTTP/1.1 or HTTP/2, as the client begins, until either side ends it.

use super::timed_stream::TimedStream;
use crate::authn::Peer;
use crate::config::{Config, GOAWAY_CHANCE_MAX};
use crate::ending::Ending;
use crate::random;
use crate::service::Service;
use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Bytes of a request's head.
const HEADER_BYTES_MAX: u32 = 1 << 20;
/// What HTTP/2 buffers for one stream before it stops asking for more: with thousands of watches
/// whose clients do not read, this is what each of them costs.
const SEND_BUFFER_BYTES_MAX: usize = 64 << 10;
/// Flow control windows of HTTP/2: requests are small, but there are many.
const STREAM_WINDOW_BYTES: u32 = 256 << 10;
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;

/// Serves connections.
pub(super) struct Connections {
    service: Arc<Service>,
    http: Builder<TokioExecutor>,
    header_timeout: Duration,
    write_timeout: Duration,
    ending: Ending,
    /// Requests of which one, by chance, has its connection told to go; none if there are none.
    goaway_one_in: Option<u64>,
}

impl Connections {
    pub(super) fn new(config: &Config, service: Service, ending: Ending) -> Self {
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
            goaway_one_in: goaway_one_in(config.goaway_chance),
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
        let io = TokioIo::new(TimedStream::new(stream, self.write_timeout));
        let leaving = CancellationToken::new();
        let service = service_fn(|request: Request<Incoming>| {
            if request.version() == Version::HTTP_2 && self.sends_away() {
                leaving.cancel();
            }
            let (service, peer) = (Arc::clone(&self.service), peer.clone());
            async move { Ok::<_, Infallible>(service.answer(peer, request).await) }
        });
        let mut connection = pin!(self.http.serve_connection(io, service));
        let mut ended = false;
        tokio::select! {
            biased;
            _ = connection.as_mut() => ended = true,
            () = self.ending.closing() => {}
            () = leaving.cancelled() => {}
        }
        // What has begun ends by itself; once the connection has ended, this does nothing.
        if !ended {
            connection.as_mut().graceful_shutdown();
            drop(connection.await);
        }
    }

    /// Whether a request, by chance, has its connection told to go.
    fn sends_away(&self) -> bool {
        let one_in = self.goaway_one_in;
        one_in.is_some_and(|one_in| random::number().is_multiple_of(one_in))
    }
}

/// A share of requests as one in so many.
fn goaway_one_in(chance: f64) -> Option<u64> {
    let chance = chance.min(GOAWAY_CHANCE_MAX);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is at least 50, and what is too large saturates"
    )]
    let one_in = (chance > 0.0).then(|| (1.0 / chance) as u64);
    one_in
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_bounded() {
        assert_eq!(goaway_one_in(0.0), None);
        assert_eq!(goaway_one_in(-1.0), None);
        assert_eq!(goaway_one_in(f64::NAN), Some(50));
        assert_eq!(goaway_one_in(0.001), Some(1_000));
        assert_eq!(goaway_one_in(0.5), Some(50));
    }
}
