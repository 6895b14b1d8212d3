//! A projection in a cache, as an informer holds it.

use super::{BOTH, PodNode, pod, read};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Encoding, Ingest};
use kubist_apimachinery::{ApiResource, Object, ObjectMeta, Resource};
use kubist_cache::{Delta, Index, Indexer, drop_managed_fields};
use kubist_derive::Projection;
use std::sync::Arc;

#[derive(Clone, Debug, Default, Projection)]
#[projection(of = Pod)]
struct Named {
    #[projection(metadata)]
    meta: ObjectMeta,
}

#[test]
fn a_projection_is_an_object_of_its_kind() {
    let found: PodNode = read(&pod(), Encoding::Protobuf).unwrap();
    assert_eq!(found.object_name().to_string(), "shop/web-0");
    assert_eq!((found.uid(), found.resource_version()), ("u-1", "7"));
    assert_eq!(found.owners().controller().unwrap().uid, "u-9");
    assert!(found.annotations().is_empty() && !found.is_terminating());
    assert_eq!((PodNode::KIND, PodNode::PLURAL), ("Pod", "pods"));
    assert_eq!(
        ApiResource::of::<<PodNode as Ingest>::Kind>(),
        ApiResource::of::<Pod>()
    );
}

#[test]
fn only_one_without_other_fields_than_metadata_asks_servers_for_metadata() {
    const { assert!(Named::METADATA_ONLY && !PodNode::METADATA_ONLY) }
}

#[test]
fn caches_index_and_select_projections() {
    let mut indexer = Indexer::new();
    let by_node = indexer.add_index(Index::new("node", |pod: &PodNode, values| {
        values.push(&pod.node);
    }));
    for encoding in BOTH {
        let mut pod = pod();
        pod.metadata.name = format!("{encoding:?}").into();
        let object: PodNode = read(&pod, encoding).unwrap();
        indexer.apply(Delta::Added(Arc::new(object)), &mut Vec::new());
    }
    indexer.publish();
    let lister = indexer.lister();
    assert_eq!(lister.by_index(&by_node, "node-7").len(), 2);
    assert_eq!(lister.select(&"app=web".parse().unwrap()).len(), 2);
    assert_eq!(lister.select(&"app=other".parse().unwrap()).len(), 0);
}

#[test]
fn managed_fields_go_from_whole_metadata() {
    let mut pod = pod();
    pod.metadata.managed_fields = vec![kubist_apimachinery::ManagedFieldsEntry::default()];
    let mut named: Named = read(&pod, Encoding::Protobuf).unwrap();
    assert_eq!(named.meta.managed_fields.len(), 1);
    drop_managed_fields(&mut named);
    assert!(named.meta.managed_fields.is_empty());
}
