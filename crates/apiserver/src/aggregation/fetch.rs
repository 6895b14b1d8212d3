//! What other servers say when this one asks: discovery and OpenAPI.

use crate::aggregation::remote::Remote;
use crate::aggregation::{Aggregation, Surroundings};
use crate::proxy::exchange::Exchange;
use crate::proxy::forwarded;
use crate::proxy::identity;
use crate::request::request_body::RequestBody;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, StatusCode};
use std::time::Duration;
use tokio::time::timeout;

/// Time limit of a question, as upstream.
const LIMIT: Duration = Duration::from_secs(5);
/// The most bytes of an answer: a hundred times what an API server with many kinds says.
const BYTES_MAX: usize = 4 << 20;

/// An answer.
pub(super) struct Fetched {
    pub(super) code: StatusCode,
    pub(super) content_type: String,
    pub(super) body: Bytes,
}

impl Fetched {
    pub(super) fn is_success(&self) -> bool {
        self.code.is_success()
    }
}

impl Aggregation {
    /// Asks a server for a document, as the aggregator itself.
    ///
    /// # Errors
    /// It did not answer in time, or with too much; in Go's words where it has some.
    pub(super) async fn fetch(
        &self,
        surroundings: Surroundings<'_>,
        remote: &Remote,
        target: &str,
        accept: &'static str,
    ) -> Result<Fetched, String> {
        let read = async |exchange: Exchange| {
            let code = exchange.status;
            let kind = exchange.headers.get(CONTENT_TYPE);
            let content_type = kind.and_then(|it| it.to_str().ok()).unwrap_or_default();
            let content_type = content_type.to_owned();
            let body = exchange.beginning(BYTES_MAX).await;
            let body = body.map_err(|failure| failure.to_string())?;
            if body.len() == BYTES_MAX {
                return Err("the answer is too large".to_owned());
            }
            Ok(Fetched {
                code,
                content_type,
                body,
            })
        };
        self.question(surroundings, remote, (target, accept), read)
            .await
    }

    /// Asks a server for a document, and drops all of it but the code.
    ///
    /// # Errors
    /// It did not answer in time.
    pub(super) async fn ask_for_code(
        &self,
        surroundings: Surroundings<'_>,
        remote: &Remote,
        target: &str,
        accept: &'static str,
    ) -> Result<StatusCode, String> {
        let read = async |exchange: Exchange| Ok(exchange.status);
        self.question(surroundings, remote, (target, accept), read)
            .await
    }

    async fn question<T, R: Future<Output = Result<T, String>>>(
        &self,
        surroundings: Surroundings<'_>,
        remote: &Remote,
        (target, accept): (&str, &'static str),
        read: impl FnOnce(Exchange) -> R,
    ) -> Result<T, String> {
        let lookup = surroundings.registry.lookup();
        let backend = self.backend(remote, lookup).await?;
        let url = format!("{}://{}{target}", backend.scheme(), backend.authority());
        let asked = async {
            let request = Request::builder()
                .method(Method::GET)
                .uri(target)
                .body(RequestBody::default());
            let mut request = request.map_err(|error| error.to_string())?;
            let headers = request.headers_mut();
            headers.extend(identity::headers(&identity::aggregator()).unwrap_or_default());
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            forwarded::add_host(headers, &backend.authority());
            let sent = surroundings.proxies.ask(&backend, request).await;
            read(sent.map_err(|failure| failure.to_string())?).await
        };
        let late = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
        let asked = timeout(LIMIT, asked).await;
        let asked = asked.unwrap_or_else(|_| Err(late.to_owned()));
        asked.map_err(|why| format!("failing or missing response from {url}: Get \"{url}\": {why}"))
    }
}
