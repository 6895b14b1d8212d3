//! A registry on its own engine, with a clock that does not advance by itself.

use kubist_admission::PluginSelection;
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{
    AnyObject, DeleteOptions, KubeObject, ListOptions, PostOptions, ResourceVersion, Status,
};
use kubist_registry::{
    Created, Deleted, ListPage, Registry, RegistryConfig, Replacement, RequestContext, Rest,
    RuntimeConfig, Stored, Updated, User, WallClock,
};
use kubist_storage::memory::MemoryKv;
use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// A clock that the test advances.
#[derive(Debug)]
pub(crate) struct TestClock(Mutex<Duration>);

impl WallClock for TestClock {
    fn now(&self) -> Duration {
        *self.0.lock()
    }
}

impl TestClock {
    pub(crate) fn advance(&self, seconds: u64) {
        *self.0.lock() += Duration::from_secs(seconds);
    }
}

/// The start time of the tests, in seconds since the epoch.
pub(crate) const START: i64 = 1_700_000_000;

pub(crate) struct Fixture {
    pub(crate) registry: Registry,
    pub(crate) kv: MemoryKv,
    pub(crate) clock: Arc<TestClock>,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// Returns a registry with a changed configuration.
    pub(crate) async fn with(set_up: impl FnOnce(&mut RegistryConfig)) -> Self {
        let kv = MemoryKv::default();
        let clock = Arc::new(TestClock(Mutex::new(Duration::from_secs(1_700_000_000))));
        let mut config = RegistryConfig::new(Arc::new(kv.clone()), kubist_kinds::BuiltIn::shared());
        config.clock = Arc::clone(&clock) as Arc<dyn WallClock>;
        config.seed = Some(7);
        config.runtime_config = RuntimeConfig::everything();
        config.admission = PluginSelection::default().chain(Vec::new());
        set_up(&mut config);
        let registry = Registry::new(config);
        registry.start().await.expect("nothing is in the way");
        Self {
            registry,
            kv,
            clock,
        }
    }

    pub(crate) fn cx(&self) -> RequestContext {
        self.registry.request(User::default())
    }

    pub(crate) fn rest(&self, group: &str, version: &str, plural: &str) -> Arc<Rest> {
        let found = self.registry.resource(group, version, plural);
        found.unwrap_or_else(|| panic!("{plural} are served"))
    }

    pub(crate) fn of<K: KubeObject>(&self) -> Arc<Rest> {
        self.rest(K::GROUP, K::VERSION, K::PLURAL)
    }

    pub(crate) async fn try_create<K: KubeObject>(&self, object: K) -> Result<Stored, Status> {
        let namespace = object.metadata().namespace.clone();
        let namespace = if namespace.is_empty() {
            "default".into()
        } else {
            namespace
        };
        self.create_in(&namespace, object, false).await
    }

    pub(crate) async fn create_in<K: KubeObject>(
        &self,
        namespace: &str,
        object: K,
        dry_run: bool,
    ) -> Result<Stored, Status> {
        let options = PostOptions {
            dry_run,
            ..PostOptions::default()
        };
        let (rest, cx) = (self.of::<K>(), self.cx());
        let created = rest.create(&cx, namespace, "", Box::new(object), &options);
        match created.await? {
            Created::Object(stored) => Ok(stored),
            Created::Status(status) => Err(*status),
        }
    }

    pub(crate) async fn create<K: KubeObject>(&self, object: K) -> K {
        typed(&self.try_create(object).await.expect("it is valid"))
    }

    pub(crate) async fn get<K: KubeObject>(&self, name: &str) -> Result<K, Status> {
        let rest = self.of::<K>();
        let any = ResourceVersion::default();
        let got = rest.get(&self.cx(), "default", name, &any).await;
        got.map(|stored| typed(&stored))
    }

    pub(crate) async fn put<K: KubeObject>(&self, object: K) -> Result<Updated, Status> {
        self.put_subresource("", object).await
    }

    /// Sends a PUT to a subresource.
    pub(crate) async fn put_subresource<K: KubeObject>(
        &self,
        subresource: &str,
        object: K,
    ) -> Result<Updated, Status> {
        let mut rest = (*self.of::<K>()).clone();
        if !subresource.is_empty() {
            rest = rest
                .subresource(subresource)
                .expect("it has such a subresource");
        }
        let name = object.metadata().name.clone();
        let replacement = Replacement(Box::new(object));
        let options = PostOptions::default();
        rest.update(&self.cx(), "default", &name, &replacement, &options)
            .await
    }

    pub(crate) async fn delete<K: KubeObject>(
        &self,
        name: &str,
        options: DeleteOptions,
    ) -> Result<Deleted, Status> {
        let rest = self.of::<K>();
        rest.delete(&self.cx(), "default", name, &options).await
    }

    pub(crate) async fn list<K: KubeObject>(&self, query: &str) -> Result<ListPage, Status> {
        let rest = self.of::<K>();
        rest.list(&self.cx(), "default", &options(query)).await
    }

    pub(crate) async fn names<K: KubeObject>(&self, query: &str) -> Vec<String> {
        names(&self.list::<K>(query).await.expect("the options are valid"))
    }
}

/// Parses list options from a query string.
pub(crate) fn options(query: &str) -> ListOptions {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    ListOptions::from_query(pairs).expect("the query is valid")
}

pub(crate) fn names(page: &ListPage) -> Vec<String> {
    let name = |stored: &Stored| stored.object().expect("readable").meta().name.to_string();
    page.items.iter().map(name).collect()
}

pub(crate) fn typed<K: KubeObject>(stored: &Stored) -> K {
    let object: &dyn AnyObject = &**stored.object().expect("readable");
    let object: &dyn Any = object;
    object.downcast_ref::<K>().expect("of this kind").clone()
}

/// Returns a config map with one label.
pub(crate) fn config_map(name: &str, label: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.name = name.into();
    if !label.is_empty() {
        object.metadata.labels.insert("k".into(), label.into());
    }
    object
}
