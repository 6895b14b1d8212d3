//! One connection: HTTP/1.1 or HTTP/2, as the client chooses, until either side closes it.

use super::activity::{ActiveRequest, Activity, Load, LoadCounters};
use super::cork::{Cork, cork};
use super::delivery::{Delivery, DeliveryProgress, StreamExecutor};
use super::timed_stream::TimedStream;
use crate::authentication::peer::Peer;
use crate::config::{Config, GOAWAY_CHANCE_MAX};
use crate::filters::connection_info::ConnectionInfo;
use crate::filters::pending_bodies::PendingBodies;
use crate::filters::request_record::RecordedBody;
use crate::filters::seat_reservation;
use crate::filters::send_buffers::SendBuffers;
use crate::futures::poll_on_wake::PollOnWake;
use crate::metrics::Metrics;
use crate::response::body::Tunnel;
use crate::server::service::Service;
use crate::shutdown::Shutdown;
use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::{Either, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use parking_lot::Mutex;
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Maximum bytes of a request head.
const HEADER_BYTES_MAX: u32 = 1 << 20;
/// Bytes that HTTP/2 buffers for one stream before it stops polling its body. With thousands of
/// watches whose clients do not read, this is the cost of each.
const SEND_BUFFER_BYTES_MAX: usize = 64 << 10;
/// HTTP/2 flow control windows: requests are small and numerous.
const STREAM_WINDOW_BYTES: u32 = 256 << 10;
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;
/// How long a client may accept nothing of a tunnel: a kubelet's limit for silence.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(4 * 60 * 60);
/// How long a connection is read from after its last answer, as upstream's.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves connections.
pub(super) struct Connections {
    service: Arc<Service>,
    http: Builder<StreamExecutor>,
    counters: Arc<LoadCounters>,
    send_buffers: Arc<SendBuffers>,
    pending_bodies: Arc<PendingBodies>,
    header_timeout: Duration,
    idle_timeout: Duration,
    write_timeout: Duration,
    shutdown: Shutdown,
    /// One request in so many, at random, makes its connection receive GOAWAY; `None` for no
    /// request.
    goaway_one_in: Option<u64>,
}

/// A connection that is no longer HTTP.
struct Upgraded {
    tunnel: Tunnel,
    /// Both end with the tunnel.
    _record: RecordedBody,
    _busy: ActiveRequest,
}

/// The body of a response as HTTP sends it.
type Sent = Either<Delivery, Empty<Bytes>>;

/// Puts aside what a connection is to be after this response, with all that ends with it.
fn put_aside(
    tunnel: Tunnel,
    response: Response<RecordedBody>,
    busy: ActiveRequest,
    next: &Mutex<Option<Upgraded>>,
) -> Response<Sent> {
    let (head, record) = response.into_parts();
    *next.lock() = Some(Upgraded {
        tunnel,
        _record: record,
        _busy: busy,
    });
    Response::from_parts(head, Either::Right(Empty::new()))
}

/// Who is at the other end of a connection.
pub(super) struct Caller {
    pub(super) peer: Peer,
    /// Its address, if it is not in this process.
    pub(super) source: Option<SocketAddr>,
}

impl Connections {
    pub(super) fn new(config: &Config, service: Service, shutdown: Shutdown) -> Self {
        let send_buffers = Arc::<SendBuffers>::default();
        let mut http = Builder::new(StreamExecutor {
            all: Arc::clone(&send_buffers),
            timeout: config.write_timeout,
        });
        // A client that closes one half is gone, as upstream: its requests are dropped and its
        // watches end.
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(config.header_timeout)
            .half_close(false);
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
            counters: Arc::default(),
            send_buffers,
            pending_bodies: PendingBodies::new(config.body_bytes_max),
            header_timeout: config.header_timeout,
            idle_timeout: config.idle_timeout,
            write_timeout: config.write_timeout,
            shutdown,
            goaway_one_in: goaway_one_in(config.goaway_chance),
        }
    }

    pub(super) fn service(&self) -> &Arc<Service> {
        &self.service
    }

    pub(super) fn metrics(&self) -> &Arc<Metrics> {
        self.service.metrics()
    }

    pub(super) fn header_timeout(&self) -> Duration {
        self.header_timeout
    }

    /// Counts a failed TLS handshake.
    pub(super) fn handshake_failed(&self) {
        self.service.metrics().handshake_failed();
    }

    /// The load of all connections.
    pub(super) fn load(&self) -> Load {
        Load {
            backend_connections: self.service.backend_connections(),
            ..self.counters.load()
        }
    }

    /// Registers an open connection.
    pub(super) fn open(&self) -> Arc<Activity> {
        Activity::new(&self.counters)
    }

    /// Serves until the connection ends. Its errors concern only the client.
    pub(super) async fn serve<S>(&self, stream: S, caller: Caller, activity: Arc<Activity>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let stream = TimedStream::new(stream, self.header_timeout, self.write_timeout);
        let (stream, mut cork) = cork(stream);
        let leaving = CancellationToken::new();
        let share = self.send_buffers.connection();
        let progress = Arc::<DeliveryProgress>::default();
        let Caller { peer, source } = caller;
        let caller = Arc::new(ConnectionInfo {
            peer,
            source,
            bodies: self.pending_bodies.connection(),
            client_state: Arc::clone(activity.client_state()),
        });
        let next = Arc::<Mutex<Option<Upgraded>>>::default();
        let service = service_fn(|request: Request<Incoming>| {
            if request.version() == Version::HTTP_2 && self.sends_away() {
                leaving.cancel();
            }
            let (service, caller) = (Arc::clone(&self.service), Arc::clone(&caller));
            let busy = activity.begin();
            let (share, progress) = (Arc::clone(&share), Arc::clone(&progress));
            let next = Arc::clone(&next);
            // Boxed, so that a response that goes on for hours does not hold what its request
            // needed.
            Box::pin(async move {
                let held = share.response();
                // A client that does not read delays only its own requests.
                if !seat_reservation::awaits_body(&request) {
                    held.reserve().await;
                }
                let mut response = service.handle(&caller, &held, request).await;
                Ok::<_, Infallible>(match response.body_mut().take_tunnel() {
                    Some(tunnel) => put_aside(tunnel, response, busy, &next),
                    None => response
                        .map(|body| Either::Left(Delivery::new(body, busy, held, &progress))),
                })
            })
        });
        let mut connection = pin!(
            self.http
                .serve_connection_with_upgrades(TokioIo::new(stream), service)
        );
        let mut linger = None;
        let (closing, left) = (pin!(self.shutdown.closing()), pin!(leaving.cancelled()));
        let idle = pin!(activity.idle_for(self.idle_timeout));
        let stuck = pin!(progress.stalled_for(self.write_timeout, &self.send_buffers));
        let evicted = pin!(activity.evicted());
        tokio::select! {
            biased;
            ended = poll_fn(|cx| {
                cork.poll(cx, activity.has_concurrent_requests(), |cx| connection.as_mut().poll(cx))
            }) => {
                drop(ended);
                return self.go_on(&next, &mut cork).await;
            }
            () = PollOnWake::new(stuck) => return,
            // The client gets GOAWAY if it reads; its place is free at once.
            () = PollOnWake::new(evicted) => linger = Some(Duration::ZERO),
            () = PollOnWake::new(closing) => {}
            () = PollOnWake::new(left) => {}
            () = PollOnWake::new(idle) => linger = Some(self.idle_timeout),
        }
        // Requests in progress end by themselves.
        connection.as_mut().graceful_shutdown();
        let rest = poll_fn(|cx| {
            cork.poll(cx, activity.has_concurrent_requests(), |cx| {
                connection.as_mut().poll(cx)
            })
        });
        if ends_in_peace(rest, linger).await {
            // A client that still reads the last answers tells so. If nobody read that, the
            // connection would be reset, and the answers lost.
            drop(tokio::time::timeout(LAST_WORDS, cork.drain()).await);
        }
    }

    /// Lets a connection that is no longer HTTP be what it has become, until it ends or the server
    /// closes.
    async fn go_on<S>(&self, next: &Mutex<Option<Upgraded>>, cork: &mut Cork<TimedStream<S>>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let upgraded = next.lock().take();
        let Some(Upgraded { mut tunnel, .. }) = upgraded else {
            return;
        };
        // Who reads a terminal may pause for long.
        cork.with_stream(|it| it.set_timeout(UNREAD_TIMEOUT));
        let copied = poll_fn(|cx| cork.poll(cx, false, |cx| tunnel.as_mut().poll(cx)));
        tokio::select! {
            biased;
            ended = copied => drop(ended),
            () = self.shutdown.closing() => {}
        }
    }

    /// Decides at random whether a request makes its connection receive GOAWAY.
    fn sends_away(&self) -> bool {
        let one_in = self.goaway_one_in;
        one_in.is_some_and(|one_in| self.service.chance().number().is_multiple_of(one_in))
    }
}

/// Waits for the rest of a connection, within a time limit if there is one. Returns whether HTTP
/// has ended, by its rules.
async fn ends_in_peace<E>(
    rest: impl Future<Output = std::io::Result<Result<(), E>>>,
    limit: Option<Duration>,
) -> bool {
    let ended = match limit {
        None => rest.await,
        // A request that arrives at this moment is still served; a client that is gone does not
        // block.
        Some(limit) => match tokio::time::timeout(limit, rest).await {
            Ok(ended) => ended,
            Err(_elapsed) => return false,
        },
    };
    matches!(ended, Ok(Ok(())))
}

/// Converts a probability to one in so many.
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
