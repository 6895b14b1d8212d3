//! `Stack`: storage of pods over an engine, with or without a watch cache.

pub(crate) use super::engine::Engine;
use super::engine::Made;
pub(crate) use super::events::{describe, drain, take};
use super::faulty::Marked;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{AnyObject, GroupResource, ListOptions, Preconditions, Status};
use kubist_registry::cacher::{Cacher, CacherConfig};
use kubist_registry::storage::{
    Change, Changed, DeleteRequest, ListRequest, Listed, Outcome, PutOptions, Scope, Storage,
    StorageWatchRequest, UpdateRequest,
};
use kubist_registry::{
    BoxFuture, EventStream, KeyLayout, PlainStrategy, Predicate, RawStorage, StorageError, Stored,
    StoredCodec, StoredKind, Strategy, StrategyFacts,
};
use kubist_storage::{Expected, Kv, PutRequest, Revision};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;

/// Storage of pods over an engine.
pub(crate) struct Stack {
    pub(crate) kv: Arc<dyn Kv>,
    /// The prefix of all keys.
    pub(crate) root: String,
    pub(crate) keys: KeyLayout,
    pub(crate) raw: RawStorage,
    /// The storage under test: `raw`, or a cache over it.
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) cacher: Option<Cacher>,
    pub(crate) marked: Arc<Marked>,
    strategy: Arc<dyn Strategy>,
    resource: GroupResource,
    /// The address of the engine, if it is an etcd.
    pub(crate) etcd: Option<String>,
    _tasks: JoinSet<()>,
    _keep: Box<dyn Any + Send + Sync>,
}

impl Stack {
    pub(crate) async fn new(engine: Engine, cached: bool) -> Self {
        let mut tasks = JoinSet::new();
        let Made { kv, keep } = engine.make(&mut tasks);
        Self::over(kv, cached, tasks, keep).await
    }

    /// Creates a stack over an existing engine.
    pub(crate) async fn over(
        kv: Arc<dyn Kv>,
        cached: bool,
        tasks: JoinSet<()>,
        keep: Box<dyn Any + Send + Sync>,
    ) -> Self {
        let made = Made { kv, keep };
        Self::with_keys(made, "/registry", "pods", cached, tasks).await
    }

    /// Creates a stack on an etcd, below its own root.
    pub(crate) async fn on_etcd(
        kv: Arc<dyn Kv>,
        url: String,
        root: &str,
        cached: bool,
        tasks: JoinSet<()>,
    ) -> Self {
        let keep = Box::new(());
        let made = Made { kv, keep };
        let mut stack = Self::with_keys(made, root, "pods", cached, tasks).await;
        stack.etcd = Some(url);
        stack
    }

    /// Creates a stack of a cluster-scoped resource over the same engine.
    pub(crate) async fn cluster_scoped(&self) -> Self {
        let (kv, cached) = (Arc::clone(&self.kv), self.cacher.is_some());
        let keep = Box::new(());
        let made = Made { kv, keep };
        Self::with_keys(made, &self.root, "nodes", cached, JoinSet::new()).await
    }

