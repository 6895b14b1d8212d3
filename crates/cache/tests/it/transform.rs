//! Managed fields dropped from every held form.

use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{DecodeContext, Encoding, FieldsV1, Ingest, Wire};
use kubist_apimachinery::{
    ApiResource, LAST_APPLIED, ManagedFieldsEntry, Object, ObjectMeta, Unstructured,
};
use kubist_cache::{Encoded, IngestAny, Metadata, drop_managed_fields};

/// A Pod with the managed fields of `kubectl apply` and two managers.
fn pod() -> Pod {
    let entry = |manager: &str| ManagedFieldsEntry {
        manager: manager.into(),
        fields_v1: Some(FieldsV1 {
            raw: format!("{{\"f:spec\":{{\"f:{}\":{{}}}}}}", "x".repeat(900)).into(),
        }),
        ..ManagedFieldsEntry::default()
    };
    let mut pod = Pod {
        metadata: ObjectMeta {
            name: "web-0".into(),
            namespace: "shop".into(),
            uid: "u-1".into(),
            resource_version: "7".into(),
            labels: [("app".into(), "web".into())].into(),
            annotations: [
                ("note".into(), "kept".into()),
                (
                    LAST_APPLIED.into(),
                    r#"{"spec":{"nodeName":"node-1"}}"#.into(),
                ),
            ]
            .into(),
            managed_fields: vec![entry("kubectl"), entry("kubelet")],
            ..ObjectMeta::default()
        },
        ..Pod::default()
    };
    pod.spec.node_name = "node-1".into();
    pod
}

/// The same Pod without the fields that the transform drops.
fn lean() -> Pod {
    let mut pod = pod();
    pod.metadata.managed_fields.clear();
    pod.metadata.annotations.remove(LAST_APPLIED);
    pod
}

fn bytes(pod: &Pod, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Json => pod.to_json(),
        _ => pod.to_protobuf(),
    }
}

fn ingested<F: Ingest>(encoding: Encoding) -> F {
    let cx = &mut DecodeContext::new();
    let mut object = F::ingest(bytes(&pod(), encoding).into(), encoding, cx).expect("a Pod");
    drop_managed_fields(&mut object);
    object
}

const BOTH: [Encoding; 2] = [Encoding::Json, Encoding::Protobuf];

/// Contract CACHE-19.
#[test]
fn encoded_objects_are_cut_without_a_decode_and_shrink_by_as_much() {
    for encoding in BOTH {
        let object: Encoded<Pod> = ingested(encoding);
        assert_eq!(object.bytes(), bytes(&lean(), encoding));
        let saved = bytes(&pod(), encoding).len() - bytes(&lean(), encoding).len();
        assert!(saved > 1_800, "{saved} bytes");
        assert!(object.heap_size() < bytes(&lean(), encoding).len() + 300);
        assert_eq!(*object.decode().unwrap(), lean());
    }
}

#[test]
fn encoded_objects_still_answer_for_their_metadata_and_fields() {
    use kubist_apimachinery::wire::ScalarField;
    use kubist_cache::{Index, Indexer};
    let path = ScalarField::new(Pod::SCHEMA, "spec.nodeName").unwrap();
    for encoding in BOTH {
        let object: Encoded<Pod> = ingested(encoding);
        assert_eq!(object.object_name().to_string(), "shop/web-0");
        assert_eq!((object.uid(), object.resource_version()), ("u-1", "7"));
        assert_eq!(object.labels().get("app"), Some("web"));
        let annotations: Vec<_> = object.annotations().iter().collect();
        assert_eq!(annotations, [("note", "kept")]);
        assert_eq!(path.find(object.bytes(), encoding), "node-1");

        let mut indexer = Indexer::new();
        let by_node = indexer.add_index(Index::field("spec.nodeName"));
        indexer.apply(
            kubist_cache::Delta::Added(std::sync::Arc::new(object)),
            &mut Vec::new(),
        );
        indexer.publish();
        assert_eq!(indexer.lister().by_index(&by_node, "node-1").len(), 1);
    }
}

#[test]
fn a_second_drop_changes_nothing() {
    for encoding in BOTH {
        let mut object: Encoded<Pod> = ingested(encoding);
        let before = object.clone();
        drop_managed_fields(&mut object);
        assert_eq!(object, before);
    }
}

#[test]
fn decoded_objects_and_bare_metadata_lose_them_too() {
    for encoding in BOTH {
        assert_eq!(ingested::<Pod>(encoding), lean());
        let metadata: Metadata<Pod> = ingested(encoding);
        assert_eq!(metadata.metadata, lean().metadata);
    }
}

#[test]
fn objects_of_kinds_known_at_run_time_lose_them_too() {
    let pods = ApiResource::of::<Pod>();
    let cx = &mut DecodeContext::new();
    let mut any =
        Unstructured::ingest_any(pod().to_json().into(), Encoding::Json, &pods, cx).unwrap();
    IngestAny::drop_managed_fields(&mut any);
    assert_eq!(any, Unstructured::from_json(&lean().to_json(), cx).unwrap());
    for encoding in BOTH {
        let sent = bytes(&pod(), encoding).into();
        let mut any = Metadata::<()>::ingest_any(sent, encoding, &pods, cx).unwrap();
        IngestAny::drop_managed_fields(&mut any);
        assert_eq!(any.metadata, lean().metadata);
    }
}

#[test]
fn annotations_that_are_none_then_go_with_it() {
    let json = format!(
        r#"{{"metadata":{{"name":"a","annotations":{{"{LAST_APPLIED}":"{{}}"}}}},"spec":{{}}}}"#
    );
    let cx = &mut DecodeContext::new();
    let left = r#"{"metadata":{"name":"a"},"spec":{}}"#;
    let sent = json.clone().into_bytes().into();
    let mut encoded = Encoded::<Pod>::ingest(sent, Encoding::Json, cx).unwrap();
    drop_managed_fields(&mut encoded);
    assert_eq!(encoded.bytes(), left.as_bytes());
    let mut any = Unstructured::from_json(json.as_bytes(), cx).unwrap();
    any.drop_managed_fields();
    assert_eq!(any, Unstructured::from_json(left.as_bytes(), cx).unwrap());
}
