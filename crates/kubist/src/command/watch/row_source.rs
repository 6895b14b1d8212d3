//! `RowSource`: lists and watches a resource as rows, for an informer.
//!
//! The server makes the rows, as for `kubectl get`, so that they have the columns of any kind; the
//! informer does the rest, as for objects. Errors are not retried here, for the same reason as in
//! the client's own sources: the reflector needs to see each.

use super::row::Row;
use super::row_decoder::RowDecoder;
use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use http::Request;
use http::header::ACCEPT;
use kubist_apimachinery::wire::Encoding;
use kubist_apimachinery::{ApiResource, ResourceVersion, Str};
use kubist_cache::{
    Cause, FetchError, InvalidEvent, InvalidItem, ListBatch, ListRequest, ListStream,
    ListerWatcher, Selection, VersionMatch, WatchItem, WatchRequest, WatchStream,
};
use kubist_client::{ApiError, Client, Config};
use kubist_codec::watch_stream::{self, WatchStreamError};
use kubist_transport::{Body, ResponseBody, TransportError};
use std::fmt::Write as _;
use std::sync::Arc;

/// Tables, or whatever the server has.
const TABLES: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;\
     g=meta.k8s.io,application/json";
/// The most bytes of a page of a list. Servers may send everything in one.
const PAGE_BYTES_MAX: usize = 256 << 20;
/// The most events in one batch.
const BATCH_MAX: usize = 256;

/// Lists and watches one resource in one selection.
#[derive(Debug)]
pub(super) struct RowSource {
    client: Client,
    path: String,
    selection: Selection,
}

impl RowSource {
    /// Creates a source. Names in the selection must be valid: they become part of a path.
    pub(super) fn new(client: &Client, resource: &ApiResource, selection: &Selection) -> Self {
        let config = Config {
            retries_max: 0,
            ..Config::default()
        };
        let mut path = resource.group_version().path();
        if let Some(namespace) = &selection.namespace {
            let _ = write!(path, "/namespaces/{namespace}");
        }
        let _ = write!(path, "/{}", resource.plural);
        Self {
            client: Client::new(client.transport().clone(), config),
            path,
            selection: selection.clone(),
        }
    }

    /// Sends a request with the pairs that have a value.
    async fn get(&self, pairs: &[(&str, &str)]) -> Result<ResponseBody, FetchError> {
        let Selection { labels, fields, .. } = &self.selection;
        let selectors: [(&str, &str); 2] = [("labelSelector", labels), ("fieldSelector", fields)];
        let mut uri = self.path.clone();
        let mut mark = '?';
        for (name, value) in selectors.iter().chain(pairs) {
            if !value.is_empty() {
                let _ = write!(uri, "{mark}{name}=");
                push_encoded(value, &mut uri);
                mark = '&';
            }
        }
        let request = Request::get(uri).header(ACCEPT, TABLES).body(Body::empty());
        let request = request.map_err(|error| FetchError::Other {
            message: "the request cannot be built".into(),
            source: Some(Arc::new(error)),
        })?;
        let response = self.client.send(request).await?;
        Ok(response.into_body())
    }
}

