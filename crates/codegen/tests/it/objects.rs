//! Objects that are read into the committed types and written again.

use crate::crds::fruit_example_com::v1::fig::{
    FigSpecColour, FigSpecRipeness, FigStatusConditionsStatus,
};
use crate::crds::fruit_example_com::{v1, v1alpha1};
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_apimachinery::{IntOrString, Resource as _};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Reads and writes, with the engine that clients use and with serde.
fn again<K: Wire + Serialize + DeserializeOwned>(object: &Value) -> Value {
    let text = object.to_string();
    let read = K::from_json(text.as_bytes(), &mut DecodeContext::new()).unwrap();
    let written: Value = serde_json::from_slice(&read.to_json()).unwrap();
    let by_serde: K = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(&by_serde).unwrap(), written);
    written
}

fn small() -> Value {
    json!({
        "apiVersion": "fruit.example.com/v1",
        "kind": "Fig",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {"colour": "green", "parts": [], "depth": null, "port": "http"},
    })
}

fn large() -> Value {
    let mut object = small();
    object["spec"] = json!({
        "colour": "deep-purple",
        "ripeness": "10%",
        "type": "t", "self": "s", "x-odd.name": "x", "fooBar": true, "foo_bar": false,
        "podCIDRs": ["10.0.0.0/8"],
        "replicas": 0, "bytes": 9_007_199_254_740_993_i64, "count": -1, "ratio": 0.5,
        "caBundle": "aGk=", "picked": "2024-01-02T03:04:05Z",
        "depth": 1, "width": null, "port": 80, "memory": 5_000_000_000_i64,
        "labels": {}, "limits": {"a": [null, {"max": 1}, {}]},
        "anything": [1, {"a": null}], "settings": {"a": 1.25},
        "template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}},
        "open": {"known": "k", "other": "o", "unlisted": {"deep": [true]}},
        "parts": [{"name": "p", "secretRef": {}}],
        "core": {"configMapRef": {"name": "c"}},
    });
    object["status"] = json!({
        "replicas": 3,
        "conditions": [
            {"type": "Ready", "status": "False", "lastTransitionTime": "2024-01-02T03:04:05Z"},
            {"type": "Fresh", "status": "Perhaps"},
        ],
    });
    object
}

#[test]
fn objects_are_read_and_written_without_loss() {
    for object in [small(), large()] {
        assert_eq!(again::<v1::Fig>(&object), object);
    }
}

#[test]
fn null_an_absent_field_and_an_empty_one_stay_different() {
    for change in [
        json!({"width": null}),
        json!({"width": 1}),
        json!({"anything": null}),
        json!({"anything": {}}),
        json!({"labels": {}}),
        json!({"podCIDRs": []}),
        json!({"type": ""}),
        json!({"core": {}}),
        json!({"memory": "1000m"}),
        json!({}),
    ] {
        let mut object = small();
        let fields = change.as_object().unwrap().clone();
        object["spec"].as_object_mut().unwrap().extend(fields);
        assert_eq!(again::<v1::Fig>(&object), object);
    }
}

#[test]
fn values_of_an_enum_have_variants_and_others_are_kept() {
    let fig: v1::Fig = serde_json::from_value(large()).unwrap();
    assert_eq!(fig.spec.colour, FigSpecColour::DeepPurple);
    assert_eq!(fig.spec.ripeness, Some(FigSpecRipeness::V10));
    assert_eq!(fig.spec.port, IntOrString::Int(80));
    let conditions = fig.status.unwrap().conditions.unwrap();
    let of = |index: usize| conditions[index].status.clone();
    assert_eq!(of(0), FigStatusConditionsStatus::False);
    assert_eq!(of(1), FigStatusConditionsStatus::Other("Perhaps".into()));
    let mut object = small();
    object["spec"]["colour"] = "Other".into();
    let fig: v1::Fig = serde_json::from_value(object).unwrap();
    assert_eq!(fig.spec.colour, FigSpecColour::Other);
    assert_eq!(FigSpecColour::default(), FigSpecColour::Empty);
}

#[test]
fn a_field_that_is_not_listed_is_dropped_as_servers_prune_it() {
    let mut object = small();
    object["spec"]["unlisted"] = 1.into();
    assert_eq!(again::<v1::Fig>(&object), small());
}

#[test]
fn a_kind_keeps_what_its_definition_does_not_list_if_servers_do() {
    let object = json!({
        "apiVersion": "fruit.example.com/v1",
        "kind": "String",
        "metadata": {"name": "a"},
        "data": {"length": "3"},
        "unlisted": {"a": [1, null]},
    });
    assert_eq!(again::<v1::StringKind>(&object), object);
}

#[test]
fn a_required_field_that_is_absent_is_an_error_with_its_path() {
    let mut object = small();
    object["spec"]["parts"] = json!([{}]);
    let text = object.to_string();
    let error = v1::Fig::from_json(text.as_bytes(), &mut DecodeContext::new()).unwrap_err();
    assert_eq!(error.path, "spec.parts[0]");
    assert!(
        error.to_string().contains("missing field `name`"),
        "{error}"
    );
}

#[test]
fn an_optional_spec_in_which_nothing_is_required_is_plain_and_written_as_by_go() {
    let mut object = json!({
        "apiVersion": "fruit.example.com/v1alpha1",
        "kind": "Fig",
        "metadata": {"name": "a"},
    });
    let written = again::<v1alpha1::Fig>(&object);
    object["spec"] = json!({});
    assert_eq!(written, object);
    assert_eq!(again::<v1alpha1::Fig>(&object), object);
    object["spec"] = json!({"colour": "green"});
    object["results"] = json!([{"ok": true}]);
    assert_eq!(again::<v1alpha1::Fig>(&object), object);
    let fig = v1alpha1::Fig::new("a", v1alpha1::fig::FigSpec::default());
    assert_eq!(fig.spec.colour, None);
}

#[test]
fn names_are_those_of_the_definition() {
    assert_eq!((v1::Fig::PLURAL, v1::Fig::SINGULAR), ("figs", "fig"));
    assert_eq!(v1::StringKind::KIND, "String");
    assert_eq!(v1::StringKind::LIST_KIND, "Strings");
    assert_eq!(v1::StringKind::SINGULAR, "thread");
    assert_eq!(v1alpha1::Fig::API_VERSION, "fruit.example.com/v1alpha1");
}
