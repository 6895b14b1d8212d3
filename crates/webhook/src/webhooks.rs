//! `Webhooks`: handlers by path. It reads reviews, calls handlers within their limits, and writes
//! the answers; it does no I/O.

use crate::admission::{
    AdmissionRequest, Admitted, Denied, Mutated, Reviewer, mutating, validating,
};
use crate::conversion::Conversion;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hashbrown::HashMap;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use kubist_apimachinery::wire::{Encode, Ingest};
use serde_json::Value;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The largest body: 7 MiB, as controller-runtime accepts. An object and its old state are 3 MiB
/// each at most.
pub const BODY_BYTES_MAX: usize = 7 << 20;

/// The limits of [`Webhooks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Limits {
    /// How long a handler may take, unless the API server waits for a shorter time, which it says
    /// in each request. Default: 10 s, the API server's own default.
    pub handler_timeout: Duration,
    /// The reviews in work; further ones wait, within their time. Default: 256.
    pub concurrent_reviews: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handler_timeout: Duration::from_secs(10),
            concurrent_reviews: 256,
        }
    }
}

/// Handlers by path. Cheap to clone.
#[derive(Clone)]
pub struct Webhooks {
    handlers: Arc<HashMap<String, Arc<dyn Handler>>>,
    limits: Limits,
    room: Arc<Semaphore>,
}

/// What answers the reviews of one path.
pub(crate) trait Handler: Send + Sync {
    /// Answers a review.
    fn answer<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Answer>;
    /// Returns the answer to a review whose handler did not answer.
    fn refusal(&self, body: &[u8], denied: Denied) -> Answer;
}

/// A review as JSON, or why the body is none.
pub(crate) type Answer = Result<Vec<u8>, BadReview>;

/// The body is not a review.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct BadReview {
    pub(crate) reason: String,
}

impl BadReview {
    pub(crate) fn new(reason: impl fmt::Display) -> Self {
        let reason = reason.to_string();
        Self { reason }
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            handlers: Arc::default(),
            room: Arc::new(Semaphore::new(limits.concurrent_reviews)),
            limits,
        }
    }
}

