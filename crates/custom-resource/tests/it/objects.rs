//! Objects: decoding, encoding, apply, fields and forms of caches.

use kubist_apimachinery::wire::{
    DecodeContext, Encode as _, Encoding, Ingest as _, ScalarField, Wire, heap_size, same_view,
};
use kubist_apimachinery::wire::{Message as _, decode};
use kubist_apimachinery::{AnyObject, KubeObject as _, LeanMeta, RawJson, Resource as _, Str};
use kubist_cache::Encoded;
use kubist_custom_resource::CustomResource;
use kubist_derive::Projection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Berry", status = BerryStatus)]
#[serde(rename_all = "camelCase")]
struct BerrySpec {
    colour: String,
    max_size: Option<i64>,
    #[serde(default)]
    tags: BTreeMap<String, Vec<Tag>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tag {
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct BerryStatus {
    #[serde(default)]
    ripe: bool,
}

/// Everything has a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(
    group = "example.com",
    version = "v1",
    kind = "Bush",
    plural = "shrubbery"
)]
#[custom_resource(derive = "Eq", root = "Shrub")]
struct BushSpec {
    #[serde(default)]
    height: u8,
}

impl Eq for BushSpec {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Pairs")]
struct PairsSpec {
    #[schemars(with = "BTreeMap<String, i32>")]
    pairs: BTreeMap<(i32, i32), i32>,
}

fn tree() -> Value {
    json!({
        "kind": "Berry",
        "apiVersion": "example.com/v1",
        "metadata": {"name": "b", "labels": {"a": "b"}},
        "spec": {"colour": "red", "maxSize": 3, "tags": {"x": [{"name": "n"}]}},
        "status": {"ripe": true},
    })
}

fn read(tree: &Value) -> Result<Berry, kubist_apimachinery::wire::WireError> {
    Berry::from_json(tree.to_string().as_bytes(), &mut DecodeContext::new())
}

#[test]
fn an_object_is_read_and_written_as_json_with_kind_and_api_version() {
    let berry = read(&tree()).unwrap();
    assert_eq!((&*berry.metadata.name, &*berry.spec.colour), ("b", "red"));
    assert_eq!(berry.status, Some(BerryStatus { ripe: true }));
    let text = String::from_utf8(berry.to_json()).unwrap();
    assert!(text.starts_with(r#"{"kind":"Berry","apiVersion":"example.com/v1","metadata":"#));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), tree());
    assert_eq!(serde_json::to_value(&berry).unwrap(), tree());
    assert_eq!(serde_json::from_value::<Berry>(tree()).unwrap(), berry);
    assert_eq!((Berry::PLURAL, Berry::SINGULAR), ("berries", "berry"));
    assert_eq!(
        (Shrub::PLURAL, Shrub::KIND, Shrub::LIST_KIND),
        ("shrubbery", "Bush", "BushList")
    );
}

#[test]
fn a_value_that_does_not_fit_is_reported_with_its_path() {
    let mut wrong = tree();
    wrong["spec"]["tags"]["x"][0] = json!({"name": 7});
    let error = read(&wrong).unwrap_err().to_string();
    assert_eq!(
        error,
        "spec.tags.x[0].name: invalid type: integer `7`, expected a string"
    );
    let mut wrong = tree();
    wrong["spec"].as_object_mut().unwrap().remove("colour");
    assert_eq!(
        read(&wrong).unwrap_err().to_string(),
        "spec: missing field `colour`"
    );
    let mut wrong = tree();
    wrong["status"] = json!("ripe");
    assert!(
        read(&wrong)
            .unwrap_err()
            .to_string()
            .starts_with("status: ")
    );
    let mut wrong = tree();
    wrong["metadata"]["name"] = json!(7);
    assert!(
        read(&wrong)
            .unwrap_err()
            .to_string()
            .starts_with("metadata.name: ")
    );
    let mut without = tree();
    without.as_object_mut().unwrap().remove("spec");
    assert_eq!(
        read(&without).unwrap_err().to_string(),
        "spec: missing field `colour`"
    );
    assert!(serde_json::from_value::<Berry>(without).is_err());
}

#[test]
fn a_missing_spec_is_one_without_fields_and_nulls_are_absent() {
    let text = br#"{"metadata": {"name": "s"}, "spec": null}"#;
    let shrub = Shrub::from_json(text, &mut DecodeContext::new()).unwrap();
    assert_eq!(shrub, Shrub::new("s", BushSpec { height: 0 }));
    assert_eq!(Shrub::default(), Shrub::new("", BushSpec::default()));
    let mut without = tree();
    without["status"] = Value::Null;
    let berry = read(&without).unwrap();
    assert_eq!(berry.status, None);
    assert_eq!(serde_json::to_value(&berry).unwrap().get("status"), None);
}

#[test]
fn an_apply_sends_what_is_set() {
    let mut berry = read(&tree()).unwrap();
    berry.metadata.resource_version = "7".into();
    berry.spec.max_size = None;
    let wanted: Value = serde_json::from_slice(&berry.encode_wanted(false).unwrap()).unwrap();
    let mut expected = tree();
    expected["spec"].as_object_mut().unwrap().remove("maxSize");
    let status = expected.as_object_mut().unwrap().remove("status").unwrap();
    assert_eq!(wanted, expected);
    let wanted: Value = serde_json::from_slice(&berry.encode_wanted(true).unwrap()).unwrap();
    assert_eq!(wanted["status"], status);
}

#[test]
fn a_spec_without_a_json_form_is_an_error_that_names_it() {
    let pairs = Pairs::new(
        "p",
        PairsSpec {
            pairs: [((1, 2), 3)].into(),
        },
    );
    let error = pairs.encode(Encoding::Json).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the object cannot be encoded: spec: key must be a string"
    );
    assert!(pairs.encode_wanted(false).is_err());
    assert!(serde_json::to_string(&pairs).is_err());
}

#[test]
fn the_internal_protobuf_form_keeps_everything() {
    let berry = read(&tree()).unwrap();
    let bytes = berry.to_protobuf();
    let cx = &mut DecodeContext::new();
    assert_eq!(
        decode::<Berry>(&bytes, Encoding::Protobuf, cx).unwrap(),
        berry
    );
    let field = ScalarField::new(Berry::SCHEMA, "spec.colour").unwrap();
    assert_eq!(field.find(&bytes, Encoding::Protobuf), "red");
}

#[test]
fn fields_below_spec_are_found_in_every_form() {
    let berry = read(&tree()).unwrap();
    let encoded = Encoded::new(&berry).unwrap();
    assert_eq!(encoded.encoding(), Encoding::Json);
    assert_eq!(*encoded.decode().unwrap(), berry);
    for (path, value) in [
        ("spec.colour", "red"),
        ("spec.maxSize", "3"),
        ("status.ripe", "true"),
        ("metadata.labels.a", "b"),
        ("spec.other", ""),
        ("spec.tags.x", ""),
        ("spec.colour.x", ""),
    ] {
        let field = ScalarField::new(Berry::SCHEMA, path).unwrap();
        assert_eq!(field.find(encoded.bytes(), Encoding::Json), value, "{path}");
        assert_eq!(field.find_in(&berry), value, "{path}");
    }
    for path in [
        "spec",
        "status",
        "spec.",
        "spec..a",
        "specs.a",
        "metadata.labels",
    ] {
        assert!(ScalarField::new(Berry::SCHEMA, path).is_err(), "{path}");
    }
    let cut = encoded.without_body().unwrap();
    assert!(cut.decode().is_err());
    assert_eq!(
        kubist_apimachinery::Object::labels(&cut).get("a"),
        Some("b")
    );
}

#[test]
fn objects_are_compared_measured_and_reduced_as_built_in_ones() {
    let mut berry = read(&tree()).unwrap();
    assert!(heap_size(&berry) > heap_size(berry.metadata()));
    let same = berry.clone();
    assert!(same_view(berry.view(1).unwrap(), same.view(1).unwrap()));
    assert!(berry.equals(&same as &dyn AnyObject));
    berry.spec.colour.push('!');
    assert!(!same_view(berry.view(1).unwrap(), same.view(1).unwrap()));
    berry
        .metadata
        .annotations
        .insert(kubist_apimachinery::LAST_APPLIED.into(), "{}".into());
    berry.drop_managed_fields();
    assert!(berry.metadata.annotations.is_empty());
    let definition = Berry::definition();
    assert_eq!(definition.metadata.name, "berries.example.com");
    assert_eq!(definition.spec.scope, "Cluster");
}

#[derive(Clone, Debug, Default, PartialEq, Projection)]
#[projection(of = Berry)]
struct Colour {
    #[projection(metadata)]
    meta: LeanMeta,
    #[projection("spec.colour")]
    tint: Option<Str>,
    #[projection("spec.maxSize")]
    size: Option<i64>,
    #[projection("spec.tags.x[].name")]
    names: Vec<Str>,
    #[projection("spec.tags.y")]
    whole: RawJson,
    #[projection("status.ripe")]
    ripe: bool,
}

#[test]
fn projections_reach_below_spec_in_json_and_in_the_internal_form() {
    let mut tree = tree();
    tree["spec"]["tags"]["y"] = json!([{"name": "m"}]);
    let berry = read(&tree).unwrap();
    let forms = [
        (berry.to_json(), Encoding::Json),
        (berry.to_protobuf(), Encoding::Protobuf),
    ];
    for (bytes, encoding) in forms {
        let found = Colour::ingest(bytes.into(), encoding, &mut DecodeContext::new()).unwrap();
        assert_eq!((found.tint.as_deref(), found.size), (Some("red"), Some(3)));
        assert_eq!((found.names, found.ripe), (vec![Str::from("n")], true));
        assert_eq!(&*found.whole.raw, br#"[{"name":"m"}]"#);
    }
    let bare = br#"{"metadata": {"name": "b"}, "spec": {"colour": null, "tags": {}}}"#;
    let cx = &mut DecodeContext::new();
    let found = Colour::ingest(bare.as_slice().into(), Encoding::Json, cx).unwrap();
    assert_eq!((found.tint, found.size, found.ripe), (None, None, false));
    for (wrong, path) in [
        (json!({"spec": {"colour": 7}}), "spec.colour: "),
        (json!({"spec": {"tags": []}}), "spec.tags: "),
        (
            json!({"spec": {"tags": {"x": [{"name": {}}]}}}),
            "spec.tags.x[0].name: ",
        ),
    ] {
        let bytes = wrong.to_string().into_bytes();
        let error = Colour::ingest(bytes.into(), Encoding::Json, cx).unwrap_err();
        assert!(error.to_string().starts_with(path), "{error}");
    }
    let in_protobuf = [Colour::PROTOBUF, Encoded::<Berry>::PROTOBUF];
    assert_eq!(in_protobuf, [false, false]);
}
