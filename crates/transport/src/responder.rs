//! `Responder`: a tower service that answers in place of a server.
//!
//! The other direction of [`TransportService`](crate::TransportService): what stands under a
//! client is the caller's, be it a server in the same process, a script of a test, or another
//! client's stack. No connection is made, and HTTP is not spoken: requests and answers pass as they
//! are.

use crate::body::Body;
use crate::config::Config;
use crate::connect::TcpConnector;
use crate::error::{ConfigError, TransportError};
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

/// A service with its types erased.
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

/// An error of ours passes as it is.
fn failed(error: impl Into<BoxError>) -> TransportError {
    match error.into().downcast::<TransportError>() {
        Ok(ours) => *ours,
        Err(other) => TransportError::Http(Arc::from(other)),
    }
}

impl Transport {
    /// A transport that asks `service` in place of a server.
    ///
    /// Each request gets what the configuration adds to it (path of the server, headers,
    /// credentials), and is asked once more after a 401 if there are newer credentials; nothing
    /// else is repeated, and upgrades are refused. The service is cloned for each request. Its
    /// errors are [`TransportError::Http`], unless they are a [`TransportError`] already.
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
    /// As [`Transport::new`].
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