    async fn with_keys(
        made: Made,
        root: &str,
        plural: &str,
        cached: bool,
        mut tasks: JoinSet<()>,
    ) -> Self {
        let Made { kv, keep } = made;
        let keys = KeyLayout::built_in(root, "", plural, plural == "pods");
        let kind = kubist_api::find_kind("", "v1", "Pod").expect("pods are built in");
        let marked = Arc::new(Marked::default());
        let codec = StoredCodec::new(StoredKind::plain(kind), keys.clone())
            .with_transformer(Arc::<Marked>::clone(&marked));
        let raw = RawStorage::new(Arc::clone(&kv), codec);
        let strategy: Arc<dyn Strategy> = Arc::new(PlainStrategy(StrategyFacts {
            selectable_fields: &["spec.nodeName"],
            ..StrategyFacts::PLAIN
        }));
        let mut config = CacherConfig::default();
        config.indexed_field = Some("spec.nodeName");
        let cacher = cached.then(|| Cacher::new(raw.clone(), Arc::clone(&strategy), config));
        if let Some(cacher) = cacher.clone() {
            let ready = cacher.clone();
            tasks.spawn(async move { cacher.run().await });
            ready.wait_until_ready().await;
        }
        let storage: Arc<dyn Storage> = match &cacher {
            Some(cacher) => Arc::new(cacher.clone()),
            None => Arc::new(raw.clone()),
        };
        Self {
            kv,
            root: root.to_owned(),
            keys,
            raw,
            storage,
            cacher,
            marked,
            strategy,
            resource: GroupResource::new("", "pods"),
            etcd: None,
            _tasks: tasks,
            _keep: keep,
        }
    }

    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        self.keys.key(namespace, name).expect("valid names")
    }

    pub(crate) async fn create(&self, namespace: &str, name: &str) -> Stored {
        self.create_pod(pod(namespace, name)).await
    }

    pub(crate) async fn create_pod(&self, pod: Pod) -> Stored {
        let key = self.key(&pod.metadata.namespace, &pod.metadata.name);
        let created = self
            .storage
            .create(key, Box::new(pod), PutOptions::default())
            .await;
        created.expect("nothing is there")
    }

    /// Changes an existing pod.
    pub(crate) async fn edit(
        &self,
        namespace: &str,
        name: &str,
        edit: impl FnMut(&mut Pod) + Send,
    ) -> Stored {
        let key = self.key(namespace, name);
        let mut change = edits(edit);
        let request = UpdateRequest::default();
        let outcome = self.storage.update(key, request, &mut change).await;
        outcome.expect("it exists").stored
    }

    pub(crate) async fn label(&self, namespace: &str, name: &str, value: &str) -> Stored {
        self.edit(namespace, name, |pod| {
            pod.metadata.labels.insert("k".into(), value.into());
        })
        .await
    }

    pub(crate) async fn delete(&self, namespace: &str, name: &str) -> Stored {
        let deleted = self.try_delete(namespace, name, DeleteRequest::default());
        deleted.await.expect("it exists")
    }

    pub(crate) async fn try_delete(
        &self,
        namespace: &str,
        name: &str,
        request: DeleteRequest<'_>,
    ) -> Result<Stored, StorageError> {
        let key = self.key(namespace, name);
        self.storage.delete(key, request, &|_| Ok(())).await
    }

    pub(crate) async fn get(&self, namespace: &str, name: &str) -> Option<Stored> {
        let key = self.key(namespace, name);
        self.storage.get(&key, None).await.expect("it can be read")
    }

    pub(crate) async fn list(&self, namespace: &str, query: &str) -> Result<Listed, Status> {
        self.list_in(&*self.storage, namespace, query).await
    }

    pub(crate) async fn list_in(
        &self,
        storage: &dyn Storage,
        namespace: &str,
        query: &str,
    ) -> Result<Listed, Status> {
        let options = options(query);
        let predicate = self.predicate(query);
        let request = ListRequest {
            resource: &self.resource,
            scope: Scope {
                namespace,
                name: None,
            },
            predicate: &predicate,
            options: &options,
        };
        storage.list(request).await
    }

    /// Returns the names in a list.
    pub(crate) async fn names(&self, namespace: &str, query: &str) -> Vec<String> {
        let listed = self.list(namespace, query).await;
        names(&listed.unwrap_or_else(|status| panic!("{query}: {status}")))
    }

    pub(crate) async fn watch(&self, namespace: &str, query: &str) -> EventStream {
        let watch = self.try_watch(&*self.storage, namespace, query).await;
        watch.unwrap_or_else(|status| panic!("{query}: {status}"))
    }

    pub(crate) async fn try_watch(
        &self,
        storage: &dyn Storage,
        namespace: &str,
        query: &str,
    ) -> Result<EventStream, Status> {
        self.watch_from(storage, namespace, query, false).await
    }

    /// Starts a watch whose initial events omit undecodable objects.
    pub(crate) async fn watch_skipping_unreadable(
        &self,
        namespace: &str,
        query: &str,
    ) -> EventStream {
        let watch = self.watch_from(&*self.storage, namespace, query, true);
        let watch = watch.await;
        watch.unwrap_or_else(|status| panic!("{query}: {status}"))
    }

    async fn watch_from(
        &self,
        storage: &dyn Storage,
        namespace: &str,
        query: &str,
        skip_unreadable: bool,
    ) -> Result<EventStream, Status> {
        let options = options(query);
        let predicate = self.predicate(query);
        let request = StorageWatchRequest {
            kind: self.raw.kind().kind,
            scope: Scope {
                namespace,
                name: None,
            },
            predicate: &predicate,
            options: &options,
            timeout: None,
            skip_unreadable,
        };
        storage.watch(request).await
    }

    fn predicate(&self, query: &str) -> Predicate {
        let options = options(query);
        let strategy = Arc::clone(&self.strategy);
        Predicate::new(options.label_selector, options.field_selector, strategy)
            .expect("the fields are known")
    }

    pub(crate) async fn head(&self) -> u64 {
        self.kv.revision().await.expect("it is open").0
    }

    /// Raises the engine's revision without touching pods.
    pub(crate) async fn bump(&self) -> u64 {
        let put = PutRequest::new("/elsewhere", "x", Expected::Any);
        let outcome = self.kv.put(put).await.expect("it is open");
        outcome.committed().expect("no condition").0
    }

    pub(crate) async fn compact(&self, revision: u64) {
        let compacted = self.kv.compact(Revision(revision)).await;
        compacted.expect("not ahead, and not twice");
    }

    /// Writes a value under a pod's key directly to the engine.
    pub(crate) async fn put_raw(&self, name: &str, value: &[u8]) -> u64 {
        let put = PutRequest::new(self.key("ns", name), value.to_vec(), Expected::Any);
        let outcome = self.kv.put(put).await.expect("it is open");
        outcome.committed().expect("no condition").0
    }

    /// Returns the stored value under a pod's key.
    pub(crate) async fn raw_value(&self, name: &str) -> bytes::Bytes {
        let got = self.kv.get(self.key("ns", name).as_bytes(), None).await;
        got.expect("it is open")
            .kv
            .expect("it exists")
            .value
            .clone()
    }
}

