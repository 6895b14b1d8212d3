//! Scans of both encodings against full decodes.

use std::collections::BTreeMap;

mod trimmed;

use super::*;
use crate::wire::structure_plan::StructurePlan;
use crate::wire::{
    Field, FieldFlags as F, FieldType, JsonForm, KindFacts, Wire, push_delimited, to_json,
};
use crate::{Object, OwnerReference, Str, Time, message, schema};
use proptest::prelude::*;

/// A kind small enough for a test: metadata, and a spec with one string.
#[derive(Clone, Debug, Default, PartialEq)]
struct Spec {
    node_name: Str,
    replicas: Option<i32>,
}
#[derive(Clone, Debug, Default, PartialEq)]
struct Thing {
    metadata: ObjectMeta,
    spec: Spec,
}
schema!(
    SPEC = "Spec",
    "test.Spec",
    JsonForm::Object,
    None,
    [
        Field::new("nodeName", 10, FieldType::Str, F::OMIT_EMPTY),
        Field::new("replicas", 2, FieldType::I32, F::OMIT_EMPTY.or(F::POINTER)),
    ]
);
schema!(
    THING = "Thing",
    "test.Thing",
    JsonForm::Object,
    Some(KindFacts {
        group: "",
        version: "v1",
        kind: "Thing",
        api_version: "v1"
    }),
    [
        Field::new(
            "metadata",
            1,
            FieldType::Message(&crate::OBJECT_META),
            F::OMIT_EMPTY
        ),
        Field::new("spec", 2, FieldType::Message(&SPEC), F::OMIT_EMPTY),
    ]
);
message!(Spec, SPEC, [0 node_name, 1 replicas]);
message!(Thing, THING, [0 metadata, 1 spec]);

fn thing() -> Thing {
    let owner = |kind: &str, controller| OwnerReference {
        api_version: "apps/v1".into(),
        kind: kind.into(),
        name: "web".into(),
        uid: "u-1".into(),
        controller,
        block_owner_deletion: None,
    };
    let mut thing = Thing::default();
    let meta = &mut thing.metadata;
    (meta.name, meta.namespace) = ("web-0".into(), "shop".into());
    (meta.uid, meta.resource_version) = ("u-9".into(), "42".into());
    meta.deletion_timestamp = Some(Time::default());
    meta.labels = [("app", "web"), ("tier", "front")]
        .map(|(k, v)| (k.into(), v.into()))
        .into();
    meta.annotations = [("note", "plain")]
        .map(|(k, v)| (k.into(), v.into()))
        .into();
    meta.owner_references = vec![owner("Job", None), owner("ReplicaSet", Some(true))];
    thing.spec = Spec {
        node_name: "node-7".into(),
        replicas: Some(-3),
    };
    thing
}

fn scanned(bytes: &[u8], encoding: Encoding) -> Result<(Vec<u8>, MetadataSpans), WireError> {
    let Scan { spans, tail } = scan(bytes, encoding, &THING, &mut DecodeContext::new())?;
    Ok(([bytes, &tail].concat(), spans))
}

/// Compares what the spans say with decoded metadata.
fn agree(bytes: &[u8], encoding: Encoding, expected: &ObjectMeta) {
    let (bytes, spans) = scanned(bytes, encoding).expect("the bytes are whole");
    assert_eq!(spans.name(&bytes), expected.name);
    assert_eq!(spans.namespace(&bytes), expected.namespace);
    assert_eq!(spans.uid(&bytes), expected.uid);
    assert_eq!(spans.resource_version(&bytes), expected.resource_version);
    assert_eq!(
        spans.is_terminating(),
        expected.deletion_timestamp.is_some()
    );
    let pairs = |found: KeyValues<'_>| -> BTreeMap<Str, Str> {
        found
            .iter()
            .map(|(key, value)| (key.into(), value.into()))
            .collect()
    };
    assert_eq!(pairs(spans.labels(&bytes)), expected.labels);
    assert_eq!(pairs(spans.annotations(&bytes)), expected.annotations);
    for (key, value) in &expected.labels {
        assert_eq!(spans.labels(&bytes).get(key), Some(value.as_str()));
    }
    assert_eq!(spans.labels(&bytes).get("\u{10ffff}"), None);
    let owners: Vec<_> = spans.owners(&bytes).iter().collect();
    assert_eq!(owners, expected.owners().iter().collect::<Vec<_>>());
}

#[test]
fn both_encodings_give_the_metadata_without_a_tail() {
    let mut thing = thing();
    thing.metadata.deletion_timestamp = None;
    for (bytes, encoding) in [
        (to_json(&thing), Encoding::Json),
        (thing.to_protobuf(), Encoding::Protobuf),
    ] {
        agree(&bytes, encoding, &thing.metadata);
        assert_eq!(
            scanned(&bytes, encoding).expect("whole").0.len(),
            bytes.len()
        );
    }
}

