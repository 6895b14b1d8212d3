//! A cluster of Pods with lists, watches, streaming lists and faults.

mod pods;

use bytes::Bytes;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::Str;
use kubist_apimachinery::wire::{DecodeContext, Wire as _};
use kubist_cache::FetchError;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
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
    /// Whether the server does not serve Pods.
    unserved: bool,
    /// Whether watches receive nothing.
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

/// Like [`pod`], in another namespace.
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

    /// Sets whether Pods are served.
    pub(crate) fn serve(&self, served: bool) {
        let mut state = self.state.lock();
        state.unserved = !served;
        if !served {
            let event = Event::Error(not_served());
            state.send_to_all(&event);
            state.watchers.clear();
        }
    }

    /// Sends a bookmark to every watch.
    pub(crate) fn bookmark(&self) {
        let mut state = self.state.lock();
        let event = Event::Bookmark(state.version, false);
        state.send_to_all(&event);
    }

    /// Stores data that is not a Pod but has a name.
    pub(crate) fn corrupt(&self, name: &str) {
        let mut state = self.state.lock();
        state.version += 1;
        let bytes = corrupt(name, state.version);
        let key = ("shop".into(), name.to_owned());
        state.objects.insert(key, bytes.clone());
        state.send("shop", &Event::Modified(bytes));
    }

    /// Deletes, and sends an event whose object cannot be decoded.
    pub(crate) fn delete_unreadably(&self, name: &str) {
        let mut state = self.state.lock();
        state.version += 1;
        let bytes = corrupt(name, state.version);
        state.objects.remove(&("shop".into(), name.to_owned()));
        state.send("shop", &Event::Deleted(bytes));
    }

    /// Deletes without an event.
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

    /// Keeps every watch open without further events, until it is cut.
    pub(crate) fn disconnect(&self) {
        self.state.lock().deaf = true;
    }

    /// Returns the Pods by namespace and name.
    pub(crate) fn pods(&self) -> Vec<Arc<Pod>> {
        let state = self.state.lock();
        let decoded = |bytes: &Bytes| Pod::from_protobuf(bytes, &mut DecodeContext::new());
        let pods = state
            .objects
            .values()
            .map(|it| Arc::new(decoded(it).expect("a Pod")));
        pods.collect()
    }

    /// Returns the number of open watches.
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

/// Encodes a Pod of which only the metadata can be decoded.
fn corrupt(name: &str, version: u64) -> Bytes {
    let mut pod = pod(name);
    pod.metadata.resource_version = version.to_string().into();
    let mut bytes = pod.to_protobuf();
    bytes.truncate(bytes.len() - 3);
    bytes.into()
}
