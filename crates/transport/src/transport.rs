//! `Transport`: the handle that sends requests.
//!
//! It adds the configured credentials, names and encodings to each request that does not have them,
//! leases a connection, and decides about retries. It does not inspect responses except for a 401.

use crate::auth::{AuthError, Credentials, Issued};
use crate::body::Body;
use crate::config::Config;
use crate::config_error::ConfigError;
use crate::connect::{Connect, TcpConnector};
use crate::error::{Phase, TransportError};
use crate::headers::common_headers;
use crate::pool::{Dialer, Lease, Pool};
use crate::rate_limiter::RateLimiter;
use crate::request_stats::{self, RequestCounters, RequestStats};
use crate::responder::Responder;
use crate::response_body::{ResponseBody, Source};
use crate::server::Server;
use crate::stats::{Counters, Stats};
use crate::tls::TlsSource;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH};
use http::uri::Scheme;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;

/// How often a request that was never written is moved to another connection.
const MOVES_MAX: u32 = 3;

/// A handle for the connections to one server. Cheap to clone; all clones share everything.
///
/// It can be created anywhere; requests must be sent within a tokio runtime, the same one for all
/// of them.
#[derive(Clone)]
pub struct Transport {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) pool: Arc<Pool>,
    /// Used instead of the pool.
    pub(crate) responder: Option<Responder>,
    credentials: Credentials,
    /// The serial number of the credentials whose certificate the pool presents.
    presented: Mutex<Option<u64>>,
    limiter: Option<RateLimiter>,
    counters: Arc<Counters>,
    requests: RequestCounters,
    server: Server,
    headers: HeaderMap,
    response_timeout: Option<std::time::Duration>,
}

