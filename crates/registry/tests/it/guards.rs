//! What a create is judged by: a watch cache permits it without a read, and a cache of the past
//! does not.

use crate::engines::create;
use crate::storage::gate::Gate;
use kubist_api::core::v1::{ConfigMap, Namespace};
use kubist_apimachinery::Status;
use kubist_registry::admission::{AdmissionChain, AdmissionPlugin, Attributes, Target};
use kubist_registry::storage::WatchCacheConfig;
use kubist_registry::{BoxFuture, PlainKinds, Registry, RegistryConfig};
use kubist_storage::memory::MemoryKv;
use kubist_storage::{DeleteRequest, Expected, KvRead as _, KvWrite as _};
use std::sync::Arc;
use std::time::Duration;

/// A server with watch caches, whose namespace `team` is in them.
async fn cached() -> (Registry, Gate, MemoryKv) {
    cached_with(AdmissionChain::default()).await
}

/// Refuses `ConfigMap`s beside one of the name `last`.
#[derive(Debug)]
struct Looks;

impl AdmissionPlugin for Looks {
    fn name(&self) -> &'static str {
        "Looks"
    }

    fn admits(&self) -> bool {
        false
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.is("", "configmaps")
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let objects = attributes.objects();
            let all = objects.list("", "configmaps", "team").await?;
            if all.iter().any(|it| it.meta().name == "last") {
                return Err(attributes.forbidden("the last one is there"));
            }
            let missing = objects.get("", "configmaps", "team", "missing").await?;
            assert!(missing.is_none());
            Ok(())
        })
    }
}

async fn cached_with(admission: AdmissionChain) -> (Registry, Gate, MemoryKv) {
    let kv = MemoryKv::default();
    let gate = Gate::new(Arc::new(kv.clone()));
    let mut config = RegistryConfig::new(Arc::new(gate.clone()), Arc::new(PlainKinds));
    config.watch_cache = WatchCacheConfig::everywhere();
    config.admission = admission;
    let registry = Registry::new(config);
    registry.start().await.expect("the engine is empty");
    let mut namespace = Namespace::default();
    namespace.metadata.name = "team".into();
    let created = create(&registry, "namespaces", "", Box::new(namespace)).await;
    created.expect("it is new");
    for number in 0.. {
        let before = gate.reads();
        let created = create_map(&registry, &format!("warm-{number}")).await;
        created.expect("it is new");
        if gate.reads() == before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    (registry, gate, kv)
}

async fn create_map(registry: &Registry, name: &str) -> Result<(), Status> {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    create(registry, "configmaps", "team", Box::new(map)).await
}

#[tokio::test]
async fn a_create_in_a_cached_namespace_reads_nothing() {
    let (registry, gate, _) = cached().await;
    let before = gate.reads();
    for number in 0..10 {
        let created = create_map(&registry, &format!("map-{number}")).await;
        created.expect("it is new");
    }
    assert_eq!(gate.reads(), before);
}

#[tokio::test]
async fn what_admission_looks_up_reads_nothing_and_sees_what_was_written_here() {
    let (registry, gate, _) = cached_with(AdmissionChain::new(vec![Arc::new(Looks)])).await;
    let before = gate.reads();
    for number in 0..10 {
        let created = create_map(&registry, &format!("map-{number}")).await;
        created.expect("it is new");
    }
    create_map(&registry, "last").await.expect("it is new");
    let refused = create_map(&registry, "next").await;
    assert_eq!(refused.expect_err("it is seen at once").code, 403);
    assert_eq!(gate.reads(), before);
}

#[tokio::test]
async fn a_namespace_that_only_the_cache_still_has_permits_nothing() {
    let (registry, gate, kv) = cached().await;
    gate.hold(true);
    let key = b"/registry/namespaces/team".as_slice();
    let deleted = kv.delete(DeleteRequest::new(key, Expected::Any)).await;
    deleted.expect("it exists");
    let refused = create_map(&registry, "late").await.expect_err("it is gone");
    assert_eq!(refused.code, 404, "{}", refused.message);
    let late = kv.get(b"/registry/configmaps/team/late", None).await;
    assert!(late.expect("it is open").kv.is_none());
}

#[tokio::test]
async fn a_namespace_that_the_cache_does_not_have_yet_permits_what_is_created_in_it() {
    let (registry, gate, _) = cached().await;
    gate.hold(true);
    let mut namespace = Namespace::default();
    namespace.metadata.name = "new".into();
    let created = create(&registry, "namespaces", "", Box::new(namespace)).await;
    created.expect("it is new");
    let mut map = ConfigMap::default();
    map.metadata.name = "first".into();
    let created = create(&registry, "configmaps", "new", Box::new(map)).await;
    created.expect("its namespace exists");
}
