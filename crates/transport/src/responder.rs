//! `Responder`: a tower service that answers in place of a server.
//!
//! It is the counterpart of [`TransportService`](crate::TransportService): the caller provides the
//! service below a client, such as a server in the same process, a test script or another client's
//! stack. No connection is opened and HTTP is not serialized; requests and responses pass
//! unchanged.

use crate::body::Body;
use crate::config::Config;
use crate::config_error::ConfigError;
use crate::connect::TcpConnector;
use crate::error::TransportError;
use crate::transport::Transport;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type AnyBody = UnsyncBoxBody<Bytes, TransportError>;
type Answer = Result<Response<AnyBody>, TransportError>;
type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A type-erased service.
#[derive(Clone)]
pub(crate) struct Responder(Arc<dyn Fn(Request<Body>) -> Answering + Send + Sync>);

impl Responder {
    fn new<S, B>(service: S) -> Self
    where
        S: tower::Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Arc::new(move |request| {
            let mut service = service.clone();
            Box::pin(async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(failed)?;
                let response = service.call(request).await.map_err(failed)?;
                Ok(response.map(|body| body.map_err(failed).boxed_unsync()))
            })
        }))
    }

    pub(crate) async fn answer(&self, request: Request<Body>) -> Answer {
        (self.0)(request).await
    }
}

/// A transport error is passed on unchanged.
fn failed(error: impl Into<BoxError>) -> TransportError {
    match error.into().downcast::<TransportError>() {
        Ok(ours) => *ours,
        Err(other) => TransportError::Http(Arc::from(other)),
    }
}

impl Transport {
    /// Creates a transport that sends requests to `service` instead of a server.
    ///
    /// Each request gets the configured path prefix, headers and credentials, and is sent once more
    /// after a 401 if there are newer credentials. Nothing else is retried, and upgrades are
    /// refused. The service is cloned for each request. Its errors become [`TransportError::Http`],
    /// unless they are a [`TransportError`] already.
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use kubist_transport::{Body, Config, Transport};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = tower::service_fn(|request: http::Request<Body>| async move {
    ///     let body = Body::from(request.uri().path().to_owned());
    ///     Ok::<_, Infallible>(http::Response::new(body))
    /// });
    /// let config = Config::new("http://in-process".parse()?);
    /// let transport = Transport::with_service(config, service)?;
    /// let request = http::Request::get("/version").body(Body::empty())?;
    /// let answer = transport.send(request).await?.into_body().bytes(1024).await?;
    /// assert_eq!(answer, "/version");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Same as [`Transport::new`].
    pub fn with_service<S, B>(config: Config, service: S) -> Result<Self, ConfigError>
    where
        S: tower::Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::build(config, TcpConnector, Some(Responder::new(service)))
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Responder")
    }
}