impl ListerWatcher<Row> for RowSource {
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<Row>, FetchError>> {
        Box::pin(async move {
            let limit = match request.limit {
                0 => String::new(),
                limit => limit.to_string(),
            };
            let pairs = [
                ("resourceVersion", request.resource_version.as_str()),
                ("resourceVersionMatch", match_text(request.version_match)),
                ("limit", &limit),
                ("continue", &request.continue_token),
            ];
            let body = self.get(&pairs).await?.bytes(PAGE_BYTES_MAX).await;
            let body = body.map_err(|error| self.broken(error))?;
            let (items, end) = RowDecoder::new().page(&body)?;
            let batches = [Ok(ListBatch::Items(items)), Ok(ListBatch::End(end))];
            Ok(futures_util::stream::iter(batches).boxed())
        })
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<Row>, FetchError>> {
        Box::pin(async move {
            // Upstream counts in seconds; 0 would be its default.
            let seconds = request.timeout.map(|it| it.as_secs().max(1).to_string());
            let bookmarks = if request.bookmarks { "true" } else { "" };
            let pairs = [
                ("watch", "true"),
                ("allowWatchBookmarks", bookmarks),
                ("resourceVersion", request.resource_version.as_str()),
                ("resourceVersionMatch", match_text(request.version_match)),
                ("timeoutSeconds", seconds.as_deref().unwrap_or_default()),
            ];
            let body = self.get(&pairs).await?;
            let watch = Watch {
                body: Some(body),
                frames: watch_stream::WatchStream::new(Encoding::Json),
                decoder: RowDecoder::new(),
                request: format!("GET {}", self.path).into(),
                error: None,
            };
            let batches = futures_util::stream::unfold(watch, |mut watch| async move {
                let batch = watch.next_batch().await?;
                Some((batch, watch))
            });
            Ok(batches.boxed())
        })
    }

    /// Tables are listed as kubectl does: servers have had that the longest.
    fn supports_streaming_list(&self) -> bool {
        false
    }
}

impl RowSource {
    fn broken(&self, source: TransportError) -> FetchError {
        let request = format!("GET {}", self.path).into();
        ApiError::Transport { request, source }.into()
    }
}

/// One watch.
struct Watch {
    /// None once it has ended.
    body: Option<ResponseBody>,
    frames: watch_stream::WatchStream,
    decoder: RowDecoder,
    request: Str,
    /// Delivered after the events before it.
    error: Option<FetchError>,
}

impl Watch {
    /// Returns the complete events that have arrived; none after the end.
    async fn next_batch(&mut self) -> Option<Result<Vec<WatchItem<Row>>, FetchError>> {
        loop {
            let mut events = Vec::new();
            while self.error.is_none() && events.len() < BATCH_MAX {
                match self.next_event() {
                    Ok(Some(event)) => events.push(event),
                    Ok(None) => break,
                    Err(error) => self.fail(error),
                }
            }
            if !events.is_empty() {
                return Some(Ok(events));
            }
            if let Some(error) = self.error.take() {
                return Some(Err(error));
            }
            match self.body.as_mut()?.chunk().await {
                Ok(Some(chunk)) => self.frames.push(chunk),
                Ok(None) => {
                    self.body = None;
                    let none = watch_stream::WatchStream::new(Encoding::Json);
                    let ended = std::mem::replace(&mut self.frames, none).finish();
                    self.error = ended.err().map(cut);
                }
                Err(source) => {
                    let request = self.request.clone();
                    self.fail(ApiError::Transport { request, source }.into());
                }
            }
        }
    }

    fn next_event(&mut self) -> Result<Option<WatchItem<Row>>, FetchError> {
        match self.frames.next_frame() {
            Ok(None) => Ok(None),
            Ok(Some(frame)) => self.decoder.event(&frame).map(Some),
            Err(error) if error.ends_stream() => Err(cut(error)),
            Err(error) => Ok(Some(lost(&error))),
        }
    }

    fn fail(&mut self, error: FetchError) {
        self.body = None;
        self.error = Some(error);
    }
}

/// A watch that ends inside an event has lost its connection.
fn cut(error: WatchStreamError) -> FetchError {
    let source: Cause = Arc::new(error);
    FetchError::Connection { source }
}

/// One event is malformed.
fn lost(error: &WatchStreamError) -> WatchItem<Row> {
    let reason = error.to_string();
    let error = kubist_apimachinery::wire::WireErrorKind::Invalid { reason }.into();
    WatchItem::Invalid(InvalidEvent {
        event: None,
        resource_version: ResourceVersion::default(),
        item: InvalidItem { name: None, error },
    })
}

fn match_text(version_match: Option<VersionMatch>) -> &'static str {
    version_match.map_or("", VersionMatch::as_str)
}

/// Percent-encodes a value of a query.
fn push_encoded(value: &str, out: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_survives_the_query() {
        let mut out = String::new();
        push_encoded("app in (a,b),x!=ü", &mut out);
        assert_eq!(out, "app%20in%20%28a%2Cb%29%2Cx%21%3D%C3%BC");
    }
}
