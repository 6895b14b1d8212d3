//! Trimming of managed fields and the last-applied annotation, compared with decoded objects.

use super::*;
use crate::wire::FieldsV1;
use crate::{LAST_APPLIED, ManagedFieldsEntry};

/// Sets a time that JSON can express, unlike the zero time.
fn thing() -> Thing {
    let mut thing = super::thing();
    thing.metadata.deletion_timestamp = Some(Time::from_unix(1_700_000_000));
    thing
}

fn manager(name: &str, fields: &str) -> ManagedFieldsEntry {
    ManagedFieldsEntry {
        manager: name.into(),
        fields_v1: Some(FieldsV1 { raw: fields.into() }),
        ..ManagedFieldsEntry::default()
    }
}

/// Checks the bytes after a cut, and that the spans still find everything.
#[track_caller]
fn check_cut(original: &Thing, bytes: &[u8], encoding: Encoding) -> Vec<u8> {
    let cx = &mut DecodeContext::new();
    let mut expected = original.clone();
    expected.metadata.drop_managed_fields();
    let found = scan(bytes, encoding, &THING, cx).unwrap();
    let mut spans = found.spans;
    let mut left = [bytes, &found.tail].concat();
    drop_managed_fields(&mut left, &mut spans, encoding);

    let body = spans.body(&left).to_vec();
    let decoded: Thing = crate::wire::decode(&body, encoding, cx).unwrap();
    assert_eq!(decoded, expected, "{}", String::from_utf8_lossy(&body));
    let meta = &expected.metadata;
    assert_eq!(spans.name(&left), meta.name());
    assert_eq!(spans.namespace(&left), meta.namespace());
    assert_eq!(spans.uid(&left), meta.uid());
    assert_eq!(spans.resource_version(&left), meta.resource_version());
    assert_eq!(spans.is_terminating(), meta.is_terminating());
    let pairs = |it: KeyValues<'_>| -> BTreeMap<String, String> {
        it.iter().map(|(k, v)| (k.into(), v.into())).collect()
    };
    assert_eq!(pairs(spans.labels(&left)), pairs(meta.labels()));
    assert_eq!(pairs(spans.annotations(&left)), pairs(meta.annotations()));
    assert!(spans.owners(&left).iter().eq(meta.owners().iter()));
    let rescanned = scan(&body, encoding, &THING, cx);
    assert!(rescanned.is_ok(), "what is left scans: {rescanned:?}");
    body
}

fn check_both(thing: &Thing) {
    let left = check_cut(thing, &thing.to_protobuf(), Encoding::Protobuf);
    let mut expected = thing.clone();
    expected.metadata.drop_managed_fields();
    assert_eq!(
        left,
        expected.to_protobuf(),
        "lengths are as an encoder writes them"
    );
    let left = check_cut(thing, &to_json(thing), Encoding::Json);
    assert_eq!(left, to_json(&expected), "commas and all");
}

#[test]
fn managed_fields_and_last_applied_are_cut_out_of_both_encodings() {
    let mut thing = thing();
    check_both(&thing);
    thing.metadata.managed_fields = vec![
        manager("kubectl", r#"{"f:spec":{"f:nodeName":{}}}"#),
        manager(
            "kubelet",
            &format!(r#"{{"f:status":"{}"}}"#, "x".repeat(300)),
        ),
    ];
    check_both(&thing);
    let applied = r#"{"kind":"Thing","metadata":{"name":"web-0"}}"#;
    thing
        .metadata
        .annotations
        .insert(LAST_APPLIED.into(), applied.into());
    check_both(&thing);
    thing
        .metadata
        .annotations
        .insert("a".into(), "first".into());
    thing
        .metadata
        .annotations
        .insert("z".into(), "last \"quoted\"".into());
    check_both(&thing);
    thing
        .metadata
        .annotations
        .retain(|key, _| key.as_str() == LAST_APPLIED);
    check_both(&thing);
    thing
        .metadata
        .annotations
        .insert(LAST_APPLIED.into(), "no escapes".into());
    check_both(&thing);
}

#[test]
fn commas_are_removed_with_the_members_before_or_after_them() {
    let plain = || {
        let mut thing = Thing::default();
        (thing.metadata.name, thing.metadata.uid) = ("a".into(), "u".into());
        thing
    };
    for text in [
        r#"{"metadata":{"managedFields":[],"name":"a","uid":"u"}}"#,
        r#"{"metadata":{"name":"a","uid":"u","managedFields":[{"manager":"m, \"{"}]}}"#,
        r#"{ "metadata" : { "name":"a" , "managedFields":[] , "uid":"u" } , "spec":{} }"#,
        r#"{"metadata":{"managedFields":[],"annotations":
            {"kubectl.kubernetes.io/last-applied-configuration":"x"} ,"name":"a","uid":"u"}}"#,
        r#"{"metadata":{"name":"a","annotations":
            {"kubectl.kubernetes.io/last-applied-configuration":""},"managedFields":[],"uid":"u"}}"#,
        r#"{"metadata":{"managed\u0046ields":[],"name":"a","uid":"u"}}"#,
    ] {
        check_cut(&plain(), text.as_bytes(), Encoding::Json);
    }
    let mut nameless = Thing::default();
    check_cut(
        &nameless,
        br#"{"metadata":{"managedFields":[],"annotations":{}}}"#,
        Encoding::Json,
    );
    nameless.spec.node_name = "n".into();
    check_cut(&nameless, br#"{"spec":{"nodeName":"n"}}"#, Encoding::Json);
    check_cut(
        &nameless,
        br#"{"metadata":null,"spec":{"nodeName":"n"}}"#,
        Encoding::Json,
    );
}

#[test]
fn metadata_in_two_protobuf_fields_loses_both() {
    let mut thing = thing();
    thing.metadata.managed_fields = vec![manager("m", "{}")];
    let mut bytes = thing.to_protobuf();
    let mut more = Thing::default();
    more.metadata.resource_version = "43".into();
    more.metadata.managed_fields = vec![manager("n", "{}")];
    bytes.extend(more.to_protobuf());
    thing.metadata.resource_version = "43".into();
    thing.spec = Spec::default();
    let decoded = Thing::from_protobuf(&bytes, &mut DecodeContext::new()).unwrap();
    check_cut(&decoded, &bytes, Encoding::Protobuf);
}

proptest! {
    #[test]
    fn any_object_loses_them_and_nothing_else(
        annotations in prop::collection::btree_map("[a-z\"\\\\é]{0,4}", "[ -~é\n]{0,200}", 0..4),
        applied in prop::option::of("[ -~\n]{0,200}"),
        managers in prop::collection::vec("[a-z]{1,8}", 0..4),
        name in "[a-z\"\\\\]{0,6}",
    ) {
        let mut thing = thing();
        thing.metadata.name = name.into();
        thing.metadata.annotations =
            annotations.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        if let Some(applied) = applied {
            thing.metadata.annotations.insert(LAST_APPLIED.into(), applied.into());
        }
        thing.metadata.managed_fields =
            managers.iter().map(|name| manager(name, r#"{"f:spec":{}}"#)).collect();
        check_both(&thing);
    }
}
