//! A cluster of Pods: lists, watches, streaming lists, and faults.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::ApiResource;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, Wire as _, scan};
use kubist_cache::{
    FetchError, IngestAny, InvalidItem, ListBatch, ListEnd, ListItem, ListRequest, ListStream,
    ListerWatcher, Selection, Source, WatchItem, WatchRequest, WatchStream,
};
use parking_lot::Mutex;
use tokio::sync::mpsc;

#[derive(Clone, Default)]
pub(crate) struct Cluster {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    version: u64,
    objects: BTreeMap<String, Bytes>,
    watchers: Vec<mpsc::Sender<Event>>,
    requests: Vec<String>,
}

#[derive(Clone)]
enum Event {
    Added(Bytes),
    Modified(Bytes),
    Deleted(Bytes),
    Bookmark(u64, bool),
    Error(FetchError),
}

pub(crate) fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.namespace = "shop".into();
    pod.metadata.uid = format!("uid-{name}").into();
    pod.spec.node_name = format!("node-{}", name.len() % 3).into();
    pod
}

impl Cluster {
    pub(crate) fn with(names: &[&str]) -> Self {
        let cluster = Self::default();
        for name in names {
            cluster.put(pod(name));
        }
        cluster
    }

    /// Creates or updates.
    pub(crate) fn put(&self, mut pod: Pod) {
        let mut state = self.state.lock();
        state.version += 1;
        pod.metadata.resource_version = state.version.to_string().into();
        let bytes = Bytes::from(pod.to_protobuf());
        let is_new = state
            .objects
            .insert(pod.metadata.name.to_string(), bytes.clone())
            .is_none();
        state.send(&if is_new {
            Event::Added(bytes)
        } else {
            Event::Modified(bytes)
        });
    }

    /// Puts something that is no Pod, though it has a name.
    pub(crate) fn corrupt(&self, name: &str) {
        let mut bytes = pod(name).to_protobuf();
        bytes.truncate(bytes.len() - 3);
        let mut state = self.state.lock();
        state.version += 1;
        let bytes = Bytes::from(bytes);
        state.objects.insert(name.to_owned(), bytes.clone());
        state.send(&Event::Modified(bytes));
    }

    pub(crate) fn delete(&self, name: &str) {
        let mut state = self.state.lock();
        state.version += 1;
        let version = state.version.to_string();
        let mut pod = state
            .objects
            .remove(name)
            .map_or_else(Pod::default, |bytes| {
                Pod::from_protobuf(&bytes, &mut DecodeContext::new()).expect("a Pod")
            });
        pod.metadata.resource_version = version.into();
        state.send(&Event::Deleted(pod.to_protobuf().into()));
    }

    /// Ends every watch.
    pub(crate) fn cut(&self, error: Option<FetchError>) {
        let mut state = self.state.lock();
        if let Some(error) = error {
            state.send(&Event::Error(error));
        }
        state.watchers.clear();
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.lock().requests.clone()
    }
}

impl State {
    fn send(&mut self, event: &Event) {
        self.watchers
            .retain(|watcher| watcher.try_send(event.clone()).is_ok());
    }
}

struct Pods<F> {
    cluster: Cluster,
    form: std::marker::PhantomData<fn() -> F>,
}

fn made<F: Ingest>(bytes: &Bytes) -> Result<F, InvalidItem> {
    F::ingest(bytes.clone(), Encoding::Protobuf, &mut DecodeContext::new()).map_err(|error| {
        InvalidItem {
            name: scan::name_in(bytes, Encoding::Protobuf),
            error,
        }
    })
}

struct Events<F> {
    receiver: mpsc::Receiver<Event>,
    form: std::marker::PhantomData<fn() -> F>,
}

impl<F: Ingest> futures_core::Stream for Events<F> {
    type Item = Result<Vec<WatchItem<F>>, FetchError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Poll::Ready(event) = self.receiver.poll_recv(cx) else {
            return Poll::Pending;
        };
        let object = |bytes: &Bytes, as_item: fn(F) -> WatchItem<F>| match made(bytes) {
            Ok(object) => as_item(object),
            Err(invalid) => WatchItem::Invalid(invalid),
        };
        Poll::Ready(event.map(|event| {
            Ok(vec![match &event {
                Event::Added(bytes) => object(bytes, WatchItem::Added),
                Event::Modified(bytes) => object(bytes, WatchItem::Modified),
                Event::Deleted(bytes) => object(bytes, WatchItem::Deleted),
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

/// Nothing in it is pinned.
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

impl<F: Ingest> ListerWatcher<F> for Pods<F> {
    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<F>, FetchError>> {
        let mut state = self.cluster.state.lock();
        state.requests.push("list".to_owned());
        let items = state.objects.values().map(|bytes| match made(bytes) {
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
        if request.send_initial_events {
            state.requests.push("stream".to_owned());
            for bytes in state.objects.values() {
                sender
                    .try_send(Event::Added(bytes.clone()))
                    .expect("there is room");
            }
            let end = Event::Bookmark(state.version, true);
            sender.try_send(end).expect("there is room");
        } else {
            state
                .requests
                .push(format!("watch@{}", request.resource_version));
        }
        state.watchers.push(sender);
        let events = Events {
            receiver,
            form: std::marker::PhantomData,
        };
        Box::pin(async { Ok(Box::pin(events) as WatchStream<F>) })
    }
}

impl Source for Cluster {
    fn lister_watcher<F: Ingest>(&self, _: &Selection) -> Arc<dyn ListerWatcher<F>> {
        Arc::new(Pods {
            cluster: self.clone(),
            form: std::marker::PhantomData,
        })
    }

    fn dynamic_lister_watcher<F: IngestAny>(
        &self,
        _: &ApiResource,
        _: &Selection,
    ) -> Arc<dyn ListerWatcher<F>> {
        panic!("these tests know their kind")
    }
}
