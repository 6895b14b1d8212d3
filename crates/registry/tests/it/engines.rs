//! Resources in engines of their own: where they are stored, and that a namespace guards what is
//! created in it even then.

use kubist_api::core::v1::{ConfigMap, Namespace};
use kubist_apimachinery::{AnyObject, GroupResource, ListOptions, PostOptions, Status};
use kubist_registry::{PlainKinds, Registry, RegistryConfig, User};
use kubist_storage::memory::MemoryKv;
use kubist_storage::{
    DeleteRequest, Expected, Kv, KvFuture, KvRead as _, KvWrapper, PutRequest, WriteError,
    WriteOutcome,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

const NAMESPACE_KEY: &[u8] = b"/registry/namespaces/team";
const MAP_KEY: &[u8] = b"/registry/configmaps/team/settings";

/// What happens in the main engine while a config map is written.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    /// The namespace is deleted.
    Deleted,
    /// The same, and the write waits to be released before its guard is read again.
    DeletedLater,
}

/// The engine of config maps. Its writes are accompanied by what happens elsewhere.
#[derive(Debug)]
struct Accompanied {
    own: MemoryKv,
    main: MemoryKv,
    meanwhile: Meanwhile,
    written: Notify,
    released: Notify,
}

impl KvWrapper for Accompanied {
    fn inner(&self) -> &dyn Kv {
        &self.own
    }

    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(async move {
            let outcome = self.own.put_now(request).await?;
            if let Meanwhile::Nothing = self.meanwhile {
                return Ok(outcome);
            }
            self.main.delete_now(NAMESPACE_KEY).await?;
            if let Meanwhile::DeletedLater = self.meanwhile {
                self.written.notify_one();
                self.released.notified().await;
            }
            Ok(outcome)
        })
    }
}

trait Now {
    async fn put_now(&self, request: PutRequest) -> Result<WriteOutcome, WriteError>;
    async fn delete_now(&self, key: &'static [u8]) -> Result<WriteOutcome, WriteError>;
    async fn has(&self, key: &[u8]) -> bool;
}

impl Now for MemoryKv {
    async fn put_now(&self, request: PutRequest) -> Result<WriteOutcome, WriteError> {
        kubist_storage::KvWrite::put(self, request).await
    }

    async fn delete_now(&self, key: &'static [u8]) -> Result<WriteOutcome, WriteError> {
        let request = DeleteRequest::new(key, Expected::Any);
        kubist_storage::KvWrite::delete(self, request).await
    }

    async fn has(&self, key: &[u8]) -> bool {
        let found = self.get(key, None).await.expect("it is open");
        found.kv.is_some()
    }
}

struct World {
    registry: Registry,
    apart: Arc<Accompanied>,
}

async fn world(meanwhile: Meanwhile) -> World {
    let main = MemoryKv::default();
    let apart = Arc::new(Accompanied {
        own: MemoryKv::default(),
        main: main.clone(),
        meanwhile,
        written: Notify::new(),
        released: Notify::new(),
    });
    let mut config = RegistryConfig::new(Arc::new(main), Arc::new(PlainKinds));
    let config_maps = GroupResource::new("", "configmaps");
    config.engines = vec![(config_maps, Arc::clone(&apart) as Arc<dyn Kv>)];
    let registry = Registry::new(config);
    registry.start().await.expect("the engines are empty");
    let mut namespace = Namespace::default();
    namespace.metadata.name = "team".into();
    create(&registry, "namespaces", "", Box::new(namespace))
        .await
        .expect("it is new");
    World { registry, apart }
}

/// Creates an object of a core resource.
pub(crate) async fn create(
    registry: &Registry,
    plural: &str,
    namespace: &str,
    object: Box<dyn AnyObject>,
) -> Result<(), Status> {
    let rest = registry.resource("", "v1", plural).expect("it is served");
    let cx = registry.request(User::default());
    let options = PostOptions::default();
    let created = rest.create(&cx, namespace, "", object, &options);
    created.await.map(drop)
}

async fn create_map(registry: &Registry) -> Result<(), Status> {
    let mut map = ConfigMap::default();
    map.metadata.name = "settings".into();
    create(registry, "configmaps", "team", Box::new(map)).await
}

#[tokio::test]
async fn a_resource_is_stored_in_its_own_engine() {
    let world = world(Meanwhile::Nothing).await;
    create_map(&world.registry).await.expect("it is valid");
    assert!(world.apart.own.has(MAP_KEY).await);
    assert!(!world.apart.main.has(MAP_KEY).await);
    assert!(world.apart.main.has(NAMESPACE_KEY).await);
    let rest = world.registry.resource("", "v1", "configmaps");
    let cx = world.registry.request(User::default());
    let listed = rest.expect("it is served");
    let listed = listed.list(&cx, "team", &ListOptions::default()).await;
    assert_eq!(listed.expect("it answers").items.len(), 1);
    let sizes = world.registry.storage_bytes().await.expect("both answer");
    assert_eq!(sizes.len(), 2);
}

#[tokio::test]
async fn a_create_whose_namespace_was_deleted_meanwhile_is_taken_back() {
    let world = world(Meanwhile::Deleted).await;
    let failed = create_map(&world.registry).await.expect_err("it is gone");
    assert_eq!(failed.code, 404, "{}", failed.message);
    assert!(!world.apart.own.has(MAP_KEY).await);
}

#[tokio::test(start_paused = true)]
async fn it_is_taken_back_even_if_nobody_waits_for_the_answer() {
    let world = world(Meanwhile::DeletedLater).await;
    let request = create_map(&world.registry);
    assert!(timeout(Duration::from_secs(1), request).await.is_err());
    world.apart.written.notified().await;
    assert!(world.apart.own.has(MAP_KEY).await, "it is written");
    world.apart.released.notify_one();
    while world.apart.own.has(MAP_KEY).await {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_backup_of_two_engines_is_refused() {
    let world = world(Meanwhile::Nothing).await;
    let failed = world.registry.snapshot().await.expect_err("there are two");
    assert_eq!(failed.code, 400);
    assert!(failed.message.contains("configmaps"), "{}", failed.message);
}