#[test]
fn an_appended_metadata_field_wins_by_scalar_and_merges_by_key() {
    let mut thing = thing();
    let mut bytes = thing.to_protobuf();
    let spliced = ObjectMeta {
        resource_version: "43".into(),
        ..ObjectMeta::default()
    };
    let mut more = Vec::new();
    push_delimited(6, b"43", &mut more);
    push_delimited(1, &more, &mut bytes);
    thing.metadata.resource_version = spliced.resource_version;
    agree(&bytes, Encoding::Protobuf, &thing.metadata);

    let mut entry = Vec::new();
    push_delimited(1, b"app", &mut entry);
    push_delimited(2, b"new", &mut entry);
    let mut more = Vec::new();
    push_delimited(11, &entry, &mut more);
    push_delimited(1, &more, &mut bytes);
    thing.metadata.labels.insert("app".into(), "new".into());
    agree(&bytes, Encoding::Protobuf, &thing.metadata);
}

#[test]
fn json_escapes_order_space_and_null_are_understood() {
    for text in [
        r#" {"metadata" : { "na\u006de":"a\"b", "labels":{"z":"1","a":"2"} , "uid":null} } "#,
        r#"{"metadata":{"annotations":{"k":"{\"x\": [\"}\"]}","k2":""},"labels":null}}"#,
        r#"{"spec":{"metadata":{"name":"not me"}},"metadata":null}"#,
        r#"{"metadata":{"name":"a"},"metadata":{"name":"b"}}"#,
        r#"{"metadata":{"name":"a","ownerReferences":[{"name":"q\"","uid":"\\"},{"uid":"2"}]}}"#,
        "{}",
    ] {
        let found = metadata(text.as_bytes(), Encoding::Json, &mut DecodeContext::new());
        agree(text.as_bytes(), Encoding::Json, &found.expect(text));
    }
}

#[test]
fn json_members_given_twice_are_as_a_decode_has_them() {
    let text = br#"{"metadata": {"name": "a", "uid": "u", "name": null, "labels": {"x": "1"},
        "annotations": {"note": "1"}, "labels": null, "annotations": {"more": "2"},
        "deletionTimestamp": "2026-01-02T03:04:05Z", "deletionTimestamp": null,
        "ownerReferences": [{"name": "o"}], "ownerReferences": null}}"#;
    let whole = Thing::from_json(text, &mut DecodeContext::new()).unwrap();
    assert_eq!(
        (
            whole.metadata.name.as_str(),
            whole.metadata.annotations.len()
        ),
        ("a", 2)
    );
    agree(text, Encoding::Json, &whole.metadata);
}

#[test]
fn json_metadata_given_twice_is_merged_as_a_decode_does() {
    let text = br#"{"metadata": {"name": "a", "labels": {"x": "1"}, "resourceVersion": "1",
        "ownerReferences": [{"name": "o"}]}, "spec": {"nodeName": "n"}, "metadata": null,
        "metadata": {"resourceVersion": "42", "labels": {"y": "2"}}, "spec": {"replicas": 2}}"#;
    let whole = Thing::from_json(text, &mut DecodeContext::new()).unwrap();
    let metadata = &whole.metadata;
    assert_eq!(
        (metadata.name.as_str(), metadata.resource_version.as_str()),
        ("a", "42")
    );
    assert_eq!(metadata.labels.len(), 2);
    agree(text, Encoding::Json, metadata);
    let alone = super::metadata(text, Encoding::Json, &mut DecodeContext::new()).unwrap();
    assert_eq!(&alone, metadata);
    let path = ScalarField::new(Thing::SCHEMA, "spec.nodeName").unwrap();
    assert_eq!(path.find(text, Encoding::Json), "n");
    assert_eq!(path.find_in(&whole), "n");
}

