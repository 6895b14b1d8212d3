//! `WebhookServer`: serves webhooks over HTTPS.

use crate::Webhooks;
use crate::certificates::ServingCertificate;
use crate::webhooks::BODY_BYTES_MAX;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// The pause after the operating system refused to accept, for instance for lack of files.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// The HTTP/2 streams of one connection. An API server uses one connection for all its reviews.
const STREAMS_MAX: u32 = 1_000;

/// The settings of a [`WebhookServer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct ServerConfig {
    /// The address. Default: port 9443 of all addresses, controller-runtime's default.
    pub listen: SocketAddr,
    /// The open connections; further ones wait. Default: 1,000.
    pub connections_max: usize,
    /// The time for a TLS handshake, for the first request after it, for the head and the body of
    /// a request, and for the answer to a ping of HTTP/2. Default: 10 s.
    pub read_timeout: Duration,
    /// The time for reviews in work after the stop. Default: 10 s.
    pub drain_timeout: Duration,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([0, 0, 0, 0], 9443)),
            connections_max: 1_000,
            read_timeout: Duration::from_secs(10),
            drain_timeout: Duration::from_secs(10),
        }
    }
}

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
}

/// Serves [`Webhooks`] over HTTPS, as HTTP/2 and HTTP/1.1. Besides the webhooks' paths it answers
/// `GET /healthz` with `ok`.
///
/// ```no_run
/// # use kubist_webhook::{ServerConfig, ServingCertificate, WebhookServer, Webhooks};
/// # use tokio_util::sync::CancellationToken;
/// # async fn example(webhooks: Webhooks) -> Result<(), Box<dyn std::error::Error>> {
/// let certificate = ServingCertificate::self_signed(&["localhost"])?;
/// let server = WebhookServer::bind(webhooks, certificate, ServerConfig::default()).await?;
/// server.serve(CancellationToken::new()).await;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct WebhookServer {
    webhooks: Webhooks,
    config: ServerConfig,
    listener: TcpListener,
    address: SocketAddr,
    certificate: ServingCertificate,
}

impl WebhookServer {
    /// Listens; connections are accepted once it is served.
    ///
    /// # Errors
    /// The address cannot be used.
    pub async fn bind(
        webhooks: Webhooks,
        certificate: ServingCertificate,
        config: ServerConfig,
    ) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Listen {
            address: config.listen,
            source,
        };
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            webhooks,
            config,
            listener,
            address,
            certificate,
        })
    }

    /// Returns the address, with the port that was chosen if none was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the token is cancelled, then lets the reviews in work end.
    ///
    /// Cancel safety: dropping the future closes all connections.
    pub async fn serve(self, token: CancellationToken) {
        let config = self.config;
        let acceptor = TlsAcceptor::from(self.certificate.tls_config());
        let room = Arc::new(Semaphore::new(config.connections_max.max(1)));
        let graceful = GracefulShutdown::new();
        let mut tasks = JoinSet::new();
        loop {
            let next = async {
                let place = Arc::clone(&room).acquire_owned().await;
                (self.listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                () = token.cancelled() => break,
                Some(_) = tasks.join_next() => continue,
                next = next => next,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_RETRY).await;
                    continue;
                }
            };
            let (acceptor, webhooks) = (acceptor.clone(), self.webhooks.clone());
            let watcher = graceful.watcher();
            tasks.spawn(async move {
                if let Some(connection) = handshake(acceptor, stream, config.read_timeout).await {
                    // hyper waits without a limit for the bytes that tell HTTP/1.1 from HTTP/2.
                    let has_asked = Arc::new(Notify::new());
                    let asks = Arc::clone(&has_asked);
                    let service = service_fn(move |request| {
                        asks.notify_one();
                        let webhooks = webhooks.clone();
                        async move { Ok::<_, Infallible>(answer(&webhooks, request, config).await) }
                    });
                    let mut builder = Builder::new(TokioExecutor::new());
                    let timer = TokioTimer::new();
                    builder
                        .http1()
                        .timer(timer.clone())
                        .header_read_timeout(config.read_timeout);
                    builder
                        .http2()
                        .timer(timer)
                        .keep_alive_interval(config.read_timeout)
                        .keep_alive_timeout(config.read_timeout)
                        .max_concurrent_streams(STREAMS_MAX);
                    let connection = builder.serve_connection(TokioIo::new(connection), service);
                    tokio::select! {
                        ended = watcher.watch(connection.into_owned()) => {
                            tracing::debug!(?ended, "a connection ended");
                        }
                        () = silence(&has_asked, config.read_timeout) => {}
                    }
                }
                drop(place);
            });
        }
        drop(self.listener);
        let drained = async {
            graceful.shutdown().await;
            while tasks.join_next().await.is_some() {}
        };
        if timeout(config.drain_timeout, drained).await.is_err() {
            tracing::warn!(limit = ?config.drain_timeout, "reviews were still in work at the stop");
        }
    }
}

type TlsStream = tokio_rustls::server::TlsStream<TcpStream>;

async fn handshake(acceptor: TlsAcceptor, stream: TcpStream, limit: Duration) -> Option<TlsStream> {
    drop(stream.set_nodelay(true));
    match timeout(limit, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err(error)) => {
            // An API server with an outdated bundle ends here: its own log says so.
            tracing::warn!(%error, "a TLS handshake failed");
            None
        }
        Err(_) => None,
    }
}

/// Ends if there is no request in time.
async fn silence(has_asked: &Notify, limit: Duration) {
    if timeout(limit, has_asked.notified()).await.is_ok() {
        std::future::pending::<()>().await;
    }
    tracing::debug!("a connection had no request in time");
}

async fn answer(
    webhooks: &Webhooks,
    request: Request<Incoming>,
    config: ServerConfig,
) -> Response<Full<Bytes>> {
    if request.uri().path() == "/healthz" && request.method() == Method::GET {
        return Response::new(Full::from("ok"));
    }
    let (head, body) = request.into_parts();
    let body = timeout(
        config.read_timeout,
        Limited::new(body, BODY_BYTES_MAX).collect(),
    );
    match body.await {
        Ok(Ok(body)) => {
            let request = Request::from_parts(head, body.to_bytes());
            webhooks.handle(request).await.map(Full::new)
        }
        Ok(Err(_)) => refuse(
            StatusCode::PAYLOAD_TOO_LARGE,
            "a review has at most 7 MiB\n",
        ),
        Err(_) => refuse(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive in time\n",
        ),
    }
}

fn refuse(code: StatusCode, message: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(message));
    *response.status_mut() = code;
    response
}
