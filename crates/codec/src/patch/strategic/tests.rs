//! Behaviours of a real server on a Deployment-like type, and edge cases.

mod directives;

use super::super::PatchError;
use kubist_apimachinery::schema;
use kubist_apimachinery::wire::{
    Field, FieldFlags as F, FieldType, JsonForm, Merge, RAW_EXTENSION, Schema,
};
use serde_json::{Value, json};

const fn by(key: &'static str) -> Merge {
    Merge {
        merge: true,
        retain_keys: false,
        replace: false,
        key,
    }
}

const fn field(json: &'static str, number: u32, ty: FieldType) -> Field {
    Field::new(json, number, ty, F::NONE)
}

schema!(
    PORT = "ContainerPort",
    "test.Port",
    JsonForm::Object,
    None,
    [
        field("containerPort", 1, FieldType::I32),
        field("name", 2, FieldType::Str),
    ]
);
schema!(
    ENV = "EnvVar",
    "test.Env",
    JsonForm::Object,
    None,
    [
        field("name", 1, FieldType::Str),
        field("value", 2, FieldType::Str),
    ]
);
schema!(
    CONTAINER = "Container",
    "test.Container",
    JsonForm::Object,
    None,
    [
        field("name", 1, FieldType::Str),
        field("image", 2, FieldType::Str),
        field("args", 3, FieldType::StrList),
        field("env", 4, FieldType::MessageList(&ENV)).with_merge(by("name")),
        field("ports", 5, FieldType::MessageList(&PORT)).with_merge(by("containerPort")),
    ]
);
schema!(
    SPEC = "PodSpec",
    "test.Spec",
    JsonForm::Object,
    None,
    [
        field("containers", 1, FieldType::MessageList(&CONTAINER)).with_merge(by("name")),
        field("nodeSelector", 2, FieldType::StrMap),
        field("volumes", 3, FieldType::MessageList(&ENV)).with_merge(by("name")),
        field("strategy", 4, FieldType::Message(&ENV)),
        field("named", 5, FieldType::MessageMap(&CONTAINER)),
        field("broken", 6, FieldType::MessageList(&ENV)).with_merge(by("")),
        field("whole", 7, FieldType::Message(&ENV)).with_merge(Merge {
            merge: false,
            retain_keys: false,
            replace: true,
            key: ""
        }),
        field("raw", 8, FieldType::Message(&RAW_EXTENSION)),
    ]
);
schema!(
    META = "ObjectMeta",
    "test.Meta",
    JsonForm::Object,
    None,
    [
        field("labels", 1, FieldType::StrMap),
        field("finalizers", 2, FieldType::StrList).with_merge(by("")),
    ]
);
schema!(
    KIND = "Thing",
    "test.Thing",
    JsonForm::Object,
    None,
    [
        field("metadata", 1, FieldType::Message(&META)),
        field("spec", 2, FieldType::Message(&SPEC)),
    ]
);

fn merge(original: Value, patch: Value) -> Result<Value, PatchError> {
    super::merge(original, patch, &KIND)
}

/// Patches the spec; gives the spec.
fn spec(original: Value, patch: Value) -> Result<Value, PatchError> {
    Ok(merge(json!({ "spec": original }), json!({ "spec": patch }))?["spec"].take())
}

/// Patches the metadata.
fn meta(original: Value, patch: Value) -> Result<Value, PatchError> {
    Ok(merge(
        json!({ "metadata": original }),
        json!({ "metadata": patch }),
    )?["metadata"]
        .take())
}

#[test]
fn lists_merge_by_key_and_new_items_come_first() {
    let two = json!({"containers": [{"name": "a", "args": ["x"]}, {"name": "b", "image": "1"}]});
    let patch = json!({"containers": [{"name": "b", "image": "2"}]});
    let after = json!({"containers": [{"name": "a", "args": ["x"]}, {"name": "b", "image": "2"}]});
    assert_eq!(spec(two.clone(), patch).unwrap(), after);
    let patch = json!({"containers": [{"name": "c", "image": "3"}]});
    let added = spec(two.clone(), patch).unwrap();
    assert_eq!(added["containers"][0], json!({"name": "c", "image": "3"}));
    assert_eq!(added["containers"][2]["name"], "b");
    let patch = json!({"containers": [{"name": "a", "args": ["y", "z"]}]});
    assert_eq!(
        spec(two, patch).unwrap()["containers"][0]["args"],
        json!(["y", "z"])
    );
}

#[test]
fn nested_lists_merge_and_keep_upstreams_order() {
    let before = json!({"containers": [{"name": "a",
        "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
        "ports": [{"containerPort": 80}]}]});
    let patch = json!({"containers": [{"name": "a",
        "env": [{"name": "X", "value": "9"}, {"name": "Z", "value": "3"}],
        "ports": [{"containerPort": 81, "name": "p"}]}]});
    let after = spec(before, patch).unwrap();
    let names = |list: &Value| -> Vec<String> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|item| item["name"].to_string())
            .collect()
    };
    assert_eq!(
        names(&after["containers"][0]["env"]),
        ["\"X\"", "\"Z\"", "\"Y\""]
    );
    assert_eq!(
        after["containers"][0]["ports"],
        json!([{"containerPort": 81, "name": "p"}, {"containerPort": 80}])
    );
}

