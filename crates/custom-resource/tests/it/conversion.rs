//! Conversion between versions, through the hub.

use kubist_custom_resource::{
    ConversionError, Conversions, ConvertFrom, ConvertTo, CustomResource, MergeError,
    merge_definitions,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::convert::Infallible;

/// The hub.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v2", kind = "Plum", root = "PlumV2")]
#[custom_resource(shortname = "pl", namespaced)]
struct PlumV2Spec {
    size: i64,
    unit: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Plum", root = "PlumV1")]
#[custom_resource(deprecated = "use v2", category = "all", namespaced)]
struct PlumV1Spec {
    size: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(
    group = "example.com",
    version = "v1alpha1",
    kind = "Plum",
    root = "PlumV0"
)]
#[custom_resource(deprecated, served = false, namespaced)]
struct PlumV0Spec {
    millimetres: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v3", kind = "Plum", root = "PlumV3")]
struct PlumV3Spec {}

#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no size")]
struct BadSize(String);

impl ConvertTo<PlumV2> for PlumV1 {
    type Error = BadSize;
    fn convert_to(&self) -> Result<PlumV2, BadSize> {
        let size = &self.spec.size;
        let split = size
            .find(|it: char| !it.is_ascii_digit())
            .unwrap_or(size.len());
        let (number, unit) = size.split_at(split);
        let number = number.parse().map_err(|_| BadSize(size.clone()))?;
        let mut hub = PlumV2::new(
            "",
            PlumV2Spec {
                size: number,
                unit: unit.to_owned(),
            },
        );
        hub.metadata = self.metadata.clone();
        hub.metadata
            .annotations
            .insert("example.com/from".into(), "v1".into());
        Ok(hub)
    }
}

impl ConvertFrom<PlumV2> for PlumV1 {
    type Error = Infallible;
    fn convert_from(hub: &PlumV2) -> Result<Self, Infallible> {
        let size = format!("{}{}", hub.spec.size, hub.spec.unit);
        let mut spoke = Self::new("renamed", PlumV1Spec { size });
        spoke.metadata.annotations = hub.metadata.annotations.clone();
        spoke.metadata.annotations.remove("example.com/from");
        Ok(spoke)
    }
}

impl ConvertTo<PlumV2> for PlumV0 {
    type Error = Infallible;
    fn convert_to(&self) -> Result<PlumV2, Infallible> {
        let spec = PlumV2Spec {
            size: self.spec.millimetres,
            unit: "mm".to_owned(),
        };
        Ok(PlumV2::new(self.metadata.name.clone(), spec))
    }
}

impl ConvertFrom<PlumV2> for PlumV0 {
    type Error = BadSize;
    fn convert_from(hub: &PlumV2) -> Result<Self, BadSize> {
        if hub.spec.unit != "mm" {
            return Err(BadSize(hub.spec.unit.clone()));
        }
        Ok(Self::new(
            "",
            PlumV0Spec {
                millimetres: hub.spec.size,
            },
        ))
    }
}

fn conversions() -> Conversions<PlumV2> {
    Conversions::new().spoke::<PlumV1>().spoke::<PlumV0>()
}

fn plum(version: &str, spec: Value) -> Value {
    json!({
        "apiVersion": format!("example.com/{version}"),
        "kind": "Plum",
        "metadata": {"name": "p", "uid": "u", "resourceVersion": "7", "unknown": {"kept": 1}},
        "spec": spec,
    })
}

#[test]
fn an_object_goes_between_any_two_versions_and_back() {
    let conversions = conversions();
    assert_eq!(
        conversions.versions(),
        ["example.com/v2", "example.com/v1", "example.com/v1alpha1"]
    );
    let versions = [
        ("v2", json!({"size": 3, "unit": "mm"})),
        ("v1", json!({"size": "3mm"})),
        ("v1alpha1", json!({"millimetres": 3})),
    ];
    for (from, spec) in &versions {
        for (to, expected) in &versions {
            let object = plum(from, spec.clone());
            let converted = conversions.convert(object.clone(), &format!("example.com/{to}"));
            let mut converted = converted.unwrap();
            assert_eq!(converted["spec"], *expected, "{from} to {to}");
            let back = conversions.convert(converted.clone(), &format!("example.com/{from}"));
            let mut back = back.unwrap();
            for tree in [&mut converted, &mut back] {
                tree["metadata"]
                    .as_object_mut()
                    .unwrap()
                    .remove("annotations");
            }
            assert_eq!(back, object, "{from} to {to} and back");
            assert_eq!(converted["metadata"], object["metadata"]);
        }
    }
}

#[test]
fn annotations_and_labels_may_change_and_other_metadata_does_not() {
    let mut object = plum("v1", json!({"size": "3mm"}));
    object["metadata"]["annotations"] = json!({"a": "b"});
    let hub = conversions()
        .convert(object.clone(), "example.com/v2")
        .unwrap();
    assert_eq!(
        hub["metadata"]["annotations"],
        json!({"a": "b", "example.com/from": "v1"})
    );
    let back = conversions().convert(hub, "example.com/v1").unwrap();
    assert_eq!(back, object);
}

#[test]
fn what_cannot_be_converted_is_reported_with_its_cause() {
    let convert = |object, to: &str| conversions().convert(object, to);
    let unknown = convert(plum("v9", json!({})), "example.com/v2").unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "\"example.com/v9\" \"Plum\" is not a version of Plum; known are [\"example.com/v2\", \
         \"example.com/v1\", \"example.com/v1alpha1\"]"
    );
    let mut other = plum("v1", json!({"size": "3mm"}));
    other["kind"] = "Fig".into();
    let other = convert(other, "example.com/v2").unwrap_err();
    assert!(matches!(other, ConversionError::UnknownVersion { .. }));
    let to = convert(plum("v1", json!({"size": "3mm"})), "example.com/v9").unwrap_err();
    assert!(matches!(to, ConversionError::UnknownVersion { .. }));
    let malformed = convert(plum("v1", json!({"size": 3})), "example.com/v2").unwrap_err();
    let source = std::error::Error::source(&malformed).unwrap().to_string();
    assert_eq!(
        source,
        "spec.size: invalid type: integer `3`, expected a string"
    );
    let failed = convert(plum("v1", json!({"size": "mm"})), "example.com/v2").unwrap_err();
    let source = std::error::Error::source(&failed).unwrap().to_string();
    assert_eq!(source, "\"mm\" is no size");
    let failed = convert(plum("v1", json!({"size": "3cm"})), "example.com/v1alpha1").unwrap_err();
    assert!(failed.to_string().contains("example.com/v1alpha1"));
}

#[test]
fn versions_are_merged_into_one_definition_with_one_stored() {
    let all = [
        PlumV2::definition(),
        PlumV1::definition(),
        PlumV0::definition(),
    ];
    let merged = merge_definitions(all, "v1").unwrap();
    let versions = merged.spec.versions.iter();
    let facts: Vec<_> = versions
        .map(|it| (&*it.name, it.served, it.storage, it.deprecated))
        .collect();
    let expected = [
        ("v2", true, false, false),
        ("v1", true, true, true),
        ("v1alpha1", false, false, true),
    ];
    assert_eq!(facts, expected);
    assert_eq!(
        merged.spec.versions[1].deprecation_warning.as_deref(),
        Some("use v2")
    );
    assert_eq!(merged.spec.names.short_names, ["pl"]);
    assert_eq!(merged.spec.names.categories, ["all"]);
}

#[test]
fn definitions_that_are_no_versions_of_one_kind_are_refused() {
    let merge = |stored: &str, others: Vec<_>| {
        let all = [vec![PlumV2::definition()], others].concat();
        merge_definitions(all, stored).unwrap_err().to_string()
    };
    assert_eq!(merge_definitions([], "v1"), Err(MergeError::Empty));
    assert_eq!(
        merge("v2", vec![PlumV3::definition()]),
        "spec.scope differs: \"Namespaced\" and \"Cluster\"; versions of one kind have the same names"
    );
    assert_eq!(
        merge("v2", vec![PlumV2::definition()]),
        "version v2 occurs twice"
    );
    assert!(merge("v9", vec![PlumV1::definition()]).starts_with("the stored version v9 is none"));
}
