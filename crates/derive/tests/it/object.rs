//! A projection as an object of its kind.

use super::{PodNode, pod, read};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Encoding, Ingest};
use kubist_apimachinery::{ApiResource, Object, ObjectMeta, Resource};
use kubist_derive::Projection;

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
