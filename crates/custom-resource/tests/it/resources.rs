//! Kinds that derive `Resource`: their names, and objects that are read and written.

use kubist_apimachinery::wire::{DecodeContext, Encode as _, Encoding, Ingest as _, Wire as _};
use kubist_apimachinery::{
    HasMetadata as _, KubeObject as _, ObjectMeta, Resource as _, Scope as _,
};
use kubist_cache::Encoded;
use kubist_custom_resource::{AnyQuantity, Resource};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Its fields are not sorted, and one has a name of its own.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "example.com",
    version = "v1",
    kind = "Vine",
    list_kind = "VineRow"
)]
struct Vine {
    metadata: ObjectMeta,
    status: Option<VineStatus>,
    spec: VineSpec,
    grafted_on: Option<String>,
    #[resource(rename = "TYPE")]
    form: Option<Vec<u8>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct VineSpec {
    colour: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<AnyQuantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct VineStatus {
    ripe: bool,
}

fn tree() -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Vine",
        "metadata": {"name": "a", "uid": "1", "generation": 4, "finalizers": ["b/c"]},
        "spec": {"colour": "red", "weight": 5_000_000_000_i64},
        "status": {"ripe": true},
        "graftedOn": "b",
        "TYPE": [1, 2],
    })
}

#[test]
fn an_object_is_read_and_written_without_loss_by_the_engine_and_by_serde() {
    let text = tree().to_string();
    let vine = Vine::from_json(text.as_bytes(), &mut DecodeContext::new()).unwrap();
    assert_eq!(vine.grafted_on.as_deref(), Some("b"));
    assert_eq!(vine.form.as_deref(), Some(&[1, 2][..]));
    assert_eq!(vine.spec.weight, Some(AnyQuantity::Int(5_000_000_000)));
    assert_eq!(vine.object_metadata().generation, 4);
    let written: Value = serde_json::from_slice(&vine.to_json()).unwrap();
    assert_eq!(written, tree());
    let read: Vine = serde_json::from_value(tree()).unwrap();
    assert_eq!(read, vine);
    assert_eq!(serde_json::to_value(&vine).unwrap(), tree());
    let protobuf = Vine::from_protobuf(&vine.to_protobuf(), &mut DecodeContext::new());
    assert_eq!(protobuf.unwrap(), vine);
}

#[test]
fn absent_fields_have_their_default_and_empty_options_are_left_out() {
    let text = br#"{"metadata":{"name":"a"},"status":null}"#;
    let vine = Vine::from_json(text, &mut DecodeContext::new()).unwrap();
    assert_eq!(vine.status, None);
    let written: Value = serde_json::from_slice(&vine.encode(Encoding::Json).unwrap()).unwrap();
    let expected = json!({
        "apiVersion": "example.com/v1",
        "kind": "Vine",
        "metadata": {"name": "a"},
        "spec": {"colour": ""},
    });
    assert_eq!(written, expected);
}

/// It keeps everything.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1", kind = "Weed", namespaced)]
struct Weed {
    metadata: ObjectMeta,
    #[resource(flatten)]
    other: serde_json::Map<String, Value>,
    data: Option<String>,
}

#[test]
fn a_flattened_map_has_the_members_that_no_field_has() {
    let tree = json!({
        "apiVersion": "example.com/v1",
        "kind": "Weed",
        "metadata": {"name": "a"},
        "data": "b",
        "spec": {"c": [null, 1]},
        "d": null,
    });
    let text = tree.to_string();
    let weed = Weed::from_json(text.as_bytes(), &mut DecodeContext::new()).unwrap();
    assert_eq!(weed.other.keys().collect::<Vec<_>>(), ["d", "spec"]);
    let written: Value = serde_json::from_slice(&weed.to_json()).unwrap();
    assert_eq!(written, tree);
    let read: Weed = serde_json::from_value(tree.clone()).unwrap();
    assert_eq!(read, weed);
    assert_eq!(serde_json::to_value(&read).unwrap(), tree);
    let protobuf = Weed::from_protobuf(&weed.to_protobuf(), &mut DecodeContext::new());
    assert_eq!(protobuf.unwrap(), weed);
}

#[test]
fn a_value_that_does_not_fit_is_an_error_with_its_path() {
    let text = br#"{"metadata":{"name":"a"},"spec":{"colour":1}}"#;
    let error = Vine::from_json(text, &mut DecodeContext::new()).unwrap_err();
    assert_eq!(error.path, "spec.colour");
}

#[test]
fn names_scope_and_metadata_are_those_of_a_kind() {
    assert_eq!((Vine::KIND, Vine::LIST_KIND), ("Vine", "VineRow"));
    assert_eq!((Vine::PLURAL, Vine::SINGULAR), ("vines", "vine"));
    assert_eq!(Vine::API_VERSION, "example.com/v1");
    const { assert!(!<Vine as kubist_apimachinery::Resource>::Scope::NAMESPACED) };
    let mut vine = Vine::new("b", VineSpec::default());
    assert_eq!(kubist_apimachinery::Object::name(&vine), "b");
    vine.metadata_mut().name = "a".into();
    assert_eq!(kubist_apimachinery::Object::name(&vine), "a");
}

#[test]
fn caches_hold_its_bytes_and_apply_leaves_the_servers_fields_out() {
    let bytes = tree().to_string();
    let encoded = Encoded::<Vine>::ingest(
        bytes.into_bytes().into(),
        Encoding::Json,
        &mut DecodeContext::new(),
    );
    let vine = encoded.unwrap().decode().unwrap();
    let wanted: Value = serde_json::from_slice(&vine.encode_wanted(false).unwrap()).unwrap();
    assert_eq!(wanted["status"], Value::Null);
    assert_eq!(
        wanted["metadata"],
        json!({"name": "a", "finalizers": ["b/c"]})
    );
    assert_eq!(wanted["graftedOn"], "b");
}
