//! `Pods`: lists and watches the cluster's Pods in any stored form, as a client does.

use super::{Cluster, Event, State, Watcher, not_served};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, Wire as _, WireError, scan};
use kubist_apimachinery::{ApiResource, Object, Str};
use kubist_cache::{
    EventType, FetchError, IngestAny, InvalidEvent, InvalidItem, ListBatch, ListEnd, ListItem,
    ListRequest, ListStream, ListerWatcher, Selection, Source, WatchItem, WatchRequest,
    WatchStream,
};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Creates the stored form from a Pod's bytes.
type Make<F> = Arc<dyn Fn(&Bytes) -> Result<F, WireError> + Send + Sync>;

struct Pods<F> {
    cluster: Cluster,
    namespace: Option<Str>,
    make: Make<F>,
}

impl<F> Pods<F> {
    fn selected<'a>(&self, state: &'a State) -> impl Iterator<Item = &'a Bytes> + use<'a, F> {
        let namespace = self.namespace.clone();
        let selected = move |it: &Str| namespace.as_ref().is_none_or(|ns| ns == it);
        state
            .objects
            .iter()
            .filter(move |((namespace, _), _)| selected(namespace))
            .map(|(_, bytes)| bytes)
    }
}

fn made<F>(make: &Make<F>, bytes: &Bytes) -> Result<F, InvalidItem> {
    make(bytes).map_err(|error| InvalidItem {
        name: scan::name_in(bytes, Encoding::Protobuf),
        error,
    })
}

/// Converts an undecodable event as a client does.
fn unread<F>(event: EventType, bytes: &Bytes, item: InvalidItem) -> WatchItem<F> {
    WatchItem::Invalid(InvalidEvent {
        event: Some(event),
        resource_version: scan::version_in(bytes, Encoding::Protobuf).unwrap_or_default(),
        item,
    })
}

struct Events<F> {
    receiver: mpsc::Receiver<(Str, Event)>,
    make: Make<F>,
}

impl<F: Object> futures_core::Stream for Events<F> {
    type Item = Result<Vec<WatchItem<F>>, FetchError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Poll::Ready(event) = self.receiver.poll_recv(cx) else {
            return Poll::Pending;
        };
        let object = |bytes: &Bytes, event: EventType, as_item: fn(F) -> WatchItem<F>| {
            made(&self.make, bytes).map_or_else(|item| unread(event, bytes, item), as_item)
        };
        Poll::Ready(event.map(|(_, event)| {
            Ok(vec![match &event {
                Event::Added(bytes) => object(bytes, EventType::Added, WatchItem::Added),
                Event::Modified(bytes) => object(bytes, EventType::Modified, WatchItem::Modified),
                Event::Deleted(bytes) => object(bytes, EventType::Deleted, WatchItem::Deleted),
                Event::Bookmark(version, initial_events_end) => WatchItem::Bookmark {
                    resource_version: (*version).into(),
                    initial_events_end: *initial_events_end,
                },
                Event::Error(error) => return Err(error.clone()),
            }])
        }))
    }
}

struct Once<T>(Vec<T>);

/// No field is pinned.
impl<T> Unpin for Once<T> {}

impl<T> futures_core::Stream for Once<T> {
    type Item = T;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<T>> {
        Poll::Ready(if self.0.is_empty() {
            None
        } else {
            Some(self.0.remove(0))
        })
    }
}

impl<F: Object> ListerWatcher<F> for Pods<F> {
    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<F>, FetchError>> {
        let mut state = self.cluster.state.lock();
        state.requests.push("list".to_owned());
        if state.unserved {
            return Box::pin(async { Err(not_served()) });
        }
        let items = self
            .selected(&state)
            .map(|bytes| match made(&self.make, bytes) {
                Ok(object) => ListItem::Object(object),
                Err(invalid) => ListItem::Invalid(invalid),
            });
        let items = ListBatch::Items(items.collect());
        let resource_version = state.version.into();
        let end = ListBatch::End(ListEnd {
            resource_version,
            ..ListEnd::default()
        });
        Box::pin(async { Ok(Box::pin(Once(vec![Ok(items), Ok(end)])) as ListStream<F>) })
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<F>, FetchError>> {
        let mut state = self.cluster.state.lock();
        let (sender, receiver) = mpsc::channel(100_000);
        let send = |event| {
            let item = (Str::default(), event);
            sender.try_send(item).expect("there is room");
        };
        let request = if request.send_initial_events {
            for bytes in self.selected(&state) {
                send(Event::Added(bytes.clone()));
            }
            send(Event::Bookmark(state.version, true));
            "stream".to_owned()
        } else {
            let since = request.resource_version.to_u64().expect("a number");
            let in_scope = |it: &Str| self.namespace.as_ref().is_none_or(|ns| ns == it);
            for (version, namespace, event) in &state.history {
                if *version > since && in_scope(namespace) {
                    send(event.clone());
                }
            }
            format!("watch@{}", request.resource_version)
        };
        state.requests.push(request);
        if state.unserved {
            return Box::pin(async { Err(not_served()) });
        }
        state.watchers.push(Watcher {
            namespace: self.namespace.clone(),
            sender,
        });
        let make = Arc::clone(&self.make);
        let events = Events { receiver, make };
        Box::pin(async { Ok(Box::pin(events) as WatchStream<F>) })
    }
}

impl Source for Cluster {
    fn lister_watcher<F: Ingest>(&self, selection: &Selection) -> Arc<dyn ListerWatcher<F>> {
        Arc::new(Pods {
            cluster: self.clone(),
            namespace: selection.namespace.clone(),
            make: Arc::new(|bytes| {
                F::ingest(bytes.clone(), Encoding::Protobuf, &mut DecodeContext::new())
            }),
        })
    }

    fn dynamic_lister_watcher<F: IngestAny>(
        &self,
        resource: &ApiResource,
        selection: &Selection,
    ) -> Arc<dyn ListerWatcher<F>> {
        let resource = resource.clone();
        assert_eq!((&*resource.kind, &*resource.plural), ("Pod", "pods"));
        Arc::new(Pods {
            cluster: self.clone(),
            namespace: selection.namespace.clone(),
            make: Arc::new(move |bytes| {
                let cx = &mut DecodeContext::new();
                let json = Pod::from_protobuf(bytes, cx)?.to_json();
                F::ingest_any(json.into(), Encoding::Json, &resource, cx)
            }),
        })
    }
}
