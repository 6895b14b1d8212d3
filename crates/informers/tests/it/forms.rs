//! Custom stored forms through a whole informer: lean encoded objects and projections.

use crate::cluster::{Cluster, pod};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{LAST_APPLIED, LeanMeta, ManagedFieldsEntry, Object as _, Str};
use kubist_cache::{Encoded, Index, drop_managed_fields};
use kubist_derive::Projection;
use kubist_informers::{KindConfig, SharedInformerFactory};
use std::sync::Arc;

fn managed(name: &str) -> Pod {
    let mut pod = pod(name);
    pod.metadata.annotations = [(LAST_APPLIED.into(), "{}".into())].into();
    pod.metadata.managed_fields = vec![ManagedFieldsEntry::default()];
    pod
}

fn factory<F: Ingest>(cluster: &Cluster) -> SharedInformerFactory<Cluster> {
    let factory = SharedInformerFactory::new(cluster.clone());
    factory.configure::<F>(KindConfig {
        transform: Some(Arc::new(drop_managed_fields)),
        ..KindConfig::default()
    });
    factory
}

/// Contract CACHE-19.
#[tokio::test(start_paused = true)]
async fn encoded_objects_come_in_without_managed_fields_by_list_and_by_watch() {
    let cluster = Cluster::default();
    cluster.put(managed("listed"));
    let factory = factory::<Encoded<Pod>>(&cluster);
    let informer = factory.informer::<Encoded<Pod>>();
    let by_node = informer.add_index(Index::field("spec.nodeName"));
    factory.start();
    let lister = informer.synced().await.expect("it runs");
    cluster.put(managed("watched"));
    while lister.len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(lister.by_index(&by_node, "node-0").len(), 1);
    assert_eq!(informer.stats().full_decodes, 0);
    for object in lister.list() {
        let decoded = object.decode().expect("a Pod");
        assert!(
            decoded.metadata.managed_fields.is_empty(),
            "{}",
            object.name()
        );
        assert!(decoded.metadata.annotations.is_empty(), "{}", object.name());
        assert!(!decoded.spec.node_name.is_empty());
    }
    assert_eq!(informer.stats().full_decodes, 2, "the count counts");
    factory.shutdown().await;
}

#[derive(Clone, Debug, Default, Projection)]
#[projection(of = Pod)]
struct PodNode {
    #[projection(metadata)]
    meta: LeanMeta,
    #[projection("spec.nodeName")]
    node: Str,
}

#[tokio::test(start_paused = true)]
async fn an_informer_holds_projections() {
    let cluster = Cluster::default();
    cluster.put(managed("listed"));
    let factory = factory::<PodNode>(&cluster);
    let informer = factory.informer::<PodNode>();
    let by_node = informer.add_index(Index::new("node", |pod: &PodNode, values| {
        values.push(&pod.node);
    }));
    factory.start();
    let lister = informer.synced().await.expect("it runs");
    cluster.put(managed("watched"));
    while lister.len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(lister.by_index(&by_node, "node-0")[0].meta.name, "listed");
    assert_eq!(lister.by_index(&by_node, "node-1")[0].meta.name, "watched");
    factory.shutdown().await;
}
