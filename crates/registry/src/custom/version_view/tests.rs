//! Reads of objects from their stored bytes.

use super::*;
use crate::custom::content::ServedContent;
use crate::stored::DECODES;
use crate::stored::codec::{StorageEncoding, StoredCodec};
use crate::stored::key::KeyLayout;
use bytes::Bytes;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use serde_json::{Value, json};

/// A definition whose objects have a size, which is 3 by default.
fn conversion() -> Arc<Conversion> {
    let definition = json!({
        "metadata": {"name": "boxes.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "boxes", "kind": "Box", "listKind": "BoxList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {
                        "size": {"type": "integer", "default": 3},
                        "color": {"type": "string"},
                    }},
                }}},
            }],
        },
    });
    let definition: CustomResourceDefinition =
        serde_json::from_value(definition).expect("it is a definition");
    let content = ServedContent::of(&definition, None).expect("there is room");
    content.expect("a version is served").conversion
}

/// Writes an object with this spec, and returns it as it is read from its bytes, with its view.
fn read(spec: &Value) -> (Stored, View) {
    let conversion = conversion();
    let kind = conversion.versions().next().expect("there is one");
    let view = View::new(Arc::clone(&conversion), kind, kind);
    let codec = StoredCodec::new(
        view.kind(),
        KeyLayout::custom("/", "example.com", "boxes", true).expect("it has a place"),
    )
    .with_encoding(StorageEncoding::Json)
    .with_versions(Arc::from([kind]));
    let tree = json!({
        "apiVersion": "example.com/v1", "kind": "Box", "spec": spec,
        "metadata": {
            "name": "b", "namespace": "default", "uid": "1234", "generation": 1,
            "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"app": "b"},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "5678"},
            ],
            "managedFields": [{
                "manager": "m", "operation": "Update", "apiVersion": "example.com/v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:size": {}}},
            }],
        },
    });
    let mut object = kind.new_object().expect("it has metadata");
    let text = tree.to_string();
    merge_json(&mut *object, text.as_bytes(), &mut DecodeContext::new()).expect("it is valid");
    let value = codec.encode(object).expect("it is encoded");
    let key = Bytes::from_static(b"/example.com/boxes/default/b");
    (codec.written(&key, 7, &value), view)
}

fn tree(stored: &Stored) -> Value {
    serde_json::from_slice(&stored.json().expect("it has JSON")).expect("it is JSON")
}

#[tokio::test]
async fn reads_in_the_stored_version_do_not_decode() {
    let (stored, view) = read(&json!({"size": 1, "color": "<b>"}));
    let before = DECODES.get();
    let one = view.one(&stored).await.expect("it is fine");
    let shown = tree(&one);
    assert_eq!(DECODES.get(), before, "it was decoded");
    assert!(one.decoded().is_none(), "it was decoded when it was opened");
    assert!(std::ptr::eq(one.kind(), stored.kind()));
    // Decoding shows the same.
    let object = one.object().expect("it is fine").boxed_clone();
    let decoded = Stored::from_object(view.kind(), one.revision(), object);
    assert_eq!(shown, tree(&decoded));
    assert_eq!(shown["metadata"]["resourceVersion"], "7");
    assert_eq!(shown["spec"], json!({"size": 1, "color": "<b>"}));
}

#[tokio::test]
async fn a_read_that_changes_the_object_decodes() {
    let (stored, view) = read(&json!({"color": "red", "unknown": 1}));
    let before = DECODES.get();
    let one = view.one(&stored).await.expect("it is fine");
    assert_eq!(tree(&one)["spec"], json!({"size": 3, "color": "red"}));
    assert_eq!(tree(&one)["metadata"]["resourceVersion"], "7");
    assert!(!view.is_ready(&stored));
    assert!(DECODES.get() > before);
}
