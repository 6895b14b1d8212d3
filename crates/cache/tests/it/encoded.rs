//! `Encoded<Pod>` and `Metadata<Pod>`: metadata and fields without a full decode.

use bytes::Bytes;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, Interner, Wire as _};
use kubist_apimachinery::{Object as _, Selector};
use kubist_cache::{Encoded, Index, Indexer, Metadata};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn pod(number: usize) -> Pod {
    let mut pod = Pod::default();
    let meta = &mut pod.metadata;
    meta.name = format!("web-{number}").into();
    meta.namespace = "shop".into();
    meta.uid = format!("00000000-0000-0000-0000-{number:012}").into();
    meta.resource_version = format!("{}", 1000 + number).into();
    meta.labels = [
        ("app", "web"),
        ("odd", if number % 2 == 1 { "yes" } else { "no" }),
    ]
    .map(|(key, value)| (key.into(), value.into()))
    .into();
    meta.annotations = [("note".into(), "a \"quoted\" note".into())].into();
    pod.spec.node_name = format!("node-{}", number % 5).into();
    pod
}

fn forms(pod: &Pod) -> [(Bytes, Encoding); 2] {
    [
        (pod.to_protobuf().into(), Encoding::Protobuf),
        (pod.to_json().into(), Encoding::Json),
    ]
}

/// Contract CACHE-14.
#[test]
fn metadata_selectors_and_indexes_work_without_decoding() {
    let decodes = Arc::new(AtomicU64::new(0));
    let mut cx = DecodeContext::new().with_interner(Interner::default());
    let mut indexer = Indexer::new();
    let by_node = indexer.add_index(Index::field("spec.nodeName"));
    let by_namespace = indexer.add_index(Index::namespace());
    for number in 0..100 {
        let (bytes, encoding) = forms(&pod(number))[number % 2].clone();
        let mut encoded = Encoded::<Pod>::ingest(bytes, encoding, &mut cx).expect("a Pod");
        encoded.count_decodes(&decodes);
        indexer.upsert(Arc::new(encoded));
    }
    indexer.publish();
    let lister = indexer.lister();
    assert_eq!(lister.by_index(&by_node, "node-3").len(), 20);
    assert_eq!(lister.by_index(&by_namespace, "shop").len(), 100);
    let selector: Selector = "app=web,odd=yes".parse().expect("a selector");
    assert_eq!(lister.select(&selector).len(), 50);
    let one = lister.find("shop", "web-7").expect("it was added");
    assert_eq!(one.annotations().get("note"), Some("a \"quoted\" note"));
    assert_eq!(
        (one.uid(), one.resource_version()),
        (&*pod(7).metadata.uid, "1007")
    );
    assert_eq!(decodes.load(Ordering::Relaxed), 0);
    assert_eq!(*one.decode().expect("a Pod"), pod(7));
    assert_eq!(decodes.load(Ordering::Relaxed), 1);
}

#[test]
fn an_index_over_the_decoded_form_and_metadata_only_forms() {
    let mut indexer = Indexer::new();
    let by_node = indexer.add_index(Index::decoded("node", |pod: &Pod, values| {
        values.push(&pod.spec.node_name);
    }));
    indexer.upsert(Arc::new(Encoded::new(&pod(4)).expect("a Pod")));
    assert_eq!(indexer.snapshot().by_index(&by_node, "node-4").len(), 1);
    for (bytes, encoding) in forms(&pod(4)) {
        let meta = Metadata::<Pod>::ingest(bytes, encoding, &mut DecodeContext::new());
        assert_eq!(meta.expect("metadata").metadata, pod(4).metadata);
    }
    let mut indexer = Indexer::new();
    let by_app = indexer.add_index(Index::<Metadata<Pod>>::field("labels.app"));
    indexer.upsert(Arc::new(Metadata::new(pod(4).metadata)));
    assert_eq!(indexer.snapshot().by_index(&by_app, "web").len(), 1);
}

/// Contract CACHE-14.
#[test]
fn a_broken_object_is_an_error_of_ingest_and_a_wrong_value_one_of_decode() {
    let whole = pod(1).to_json();
    let cut = Bytes::copy_from_slice(&whole[..whole.len() - 2]);
    let mut cx = DecodeContext::new();
    assert!(Encoded::<Pod>::ingest(cut, Encoding::Json, &mut cx).is_err());
    let mut ingest = |json: &'static str| {
        Encoded::<Pod>::ingest(Bytes::from_static(json.as_bytes()), Encoding::Json, &mut cx)
    };
    let error = ingest(r#"{"metadata":{"name":"x"},"spec":{"nodeName":7}}"#);
    assert_eq!(error.expect_err("no text").path, "spec.nodeName");
    let wrong = ingest(r#"{"metadata":{"name":"x"},"spec":{"overhead":{"cpu":"much"}}}"#);
    let error = wrong
        .expect("its structure is whole")
        .decode()
        .expect_err("no quantity");
    assert!(error.path.starts_with("spec.overhead"), "{error}");
}

#[test]
fn an_encoded_pod_costs_little_more_than_its_bytes() {
    let (bytes, encoding) = forms(&pod(1))[0].clone();
    let length = bytes.len();
    let encoded = Encoded::<Pod>::ingest(bytes, encoding, &mut DecodeContext::new());
    let size = encoded.expect("a Pod").heap_size();
    assert!(
        size - length <= 160,
        "{} bytes beside those of the object",
        size - length
    );
}
