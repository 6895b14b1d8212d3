//! References to objects in every form.

use kubist_api::core::v1::{Node, ObjectReference, Pod};
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, Wire as _};
use kubist_apimachinery::{ApiResource, LeanMeta, Str, Unstructured};
use kubist_derive::Projection;

/// Some fields of a Pod.
#[derive(Clone, Debug, Default, Projection)]
#[projection(of = Pod)]
struct PodNode {
    #[projection(metadata)]
    meta: LeanMeta,
    #[projection("spec.nodeName")]
    node: Str,
}

fn decoded<K: Ingest>(json: &str) -> ObjectReference {
    let bytes = json.as_bytes().to_vec().into();
    let object = K::ingest(bytes, Encoding::Json, &mut DecodeContext::new());
    ObjectReference::of(&object.expect("it is a valid object"))
}

#[test]
fn an_object_in_any_form_has_the_same_reference() {
    let mut pod = Pod::default();
    pod.metadata.namespace = "shop".into();
    pod.metadata.name = "web".into();
    pod.metadata.uid = "u".into();
    pod.metadata.resource_version = "7".into();
    let expected = ObjectReference {
        kind: "Pod".into(),
        api_version: "v1".into(),
        namespace: "shop".into(),
        name: "web".into(),
        uid: "u".into(),
        resource_version: "7".into(),
        ..ObjectReference::default()
    };
    assert_eq!(ObjectReference::of(&pod), expected);
    let json = String::from_utf8(pod.to_json()).expect("JSON is text");
    assert_eq!(decoded::<Pod>(&json), expected);
    assert_eq!(decoded::<kubist_cache::Encoded<Pod>>(&json), expected);
    assert_eq!(decoded::<kubist_cache::Metadata<Pod>>(&json), expected);
    assert_eq!(decoded::<PodNode>(&json), expected);
    let any: Unstructured = serde_json::from_str(&json).expect("it is an object");
    let kind = ApiResource::of::<Pod>();
    assert_eq!(ObjectReference::of_kind(&kind, &any), expected);
}

#[test]
fn a_cluster_scoped_object_has_no_namespace() {
    let mut node = Node::default();
    node.metadata.name = "node-7".into();
    let reference = ObjectReference::of(&node);
    assert_eq!((&*reference.kind, &*reference.namespace), ("Node", ""));
}
