//! Projections in a store, as an informer holds them.

use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, encode};
use kubist_apimachinery::{LeanMeta, ManagedFieldsEntry, ObjectMeta, Str};
use kubist_cache::{Delta, Index, Indexer, drop_managed_fields};
use kubist_derive::Projection;
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Projection)]
#[projection(of = Pod)]
struct PodNode {
    #[projection(metadata)]
    meta: LeanMeta,
    #[projection("spec.nodeName")]
    node: Str,
}

#[derive(Clone, Debug, Default, Projection)]
#[projection(of = Pod)]
struct Named {
    #[projection(metadata)]
    meta: ObjectMeta,
}

fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.namespace = "shop".into();
    pod.metadata.labels = [("app".into(), "web".into())].into();
    pod.metadata.managed_fields = vec![ManagedFieldsEntry::default()];
    pod.spec.node_name = "node-7".into();
    pod
}

fn read<P: Ingest>(pod: &Pod, encoding: Encoding) -> P {
    let cx = &mut DecodeContext::new();
    P::ingest(encode(pod, encoding).into(), encoding, cx).expect("it was encoded here")
}

#[test]
fn caches_index_and_select_projections() {
    let mut indexer = Indexer::new();
    let by_node = indexer.add_index(Index::new("node", |pod: &PodNode, values| {
        values.push(&pod.node);
    }));
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let object: PodNode = read(&pod(&format!("{encoding:?}")), encoding);
        indexer.apply(Delta::Added(Arc::new(object)), &mut Vec::new());
    }
    indexer.publish();
    let lister = indexer.lister();
    let select = |labels: &str| lister.select(&labels.parse().expect("a selector")).len();
    assert_eq!(lister.by_index(&by_node, "node-7").len(), 2);
    assert_eq!((select("app=web"), select("app=other")), (2, 0));
}

#[test]
fn managed_fields_are_dropped_from_whole_metadata() {
    let mut named: Named = read(&pod("web"), Encoding::Protobuf);
    assert_eq!(named.meta.managed_fields.len(), 1);
    drop_managed_fields(&mut named);
    assert!(named.meta.managed_fields.is_empty());
}