impl Transport {
    /// Creates a transport over TCP. No connection is opened yet; certificates and keys are loaded
    /// now.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Self::with_connector(config, TcpConnector)
    }

    /// Creates a transport over the byte streams that `connector` opens. TLS and proxies run on top
    /// of them as configured.
    pub fn with_connector(config: Config, connector: impl Connect) -> Result<Self, ConfigError> {
        Self::build(config, connector, None)
    }

    pub(crate) fn build(
        config: Config,
        connector: impl Connect,
        responder: Option<Responder>,
    ) -> Result<Self, ConfigError> {
        let (server, endpoint) = Server::parse(&config.server)?;
        let headers = common_headers(&config)?;
        let counters = Arc::new(Counters::default());
        let tls = if server.scheme == Scheme::HTTPS {
            Some(TlsSource::new(config.tls).map_err(ConfigError::Tls)?)
        } else {
            None
        };
        let dialer = Dialer {
            connector: Arc::new(connector),
            endpoint,
            proxy: config.proxy,
            tls,
            version: config.http_version,
            timeouts: config.timeouts,
            counters: Arc::clone(&counters),
        };
        let pool = Pool::new(
            dialer,
            config.timeouts,
            config.http2,
            config.pool,
            Arc::clone(&counters),
        );
        let inner = Inner {
            pool: Arc::new(pool),
            responder,
            credentials: Credentials::new(config.auth)?,
            presented: Mutex::default(),
            limiter: config.rate_limit.map(RateLimiter::new).transpose()?,
            counters,
            requests: RequestCounters::default(),
            server,
            headers,
            response_timeout: config.timeouts.response,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Sends a request and waits for the response head, whatever its status.
    ///
    /// The scheme and host of the request's URI are replaced by the server's, and the server's path
    /// is prefixed. Existing headers are kept. Without an `Accept-Encoding`, gzip is requested and
    /// decoded.
    ///
    /// Cancel safety: dropping the future cancels the request; the server may have acted on it.
    pub async fn send(
        &self,
        request: Request<Body>,
    ) -> Result<Response<ResponseBody>, TransportError> {
        if let Some(limiter) = &self.inner.limiter {
            limiter.acquire().await;
        }
        let (method, start) = (request_stats::name_of(request.method()), Instant::now());
        let response = self.send_in_time(request).await;
        let code = response.as_ref().ok().map(Response::status);
        self.inner.requests.count(method, code, start.elapsed());
        response
    }

    async fn send_in_time(
        &self,
        request: Request<Body>,
    ) -> Result<Response<ResponseBody>, TransportError> {
        let Some(limit) = self.inner.response_timeout else {
            return self.inner.send(request).await;
        };
        tokio::time::timeout(limit, self.inner.send(request))
            .await
            .map_err(|_| TransportError::Timeout {
                phase: Phase::Response,
                limit,
            })?
    }

    /// Returns the counters so far.
    pub fn stats(&self) -> Stats {
        self.inner.counters.snapshot()
    }

    /// Returns the requests so far, by method. A request that was cancelled is not among them.
    pub fn request_stats(&self) -> BTreeMap<&'static str, RequestStats> {
        self.inner.requests.snapshot()
    }

    /// Returns the server's address without the path.
    pub fn server(&self) -> String {
        format!(
            "{}://{}",
            self.inner.server.scheme, self.inner.server.authority
        )
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("server", &self.server())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

impl tower::Service<Request<Body>> for Transport {
    type Response = Response<ResponseBody>;
    type Error = TransportError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let transport = self.clone();
        Box::pin(async move { transport.send(request).await })
    }
}

impl Inner {
    async fn send(&self, request: Request<Body>) -> Result<Response<ResponseBody>, TransportError> {
        self.counters.count_request();
        let mut issued = self.issue().await?;
        let (mut request, decode) = self.prepare(request)?;
        let own_authorization = request.headers().contains_key(AUTHORIZATION);
        if !own_authorization {
            authorize(&mut request, &issued);
        }
        let again = try_clone(&request);
        let response = self.send_prepared(request, decode).await?;
        if response.status() != StatusCode::UNAUTHORIZED || own_authorization {
            return Ok(response);
        }
        let Some(mut request) = again else {
            return Ok(response);
        };
        let Some(renewed) = self
            .credentials
            .renew(&issued)
            .await
            .map_err(TransportError::Auth)?
        else {
            return Ok(response);
        };
        drop(response);
        issued = renewed;
        self.present(&issued)?;
        authorize(&mut request, &issued);
        self.counters.count_retry();
        self.send_prepared(request, decode).await
    }

    /// Returns the credentials for the next request, and updates the pool's certificate.
    pub(crate) async fn issue(&self) -> Result<Issued, TransportError> {
        let issued = self
            .credentials
            .issue()
            .await
            .map_err(TransportError::Auth)?;
        self.present(&issued)?;
        if let Some(tls) = &self.pool.dialer().tls
            && tls.reload_if_due(Instant::now())
        {
            self.pool.retire_all();
        }
        Ok(issued)
    }

    fn present(&self, issued: &Issued) -> Result<(), TransportError> {
        let (Some(identity), Some(tls)) = (&issued.identity, &self.pool.dialer().tls) else {
            return Ok(());
        };
        let mut presented = self.presented.lock();
        if presented.is_none_or(|serial| serial < issued.serial) {
            tls.set_identity((**identity).clone())
                .map_err(|error| TransportError::Auth(AuthError::Certificate(error)))?;
            *presented = Some(issued.serial);
            self.pool.retire_all();
        }
        Ok(())
    }

    /// Adds the common headers. Returns true if the transport decodes gzip.
    pub(crate) fn prepare(
        &self,
        request: Request<Body>,
    ) -> Result<(Request<Body>, bool), TransportError> {
        let (mut parts, body) = request.into_parts();
        parts.uri = self.server.uri(&parts.uri)?;
        let mut decode = false;
        for name in self.headers.keys() {
            if !parts.headers.contains_key(name) {
                decode |= name == ACCEPT_ENCODING;
                for value in self.headers.get_all(name) {
                    parts.headers.append(name.clone(), value.clone());
                }
            }
        }
        Ok((Request::from_parts(parts, body), decode))
    }

    /// Sends a request, and retries it if it cannot have reached the server or is safe to repeat.
    async fn send_prepared(
        &self,
        request: Request<Body>,
        decode: bool,
    ) -> Result<Response<ResponseBody>, TransportError> {
        if let Some(responder) = &self.responder {
            let response = responder.answer(request).await?;
            return Ok(self.receive(response.map(Source::Service), None, decode));
        }
        let harmless = matches!(
            *request.method(),
            Method::GET | Method::HEAD | Method::OPTIONS
        );
        let mut request = request;
        let mut repeated = false;
        let mut moves = 0;
        loop {
            let again = try_clone(&request);
            let fresh = repeated || moves > 0;
            let lease = self.pool.lease(fresh).await?;
            let failure = match self.try_send(lease, request).await {
                Ok((response, lease)) => {
                    let response = response.map(Source::Connection);
                    return Ok(self.receive(response, Some(lease), decode));
                }
                Err(failure) => failure,
            };
            let unsent = failure.unsent.map(|unsent| *unsent);
            request = match (unsent, again) {
                (Some(unsent), _) if moves < MOVES_MAX => {
                    moves += 1;
                    unsent
                }
                (None, Some(again)) if moves < MOVES_MAX && failure.error.is_refused_stream() => {
                    moves += 1;
                    again
                }
                (None, Some(again)) if !repeated && harmless && failure.error.is_closed() => {
                    repeated = true;
                    again
                }
                _ => return Err(failure.error),
            };
            self.counters.count_retry();
        }
    }

    async fn try_send(
        &self,
        mut lease: Lease,
        request: Request<Body>,
    ) -> Result<(Response<Incoming>, Lease), Failure> {
        let sent = match &mut lease {
            Lease::Http1(http1) => {
                http1
                    .sender
                    .try_send_request(self.origin_form(request))
                    .await
            }
            Lease::Http2(http2) => http2.sender.try_send_request(request).await,
        };
        let mut failed = match sent {
            Ok(response) => return Ok((response, lease)),
            Err(failed) => failed,
        };
        let unsent = failed.take_message().map(|mut unsent| {
            // Undo the origin form: the next connection may speak HTTP/2.
            if let Ok(uri) = self.server.absolute(unsent.uri()) {
                *unsent.uri_mut() = uri;
            }
            Box::new(unsent)
        });
        let ping_timeout = self.pool.http2_config().ping_timeout;
        let error = TransportError::from_hyper(failed.into_error(), ping_timeout);
        if let Lease::Http2(http2) = &lease
            && (unsent.is_some() || error.is_closed() || error.is_refused_stream())
        {
            http2.retire();
        }
        Err(Failure { error, unsent })
    }

    /// Sets the HTTP/1.1 form: the host in a header, only the path in the request line.
    pub(crate) fn origin_form(&self, mut request: Request<Body>) -> Request<Body> {
        let path = request.uri().path_and_query().cloned();
        *request.uri_mut() = path.map_or_else(Uri::default, Uri::from);
        if !request.headers().contains_key(http::header::HOST)
            && let Ok(host) = HeaderValue::from_str(self.server.authority.as_str())
        {
            request.headers_mut().insert(http::header::HOST, host);
        }
        request
    }

    pub(crate) fn receive(
        &self,
        response: Response<Source>,
        lease: Option<Lease>,
        decode: bool,
    ) -> Response<ResponseBody> {
        let (mut parts, source) = response.into_parts();
        let gzip = decode
            && parts
                .headers
                .get(CONTENT_ENCODING)
                .is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"gzip"));
        if gzip {
            parts.headers.remove(CONTENT_ENCODING);
            parts.headers.remove(CONTENT_LENGTH);
        }
        let ping_timeout = self.pool.http2_config().ping_timeout;
        let body = ResponseBody::new(source, gzip, lease, ping_timeout);
        Response::from_parts(parts, body)
    }
}

/// An attempt without a response.
struct Failure {
    error: TransportError,
    /// The request, if nothing of it has been written.
    unsent: Option<Box<Request<Body>>>,
}

pub(crate) fn authorize(request: &mut Request<Body>, issued: &Issued) {
    match &issued.header {
        Some(header) => request.headers_mut().insert(AUTHORIZATION, header.clone()),
        None => request.headers_mut().remove(AUTHORIZATION),
    };
}

/// A copy for a retry, if the body allows one.
fn try_clone(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    *copy.extensions_mut() = request.extensions().clone();
    Some(copy)
}