#[test]
fn null_deletes_and_is_dropped_where_there_is_nothing() {
    let before = json!({"labels": {"a": "1", "b": "2"}, "finalizers": ["x"]});
    let patch = json!({"labels": {"a": null, "none": null}, "finalizers": null});
    assert_eq!(meta(before, patch).unwrap(), json!({"labels": {"b": "2"}}));
    let patch = json!({"nodeSelector": {"a": null, "b": "1"}, "strategy": {"name": null}});
    let after = json!({"nodeSelector": {"b": "1"}, "strategy": {}});
    assert_eq!(spec(json!({}), patch).unwrap(), after);
}

#[test]
fn sets_of_scalars_merge_without_doubles() {
    let before = json!({"finalizers": ["c", "d"]});
    let after = meta(before.clone(), json!({"finalizers": ["e"]})).unwrap();
    assert_eq!(after, json!({"finalizers": ["e", "c", "d"]}));
    let after = meta(before.clone(), json!({"finalizers": ["d"]})).unwrap();
    assert_eq!(after, before);
    let delete = json!({"$deleteFromPrimitiveList/finalizers": ["c", "none"]});
    assert_eq!(
        meta(before, delete.clone()).unwrap(),
        json!({"finalizers": ["d"]})
    );
    assert_eq!(meta(json!({}), delete).unwrap(), json!({}));
}

#[test]
fn maps_of_messages_and_replaced_fields_follow_their_facts() {
    let before = json!({"named": {"k": {"name": "a", "env": [{"name": "X"}]}}});
    let patch = json!({"named": {"k": {"env": [{"name": "Y"}]}}});
    let after = spec(before, patch).unwrap();
    assert_eq!(
        after["named"]["k"]["env"],
        json!([{"name": "Y"}, {"name": "X"}])
    );
    let after = spec(
        json!({"whole": {"name": "a"}}),
        json!({"whole": {"value": "b"}}),
    )
    .unwrap();
    assert_eq!(after, json!({"whole": {"value": "b"}}));
}

#[test]
fn errors_have_upstreams_texts() {
    let before = json!({"containers": [{"name": "z"}], "broken": [{"name": "z"}],
        "unknown": {"a": 1}, "texts": ["x"], "raw": {"a": {"b": 1}}});
    let cases = [
        (
            json!({"raw": {"a": {"b": 2}}}),
            "unable to find api field in struct RawExtension for the json field \"a\"",
        ),
        (
            json!({"containers": [{"name": "z", "$patch": "foo"}]}),
            "unknown patch type: foo in map: map[$patch:foo name:z]",
        ),
        (
            json!({"containers": [{"name": "z", "$patch": "merge"}]}),
            "merging lists cannot yet be specified in the patch",
        ),
        (
            json!({"containers": [{"image": "z:2"}]}),
            "map: map[image:z:2] does not contain declared merge key: name",
        ),
        (
            json!({"$setElementOrder/containers": [{"name": "b"}],
                "containers": [{"name": "z", "image": "a:3"}]}),
            "The order in patch list:\n[map[image:a:3 name:z]]\n doesn't match $setElementOrder \
             list:\n[map[name:b]]\n",
        ),
        (
            json!({"broken": [{"name": "a"}]}),
            "cannot merge lists without merge key for EnvVar",
        ),
        (
            json!({"unknown": {"a": 2}}),
            "unable to find api field in struct PodSpec for the json field \"unknown\"",
        ),
        (
            json!({"containers": ["x"]}),
            "list element types are not identical: [[map[name:z]] [x]]",
        ),
        (
            json!({"containers": [[]]}),
            "list element types are not identical: [[map[name:z]] [[]]]",
        ),
        (
            json!({"containers": [{"name": "z", "$patch": 7}]}),
            "unknown patch type: %!s(int64=7) in map: map[$patch:7 name:z]",
        ),
        (
            json!({"$setElementOrder/containers": {}}),
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        (
            json!({"$deleteFromPrimitiveList/texts": [1]}),
            "list element types are not identical: [[x] [1]]",
        ),
    ];
    for (patch, message) in cases {
        assert_eq!(
            spec(before.clone(), patch).unwrap_err().to_string(),
            message
        );
    }
    assert!(merge(json!({}), json!([])).is_err());
    let lists = spec(json!({"containers": [[1]]}), json!({"containers": ["x"]}));
    assert_eq!(lists, Err(PatchError::ListOfLists));
}

#[test]
fn malformed_patches_are_refused_without_a_prefix() {
    for (patch, words) in [
        ("", "unexpected end of JSON input"),
        ("{} trailing", "invalid character 't' after top-level value"),
        (
            "[]",
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            "7",
            "json: cannot unmarshal number into Go value of type map[string]interface {}",
        ),
    ] {
        let error = super::parse(patch.as_bytes()).unwrap_err();
        assert!(matches!(error, PatchError::Malformed { .. }));
        assert_eq!(error.to_string(), words, "{patch}");
    }
    assert_eq!(super::parse(b"null"), Ok(json!({})), "an empty patch");
}

#[test]
fn a_patch_of_another_type_replaces() {
    let after = spec(
        json!({"nodeSelector": {"a": "b"}}),
        json!({"nodeSelector": "x"}),
    )
    .unwrap();
    assert_eq!(after, json!({"nodeSelector": "x"}));
}

#[test]
fn thousands_of_items_merge_in_time() {
    let schema: &'static Schema = &KIND;
    let items = |from: usize| -> Vec<Value> {
        (from..from + 20_000)
            .map(|i| json!({"name": i.to_string()}))
            .collect()
    };
    let before = json!({"spec": {"containers": items(0)}});
    let patch = json!({"spec": {"containers": items(10_000)}});
    let after = super::merge(before, patch, schema).unwrap();
    assert_eq!(
        after["spec"]["containers"].as_array().unwrap().len(),
        30_000
    );
}
