//! A cluster of Pods: lists, watches, streaming lists, and faults.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

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
use parking_lot::Mutex;
use tokio::sync::mpsc;

#[derive(Clone, Default)]
pub(crate) struct Cluster {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    version: u64,
    objects: BTreeMap<(Str, String), Bytes>,
    watchers: Vec<Watcher>,
    /// Every event, with its version, for watches that resume.
    history: Vec<(u64, Str, Event)>,
    requests: Vec<String>,
    /// The server does not serve Pods.
    unserved: bool,
    /// Watches are told nothing.
    deaf: bool,
}

struct Watcher {
    namespace: Option<Str>,
    sender: mpsc::Sender<(Str, Event)>,
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

/// As [`pod`], in another namespace.
pub(crate) fn pod_in(namespace: &str, name: &str) -> Pod {
    let mut pod = pod(name);
    pod.metadata.namespace = namespace.into();
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
        let (namespace, name) = (
            pod.metadata.namespace.clone(),
            pod.metadata.name.to_string(),
        );
        let is_new = state
            .objects
            .insert((namespace.clone(), name), bytes.clone())
            .is_none();
        let event = if is_new {
            Event::Added(bytes)
        } else {
            Event::Modified(bytes)
        };
        state.send(&namespace, &event);
    }

    /// Whether Pods are served from now on.
    pub(crate) fn serve(&self, served: bool) {
        let mut state = self.state.lock();
        state.unserved = !served;
        if !served {
            let event = Event::Error(not_served());
            state.send_to_all(&event);
            state.watchers.clear();
        }
    }

    /// Tells every watch that nothing else happened.
    pub(crate) fn bookmark(&self) {
        let mut state = self.state.lock();
        let event = Event::Bookmark(state.version, false);
        state.send_to_all(&event);
    }

    /// Puts something that is no Pod, though it has a name.
    pub(crate) fn corrupt(&self, name: &str) {
        let mut state = self.state.lock();
        state.version += 1;
        let bytes = corrupt(name, state.version);
        let key = ("shop".into(), name.to_owned());
        state.objects.insert(key, bytes.clone());
        state.send("shop", &Event::Modified(bytes));
    }

    /// Deletes, and tells so with an object that cannot be read.
    pub(crate) fn delete_unreadably(&self, name: &str) {
        let mut state = self.state.lock();
        state.version += 1;
        let bytes = corrupt(name, state.version);
        state.objects.remove(&("shop".into(), name.to_owned()));
        state.send("shop", &Event::Deleted(bytes));
    }

    /// Deletes, and tells nobody.
    pub(crate) fn delete_quietly(&self, name: &str) {
        let mut state = self.state.lock();
        state.version += 1;
        state.objects.remove(&("shop".into(), name.to_owned()));
    }

    pub(crate) fn delete(&self, name: &str) {
        self.delete_in("shop", name);
    }

    pub(crate) fn delete_in(&self, namespace: &str, name: &str) {
        let mut state = self.state.lock();
        let key = (namespace.into(), name.to_owned());
        let Some(bytes) = state.objects.remove(&key) else {
            return;
        };
        state.version += 1;
        let version = state.version.to_string();
        let mut pod = Pod::from_protobuf(&bytes, &mut DecodeContext::new()).unwrap_or_default();
        pod.metadata.namespace = key.0;
        pod.metadata.name = key.1.into();
        pod.metadata.resource_version = version.into();
        state.send(namespace, &Event::Deleted(pod.to_protobuf().into()));
    }

    /// Ends every watch.
    pub(crate) fn cut(&self, error: Option<FetchError>) {
        let mut state = self.state.lock();
        state.deaf = false;
        if let Some(error) = error {
            state.send_to_all(&Event::Error(error));
        }
        state.watchers.clear();
    }

    /// Every watch stays open and is told nothing more, until it is cut.
    pub(crate) fn disconnect(&self) {
        self.state.lock().deaf = true;
    }

    /// What there is, by namespace and name.
    pub(crate) fn pods(&self) -> Vec<Arc<Pod>> {
        let state = self.state.lock();
        let decoded = |bytes: &Bytes| Pod::from_protobuf(bytes, &mut DecodeContext::new());
        let pods = state
            .objects
            .values()
            .map(|it| Arc::new(decoded(it).expect("a Pod")));
        pods.collect()
    }

    /// How many watches are open.
    pub(crate) fn watchers(&self) -> usize {
        let mut state = self.state.lock();
        state.watchers.retain(|it| !it.sender.is_closed());
        state.watchers.len()
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.lock().requests.clone()
    }
}

impl State {
    fn send(&mut self, namespace: &str, event: &Event) {
        self.history
            .push((self.version, namespace.into(), event.clone()));
        let deaf = self.deaf;
        let in_scope = |it: &Watcher| it.namespace.as_ref().is_none_or(|it| **it == *namespace);
        let concerns = |it: &Watcher| !deaf && in_scope(it);
        self.watchers.retain(|watcher| {
            let item = (namespace.into(), event.clone());
            !concerns(watcher) || watcher.sender.try_send(item).is_ok()
        });
    }

    fn send_to_all(&mut self, event: &Event) {
        let item = || (Str::default(), event.clone());
        self.watchers
            .retain(|it| it.sender.try_send(item()).is_ok());
    }
}

fn not_served() -> FetchError {
    FetchError::NotServed {
        message: "the server could not find the requested resource".into(),
    }
}

/// Makes the held form of a Pod's bytes.
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

/// The bytes of a Pod whose metadata is all that can be read.
fn corrupt(name: &str, version: u64) -> Bytes {
    let mut pod = pod(name);
    pod.metadata.resource_version = version.to_string().into();
    let mut bytes = pod.to_protobuf();
    bytes.truncate(bytes.len() - 3);
    bytes.into()
}

/// As a client tells of it.
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
