//! `TransportService`: a transport for callers with their own body type, such as `kube::Client`.
//!
//! [`Transport`] itself is a tower service for its own [`Body`]. This one takes any body, so a
//! client that does not know this crate can use it. It adds no layers and no buffer, and does not
//! support upgrades (exec, port-forward).

use crate::body::Body;
use crate::error::TransportError;
use crate::response_body::ResponseBody;
use crate::transport::Transport;
use bytes::Bytes;
use http::{Request, Response};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A [`Transport`] as a tower service for requests with any body. Cheap to clone.
///
/// ```
/// # fn example(transport: kubist_transport::Transport) {
/// let service = transport.service();
/// // kube::Client::new(service, "default")
/// # fn check<S: tower::Service<http::Request<http_body_util::Empty<bytes::Bytes>>>>(_: S) {}
/// # check(service);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TransportService {
    transport: Transport,
}

impl Transport {
    /// Returns this transport as a service for requests with any body; both share everything.
    pub fn service(&self) -> TransportService {
        TransportService {
            transport: self.clone(),
        }
    }
}

impl<B> tower::Service<Request<B>> for TransportService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ResponseBody>;
    type Error = TransportError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    /// A request without a body is retried as [`Transport`] documents; any other is not, because
    /// its body has been consumed.
    fn call(&mut self, request: Request<B>) -> Self::Future {
        let transport = self.transport.clone();
        let request = request.map(|body| {
            if body.is_end_stream() || body.size_hint().exact() == Some(0) {
                Body::empty()
            } else {
                Body::stream(body)
            }
        });
        Box::pin(async move { transport.send(request).await })
    }
}