#[test]
fn broken_objects_are_refused_with_the_place() {
    for (text, path) in [
        ("", ""),
        ("[]", ""),
        ("{", ""),
        ("{\"a\":}", ""),
        (r#"{"metadata":[]}"#, "metadata"),
        (r#"{"metadata":{"name":5}}"#, "metadata.name"),
        (r#"{"metadata":{"labels":{"a":true}}}"#, "metadata.labels"),
        (
            r#"{"metadata":{"ownerReferences":{}}}"#,
            "metadata.ownerReferences",
        ),
        ("{\"a\":\"\u{1}\"}", ""),
        (r#"{"spec":"text"}"#, "spec"),
        (r#"{"spec":[]}"#, "spec"),
        (r#"{"spec":{"nodeName":7}}"#, "spec.nodeName"),
        (r#"{"spec":{"replicas":{}}}"#, "spec.replicas"),
        (
            r#"{"metadata":{"finalizers":["a",{}]}}"#,
            "metadata.finalizers[1]",
        ),
        (
            r#"{"metadata":{"ownerReferences":[{},{"name":[]}]}}"#,
            "metadata.ownerReferences[1].name",
        ),
        (
            r#"{"metadata":{"deletionTimestamp":[]}}"#,
            "metadata.deletionTimestamp",
        ),
    ] {
        let error = scanned(text.as_bytes(), Encoding::Json).expect_err(text);
        assert_eq!(error.path, path, "{text}");
    }
    let mut labels = Vec::new();
    push_delimited(11, &[10, 9, 1], &mut labels);
    let mut bytes = Vec::new();
    push_delimited(1, &labels, &mut bytes);
    let error = scanned(&bytes, Encoding::Protobuf).expect_err("an entry is cut");
    assert_eq!(error.path, "metadata.labels");
    for spec in [&[82, 9, 1][..], &[80, 1], &[0, 1], &[18, 1, 1]] {
        let mut bytes = Vec::new();
        push_delimited(2, spec, &mut bytes);
        let error = scanned(&bytes, Encoding::Protobuf).expect_err("the spec is broken");
        assert!(error.path.starts_with("spec"), "{error}");
    }
}

#[test]
fn the_name_of_a_malformed_object_can_often_be_read() {
    let json = to_json(&thing());
    let cut = &json[..json.len() - 8];
    assert!(scanned(cut, Encoding::Json).is_err());
    assert_eq!(
        name_in(&json, Encoding::Json),
        Some(ObjectName::new("shop", "web-0"))
    );
    assert_eq!(name_in(b"\"", Encoding::Json), None);
    let protobuf = thing().to_protobuf();
    let cut = &protobuf[..protobuf.len() - 2];
    assert!(scanned(cut, Encoding::Protobuf).is_err());
    assert_eq!(
        name_in(cut, Encoding::Protobuf),
        Some(ObjectName::new("shop", "web-0"))
    );
}

#[test]
fn a_field_path_finds_the_same_in_all_forms() {
    let thing = thing();
    for (path, expected) in [
        ("spec.nodeName", "node-7"),
        ("spec.replicas", "-3"),
        ("metadata.name", "web-0"),
        ("metadata.labels.tier", "front"),
        ("metadata.labels.none", ""),
        ("metadata.generateName", ""),
    ] {
        let field = ScalarField::new(&THING, path).expect(path);
        assert_eq!(field.find(&to_json(&thing), Encoding::Json), expected);
        assert_eq!(
            field.find(&thing.to_protobuf(), Encoding::Protobuf),
            expected
        );
        assert_eq!(field.find_in(&thing), expected);
    }
    for path in [
        "",
        "spec",
        "spec.none",
        "metadata.labels",
        "metadata.name.x",
        "spec.",
    ] {
        assert!(ScalarField::new(&THING, path).is_err(), "{path}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_scan_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for encoding in [Encoding::Json, Encoding::Protobuf] {
            if let Ok((bytes, spans)) = scanned(&bytes, encoding) {
                spans.owners(&bytes).iter().for_each(drop);
                spans.labels(&bytes).iter().for_each(drop);
            }
            drop(name_in(&bytes, encoding));
            drop(ScalarField::new(&THING, "spec.nodeName").expect("known").find(&bytes, encoding));
        }
    }

    #[test]
    fn one_changed_byte_never_panics(at in 0usize..4096, byte: u8) {
        for (mut bytes, encoding) in
            [(to_json(&thing()), Encoding::Json), (thing().to_protobuf(), Encoding::Protobuf)]
        {
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok((whole, spans)) = scanned(&bytes, encoding) {
                spans.annotations(&whole).iter().for_each(drop);
            }
            drop(name_in(&bytes, encoding));
        }
    }
}

#[test]
fn the_plan_and_the_walk_agree_on_every_changed_byte() {
    let whole = thing().to_protobuf();
    let mut refused = 0;
    for at in 0..whole.len() {
        for flip in [1, 2, 4, 8, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            let holds = StructurePlan::new(&THING).holds(&bytes, 100);
            let walked = structure::check_fields(&bytes, &THING, THING.order, 100);
            assert_eq!(holds, walked.is_ok(), "{at} {flip}");
            refused += usize::from(!holds);
        }
    }
    assert!(refused > 100, "{refused}");
}
