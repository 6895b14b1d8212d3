//! The client as a source for informers: `kubist_cache::Source` and `ListerWatcher` over HTTP.
//!
//! Requests are not retried and watches are not timed here: the reflector does both and needs to
//! see every error. All clones of a client share what it learns about the server, for example that
//! streaming lists are not supported.

use crate::Client;
use crate::decoder::SharedContext;
use crate::endpoint::{Endpoint, Form};
use crate::item_stream::Piece;
use futures_core::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, ListMeta, Object, QueryPairs};
use kubist_cache::{
    FetchError, IngestAny, ListBatch, ListEnd, ListRequest, ListStream, ListerWatcher, Selection,
    Source, VersionMatch, WatchRequest, WatchStream,
};
use std::sync::Arc;

/// Lists and watches one resource.
struct Resource<K> {
    endpoint: Endpoint<K>,
    selection: Selection,
    cx: SharedContext,
}

impl<K> Resource<K> {
    fn new(client: &Client, resource: ApiResource, selection: &Selection, form: Form<K>) -> Self {
        let namespace = selection.namespace.clone();
        Self {
            endpoint: Endpoint::new(client.clone(), resource, namespace, form),
            selection: selection.clone(),
            cx: SharedContext::new(),
        }
    }

    fn query(&self, request: impl IntoIterator<Item = (&'static str, String)>) -> QueryPairs {
        let Selection { labels, fields, .. } = &self.selection;
        let selectors = [
            ("labelSelector", labels.to_string()),
            ("fieldSelector", fields.to_string()),
        ];
        let pairs = selectors.into_iter().chain(request);
        pairs.filter(|(_, value)| !value.is_empty()).collect()
    }
}

/// Omits empty values from the query.
fn match_text(version_match: Option<VersionMatch>) -> String {
    version_match.map_or("", VersionMatch::as_str).to_owned()
}

fn flag(on: bool) -> String {
    if on { "true".to_owned() } else { String::new() }
}

fn end(metadata: ListMeta) -> ListEnd {
    ListEnd {
        resource_version: metadata.resource_version.into(),
        continue_token: metadata.continue_,
        remaining: metadata
            .remaining_item_count
            .and_then(|it| u64::try_from(it).ok()),
    }
}

impl<K: Object> ListerWatcher<K> for Resource<K> {
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<K>, FetchError>> {
        async move {
            let limit = if request.limit == 0 {
                String::new()
            } else {
                request.limit.to_string()
            };
            let query = self.query([
                ("resourceVersion", request.resource_version.to_string()),
                ("resourceVersionMatch", match_text(request.version_match)),
                ("limit", limit),
                ("continue", request.continue_token.to_string()),
            ]);
            let items = self.endpoint.list(&query, self.cx.clone(), 0).await?;
            let batches = items.map(|piece| match piece {
                Ok(Piece::Items(items)) => Ok(ListBatch::Items(items)),
                Ok(Piece::End(metadata)) => Ok(ListBatch::End(end(metadata))),
                Err(error) => Err(error.into()),
            });
            Ok(batches.boxed())
        }
        .boxed()
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<K>, FetchError>> {
        async move {
            let timeout = request.timeout.map_or_else(String::new, |timeout| {
                // Upstream counts in seconds; 0 would be its default.
                timeout.as_secs().max(1).to_string()
            });
            let query = self.query([
                ("watch", flag(true)),
                ("allowWatchBookmarks", flag(request.bookmarks)),
                ("sendInitialEvents", flag(request.send_initial_events)),
                ("resourceVersion", request.resource_version.to_string()),
                ("resourceVersionMatch", match_text(request.version_match)),
                ("timeoutSeconds", timeout),
            ]);
            let events = self.endpoint.watch(&query, self.cx.clone(), 0).await?;
            Ok(events.map(|batch| batch.map_err(FetchError::from)).boxed())
        }
        .boxed()
    }

    fn supports_streaming_list(&self) -> bool {
        self.endpoint.client.streaming_lists()
    }

    fn streaming_list_refused(&self) {
        self.endpoint.client.streaming_list_refused();
    }

    fn seed(&self) -> Option<u64> {
        self.endpoint.client.ambient().seed()
    }
}

impl Source for Client {
    fn lister_watcher<F: Ingest>(&self, selection: &Selection) -> Arc<dyn ListerWatcher<F>> {
        let resource = ApiResource::of::<F::Kind>();
        Arc::new(Resource::new(self, resource, selection, Form::of_kind()))
    }

    fn dynamic_lister_watcher<F: IngestAny>(
        &self,
        resource: &ApiResource,
        selection: &Selection,
    ) -> Arc<dyn ListerWatcher<F>> {
        Arc::new(Resource::new(
            self,
            resource.clone(),
            selection,
            Form::of_any_kind(),
        ))
    }
}