pub(crate) fn pod(namespace: &str, name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.namespace = namespace.into();
    pod.metadata.name = name.into();
    pod.metadata.uid = format!("uid-of-{name}").into();
    pod
}

pub(crate) fn names(listed: &Listed) -> Vec<String> {
    let name = |it: &Stored| {
        let meta = it.object().expect("readable").meta();
        format!("{}/{}", meta.namespace, meta.name)
    };
    listed.items.iter().map(name).collect()
}

/// A change that edits a pod, and counts its calls.
pub(crate) struct Edits<F> {
    edit: F,
    pub(crate) calls: usize,
}

pub(crate) fn edits<F: FnMut(&mut Pod) + Send>(edit: F) -> Edits<F> {
    Edits { edit, calls: 0 }
}

impl<F: FnMut(&mut Pod) + Send> Change for Edits<F> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            self.calls += 1;
            let mut pod = match current {
                None => pod("ns", "new"),
                Some(stored) => typed(stored),
            };
            (self.edit)(&mut pod);
            Ok(Changed::Write(Box::new(pod), PutOptions::default()))
        })
    }
}

pub(crate) fn typed(stored: &Stored) -> Pod {
    let object: &dyn AnyObject = &**stored.object().expect("readable");
    let object: &dyn Any = object;
    object.downcast_ref::<Pod>().expect("a pod").clone()
}

/// Counts the calls of a delete's check.
#[derive(Default)]
pub(crate) struct Calls(AtomicUsize);

impl Calls {
    pub(crate) fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

pub(crate) fn uid(uid: &str) -> Preconditions {
    Preconditions {
        uid: Some(uid.into()),
        resource_version: None,
    }
}

pub(crate) fn outcome(result: Result<Outcome, StorageError>) -> Outcome {
    result.expect("it works")
}

/// Parses list options from a query string.
pub(crate) fn options(query: &str) -> ListOptions {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    ListOptions::from_query(pairs).expect("the query is valid")
}
