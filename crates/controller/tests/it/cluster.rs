//! A source for informers, with objects that tests create and delete.

use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use futures_util::stream;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, KubeObject, ObjectName, OwnerReference};
use kubist_cache::{
    FetchError, IngestAny, ListBatch, ListEnd, ListItem, ListRequest, ListStream, ListerWatcher,
    Selection, Source, WatchItem, WatchRequest, WatchStream,
};
use parking_lot::Mutex;
use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The maximum number of pending watch events of one informer.
const EVENTS_MAX: usize = 10_000;

#[derive(Clone, Default)]
pub(crate) struct Cluster {
    kinds: Arc<Mutex<BTreeMap<TypeId, Box<dyn Any + Send>>>>,
}

struct State<K> {
    version: u64,
    objects: BTreeMap<ObjectName, K>,
    watchers: Vec<mpsc::Sender<WatchItem<K>>>,
    /// Whether lists hang.
    down: bool,
    /// Events that are held back, if any.
    held: Option<Vec<WatchItem<K>>>,
}

impl<K: Clone> State<K> {
    fn tell(&mut self, event: WatchItem<K>) {
        match &mut self.held {
            Some(held) => held.push(event),
            None => self
                .watchers
                .retain(|it| it.try_send(event.clone()).is_ok()),
        }
    }
}

impl<K> Default for State<K> {
    fn default() -> Self {
        Self {
            version: 0,
            objects: BTreeMap::new(),
            watchers: Vec::new(),
            down: false,
            held: None,
        }
    }
}

impl Cluster {
    fn with<K: 'static + Send, R>(&self, act: impl FnOnce(&mut State<K>) -> R) -> R {
        let mut kinds = self.kinds.lock();
        let objects = kinds
            .entry(TypeId::of::<K>())
            .or_insert_with(|| Box::new(State::<K>::default()));
        act(objects.downcast_mut().expect("the type is the key"))
    }

    /// Creates or updates; returns the object as a server does.
    pub(crate) fn put<K: KubeObject>(&self, mut object: K) -> K {
        self.with(|all: &mut State<K>| {
            all.version += 1;
            object.metadata_mut().resource_version = all.version.to_string().into();
            let old = all.objects.insert(object.object_name(), object.clone());
            let event = match old {
                None => WatchItem::Added(object.clone()),
                Some(_) => WatchItem::Modified(object.clone()),
            };
            all.tell(event);
            object
        })
    }

    /// Creates an object that the informers' selectors exclude: the version advances without an
    /// event.
    pub(crate) fn put_unselected<K: KubeObject>(&self, mut object: K) -> K {
        self.with(|all: &mut State<K>| {
            all.version += 1;
            object.metadata_mut().resource_version = all.version.to_string().into();
            object
        })
    }

    pub(crate) fn bookmark<K: KubeObject>(&self) {
        self.with(|all: &mut State<K>| {
            let resource_version = all.version.into();
            all.tell(WatchItem::Bookmark {
                resource_version,
                initial_events_end: false,
            });
        });
    }

    /// Holds back events from now on.
    pub(crate) fn hold<K: KubeObject>(&self) {
        self.with(|all: &mut State<K>| all.held = Some(Vec::new()));
    }

    /// Delivers the events that were held back.
    pub(crate) fn release<K: KubeObject>(&self) {
        self.with(|all: &mut State<K>| {
            for event in all.held.take().into_iter().flatten() {
                all.tell(event);
            }
        });
    }

    pub(crate) fn delete<K: KubeObject>(&self, namespace: &str, name: &str) {
        self.with(|all: &mut State<K>| {
            all.version += 1;
            if let Some(mut object) = all.objects.remove(&ObjectName::new(namespace, name)) {
                object.metadata_mut().resource_version = all.version.to_string().into();
                all.tell(WatchItem::Deleted(object));
            }
        });
    }

    /// Sets whether lists of the kind hang.
    pub(crate) fn set_down<K: KubeObject>(&self, down: bool) {
        self.with(|all: &mut State<K>| all.down = down);
    }
}

/// Returns an object in the namespace `shop`.
pub(crate) fn named<K: KubeObject + Default>(name: &str) -> K {
    let mut object = K::default();
    let metadata = object.metadata_mut();
    metadata.namespace = "shop".into();
    metadata.name = name.into();
    metadata.uid = format!("uid-{name}").into();
    object
}

/// Returns an object with a controller owner.
pub(crate) fn owned<K: KubeObject + Default>(name: &str, kind: &str, owner: &str) -> K {
    let mut object: K = named(name);
    object.metadata_mut().owner_references.push(OwnerReference {
        api_version: "apps/v1".into(),
        kind: kind.into(),
        name: owner.into(),
        uid: format!("uid-{owner}").into(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    });
    object
}

struct Kind<F> {
    cluster: Cluster,
    form: std::marker::PhantomData<fn() -> F>,
}

impl<F: Ingest + Clone> ListerWatcher<F> for Kind<F> {
    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<F>, FetchError>> {
        let listed = self.cluster.with(|all: &mut State<F>| {
            let items = all.objects.values().cloned().map(ListItem::Object);
            let end = ListEnd {
                resource_version: all.version.into(),
                ..ListEnd::default()
            };
            let batches = vec![
                Ok(ListBatch::Items(items.collect())),
                Ok(ListBatch::End(end)),
            ];
            (!all.down).then_some(batches)
        });
        Box::pin(async move {
            match listed {
                Some(batches) => Ok(stream::iter(batches).boxed()),
                None => std::future::pending().await,
            }
        })
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<F>, FetchError>> {
        let (sender, receiver) = mpsc::channel(EVENTS_MAX);
        self.cluster
            .with(|all: &mut State<F>| all.watchers.push(sender));
        let events = stream::unfold(receiver, |mut receiver| async {
            let event = receiver.recv().await?;
            Some((Ok(vec![event]), receiver))
        });
        Box::pin(async { Ok(events.boxed()) })
    }

    fn supports_streaming_list(&self) -> bool {
        false
    }
}

/// Only for decoded forms: others would need bytes.
impl Source for Cluster {
    fn lister_watcher<F: Ingest>(&self, _: &Selection) -> Arc<dyn ListerWatcher<F>> {
        decoded(self).expect("these tests use Deployments, ReplicaSets and Pods")
    }

    fn dynamic_lister_watcher<F: IngestAny>(
        &self,
        resource: &ApiResource,
        _: &Selection,
    ) -> Arc<dyn ListerWatcher<F>> {
        unreachable!("these tests know their kind, not {resource:?}")
    }
}

fn decoded<F: Ingest>(cluster: &Cluster) -> Option<Arc<dyn ListerWatcher<F>>> {
    use kubist_api::apps::v1::{Deployment, ReplicaSet};
    fn of<F: Ingest, K: KubeObject>(cluster: &Cluster) -> Option<Arc<dyn ListerWatcher<F>>> {
        let kind: Arc<dyn ListerWatcher<K>> = Arc::new(Kind {
            cluster: cluster.clone(),
            form: std::marker::PhantomData,
        });
        let kind: Box<dyn Any> = Box::new(kind);
        kind.downcast().ok().map(|it| *it)
    }
    of::<F, Deployment>(cluster)
        .or_else(|| of::<F, ReplicaSet>(cluster))
        .or_else(|| of::<F, kubist_api::core::v1::Pod>(cluster))
}