impl Webhooks {
    /// Creates one without handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self.room = Arc::new(Semaphore::new(limits.concurrent_reviews.max(1)));
        self
    }

    /// Adds a validating webhook at a path. A handler of the same path is replaced.
    #[must_use]
    pub fn validate<K, F>(
        self,
        path: impl Into<String>,
        handler: impl Fn(AdmissionRequest<K>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        K: Ingest,
        F: Future<Output = Result<Admitted, Denied>> + Send + 'static,
    {
        self.with(path, Reviewer::new(validating(handler)))
    }

    /// Adds a mutating webhook at a path. A handler of the same path is replaced.
    #[must_use]
    pub fn mutate<K, F>(
        self,
        path: impl Into<String>,
        handler: impl Fn(AdmissionRequest<K>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        K: Ingest + Encode,
        F: Future<Output = Result<Mutated<K>, Denied>> + Send + 'static,
    {
        self.with(path, Reviewer::new(mutating(handler)))
    }

    /// Adds a conversion webhook at a path. `convert` gets each object and the wanted API version,
    /// such as `example.com/v2`, and returns the object in that version; its metadata must stay as
    /// it is, except for labels and annotations. Objects that have the version already are not
    /// given to it. It runs on the caller's task, so it must not block.
    #[must_use]
    pub fn convert<E: fmt::Display>(
        self,
        path: impl Into<String>,
        convert: impl Fn(Value, &str) -> Result<Value, E> + Send + Sync + 'static,
    ) -> Self {
        let convert = move |object: Value, version: &str| {
            convert(object, version).map_err(|error| error.to_string())
        };
        self.with(path, Conversion::new(convert))
    }

    fn with(mut self, path: impl Into<String>, handler: impl Handler + 'static) -> Self {
        let handlers = Arc::make_mut(&mut self.handlers);
        handlers.insert(path.into(), Arc::new(handler));
        self
    }

    /// Returns the paths that have a handler, sorted.
    pub fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = self.handlers.keys().map(String::as_str).collect();
        paths.sort_unstable();
        paths
    }

    /// Answers a request whose body was read. Needs no server, so tests call it directly.
    ///
    /// ```
    /// # use kubist_webhook::Webhooks;
    /// # async fn example(webhooks: Webhooks, review: serde_json::Value) -> serde_json::Value {
    /// let answer = webhooks.review("/validate-pods", &review).await;
    /// assert_eq!(answer["response"]["allowed"], true);
    /// # answer }
    /// ```
    ///
    /// Cancel safety: dropping the future drops the handler's.
    pub async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let Some(handler) = self.handlers.get(request.uri().path()) else {
            return text(StatusCode::NOT_FOUND, "no webhook has this path");
        };
        if request.method() != Method::POST {
            let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, "a review is sent with POST");
            let allowed = HeaderValue::from_static("POST");
            refused.headers_mut().insert(ALLOW, allowed);
            return refused;
        }
        let media_type = request.headers().get(CONTENT_TYPE);
        let media_type = media_type.map_or(b"".as_slice(), HeaderValue::as_bytes);
        if !media_type.starts_with(b"application/json") {
            let wanted = "a review has the content type application/json";
            return text(StatusCode::UNSUPPORTED_MEDIA_TYPE, wanted);
        }
        if request.body().len() > BODY_BYTES_MAX {
            let wanted = "a review has at most 7 MiB";
            return text(StatusCode::PAYLOAD_TOO_LARGE, wanted);
        }
        let limit = self.limit_of(request.uri().query().unwrap_or_default());
        match self.answer(&**handler, request.body(), limit).await {
            Ok(review) => {
                let mut response = Response::new(Bytes::from(review));
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, json);
                response
            }
            Err(bad) => text(StatusCode::BAD_REQUEST, &bad.reason),
        }
    }

    /// Answers a review, given and returned as JSON trees: for tests. An answer that is not JSON
    /// is returned as text.
    pub async fn review(&self, path: &str, review: &Value) -> Value {
        let request = Request::post(path)
            .header(CONTENT_TYPE, "application/json")
            .body(Bytes::from(review.to_string()));
        let body = match request {
            Ok(request) => self.handle(request).await.into_body(),
            Err(error) => Bytes::from(error.to_string()),
        };
        let tree = serde_json::from_slice(&body);
        tree.unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&body)))
    }

    async fn answer(&self, handler: &dyn Handler, body: &[u8], limit: Duration) -> Answer {
        let run = async {
            let place = self.room.acquire().await;
            let answer = AssertUnwindSafe(handler.answer(body)).catch_unwind().await;
            drop(place);
            answer
        };
        match timeout(limit, run).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => {
                tracing::error!("the handler of a webhook panicked");
                let denied = Denied::internal("the handler of the webhook panicked");
                handler.refusal(body, denied)
            }
            Err(_) => {
                let denied = Denied::timeout(format!("the webhook did not answer in {limit:?}"));
                handler.refusal(body, denied)
            }
        }
    }

    /// Returns the time for a review: what the API server waits, `?timeout=10s`, less a moment for
    /// the answer, so that it learns the reason.
    fn limit_of(&self, query: &str) -> Duration {
        let parameters = query.split('&').filter_map(|it| it.split_once('='));
        let named = parameters.filter(|(name, _)| *name == "timeout");
        let waits = named
            .filter_map(|(_, value)| value.parse::<kubist_apimachinery::Duration>().ok())
            .find_map(|it| u64::try_from(it.as_nanos()).ok())
            .map(Duration::from_nanos)
            .filter(|it| !it.is_zero());
        let own = self.limits.handler_timeout;
        waits.map_or(own, |waits| own.min(waits.saturating_sub(waits / 20)))
    }
}

fn text(code: StatusCode, message: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(format!("{message}\n")));
    *response.status_mut() = code;
    let media_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhooks")
            .field("paths", &self.paths())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
