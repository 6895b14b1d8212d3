//! The quick pass, compared with the shape check.

use super::super::{Scan, json as scan_json};
use super::*;
use crate::schema;
use crate::wire::json_text::plain_run;
use crate::wire::{DecodeContext, Encoding, Field, FieldFlags, FieldType as T, JsonForm};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

const NONE: FieldFlags = FieldFlags::OMIT_EMPTY;

schema!(
    QUANTITY = "Quantity",
    "test.Quantity",
    JsonForm::Scalar,
    None,
    [Field::new("string", 1, T::Str, NONE)]
);
schema!(
    EXTRA = "ExtraValue",
    "test.ExtraValue",
    JsonForm::Transparent,
    None,
    [Field::new("items", 1, T::StrList, NONE)]
);
schema!(
    RAW = "RawExtension",
    "test.RawExtension",
    JsonForm::Raw,
    None,
    [Field::new("raw", 1, T::Bytes, NONE)]
);
schema!(
    CONTAINER = "Container",
    "test.Container",
    JsonForm::Object,
    None,
    [
        Field::new("name", 1, T::Str, NONE),
        Field::new("image", 2, T::Str, NONE),
        Field::new("args", 3, T::StrList, NONE),
        Field::new("ports", 4, T::I32List, NONE),
        Field::new("sizes", 5, T::I64List, NONE),
        Field::new("flags", 6, T::BoolList, NONE),
        Field::new("blobs", 7, T::BytesList, NONE),
        Field::new("limits", 8, T::MessageMap(&QUANTITY), NONE),
        Field::new("extra", 9, T::MessageMap(&EXTRA), NONE),
        Field::new("data", 10, T::BytesMap, NONE),
        Field::new("ready", 11, T::Bool, NONE),
        Field::new("load", 12, T::F64, NONE),
        Field::new("cpu", 13, T::Message(&QUANTITY), NONE),
    ]
);
schema!(
    SPEC = "PodSpec",
    "test.PodSpec",
    JsonForm::Object,
    None,
    [
        Field::new("containers", 1, T::MessageList(&CONTAINER), NONE),
        Field::new("nodeSelector", 2, T::StrMap, NONE),
        Field::new("priority", 3, T::I32, NONE),
        Field::new("raw", 4, T::Message(&RAW), NONE),
    ]
);
schema!(
    POD = "Pod",
    "test.Pod",
    JsonForm::Object,
    None,
    [
        Field::new("metadata", 1, T::Message(&crate::OBJECT_META), NONE),
        Field::new("spec", 2, T::Message(&SPEC), NONE),
    ]
);

/// Members in the order of an API server, without white space.
const TEXT: &str = concat!(
    r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","generateName":"web-","#,
    r#""uid":"u","creationTimestamp":"2026-10-01T10:00:00Z","#,
    r#""labels":{"app":"web","tier":"front"},"#,
    r#""annotations":{"note":"a \"b\" \\ \/ \u003c\n é"},"#,
    r#""ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","#,
    r#""uid":"r","controller":true}],"finalizers":["a","b"],"#,
    r#""managedFields":[{"manager":"kubelet","operation":"Update","fieldsType":"FieldsV1","#,
    r#""fieldsV1":{"f:spec":{"k:{\"name\":\"app\"}":{".":{}}}}}]},"#,
    r#""spec":{"containers":[{"name":"app","image":"i:1","args":["-v","2"],"#,
    r#""ports":[80,8080],"sizes":[-1,0],"flags":[true,false],"#,
    r#""blobs":["AA=="],"limits":{"cpu":"500m","memory":1024},"extra":{"x":["y"],"z":null},"#,
    r#""data":{"k":"AA=="},"ready":true,"load":-0.25,"cpu":2},{"name":"b","cpu":"1","#,
    r#""later":{"x":[1,{}]}}],"nodeSelector":{"zone":"a"},"priority":0,"#,
    r#""raw":[true,null,{"a":[]},"t"]}}"#
);

fn pod() -> Value {
    serde_json::from_str(TEXT).expect("it is JSON")
}

/// Returns the members that the quick pass reports, if it accepts the text.
fn skimmed<'t>(text: &'t [u8], schema: Option<&'static Schema>) -> Option<(&'t [u8], usize)> {
    // A scan checks this before.
    std::str::from_utf8(text).ok()?;
    let mut members = 0;
    let found = metadata(text, schema, |_, _| {
        members += 1;
        Some(())
    })?;
    Some((found, members))
}

/// Asserts that a quick scan, if it succeeds, gives the result of the shape check; returns whether
/// it succeeds.
fn agrees(text: &[u8]) -> bool {
    if std::str::from_utf8(text).is_err() {
        return false;
    }
    let shown = String::from_utf8_lossy(text);
    if skimmed(text, None).is_some() {
        let parsed = serde_json::from_slice::<serde::de::IgnoredAny>(text);
        assert!(parsed.is_ok(), "{parsed:?}: {shown}");
    }
    let mut cx = DecodeContext::new();
    let quick = scan_json::scan_quickly(text, &POD, &mut cx);
    let checked = scan_json::scan_checked(text, &POD, &mut cx);
    if let Some(quick) = &quick {
        let show = |result: &Result<Scan, _>| format!("{result:?}");
        assert_eq!(show(quick), show(&checked), "{shown}");
    }
    quick.is_some()
}

#[test]
fn a_plain_pod_takes_the_quick_pass() {
    let (found, members) = skimmed(TEXT.as_bytes(), Some(&POD)).expect("it is plain");
    assert_eq!(members, 9);
    assert!(found.starts_with(br#"{"name":"web-0","#));
    assert!(found.ends_with(br#"{".":{}}}}}]}"#));
    for text in [
        TEXT.to_owned(),
        pod().to_string(),
        format!("{:#}", pod()),
        format!(" \t{TEXT}\r\n"),
    ] {
        assert!(agrees(text.as_bytes()), "{text}");
    }
}

#[test]
fn metadata_is_found_at_the_top_and_null_is_none() {
    for (text, expected, members) in [
        ("{}", "", 0),
        (r#"{"metadata" : null }"#, "", 0),
        (r#"{"spec":{"metadata":{"a":1}}}"#, "", 0),
        (
            r#" { "metadata" : {"name" : "a", "uid":null} , "a":1}"#,
            r#"{"name" : "a", "uid":null}"#,
            2,
        ),
    ] {
        for schema in [Some(&POD), None] {
            let found = skimmed(text.as_bytes(), schema);
            assert_eq!(found, Some((expected.as_bytes(), members)), "{text}");
        }
        assert!(agrees(text.as_bytes()));
    }
}

#[test]
fn unusual_text_is_left_to_the_shape_check() {
    let nested = |depth| format!(r#"{{"x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(agrees(nested(100).as_bytes()));
    for text in [
        nested(101),
        nested(100_000),
        r#"{"metadata":{"name":"a"},"metadata":{}}"#.to_owned(),
        r#"{"metadata":{"name":"a"},"metadata":null}"#.to_owned(),
        r#"{"met\u0061data":{"name":"a"}}"#.to_owned(),
        r#"{"metadata":{"name":"\ud83d\ude00"}}"#.to_owned(),
        r#"{"metadata":{"generation":1e2}}"#.to_owned(),
        r#"{"metadata":{"generation":1234567890123456789}}"#.to_owned(),
    ] {
        assert_eq!(skimmed(text.as_bytes(), Some(&POD)), None);
        let mut cx = DecodeContext::new();
        let scanned = super::super::scan(text.as_bytes(), Encoding::Json, &POD, &mut cx);
        assert!(scanned.is_ok(), "{scanned:?}");
    }
}

#[test]
fn each_changed_byte_is_accepted_by_the_shape_check_or_not_at_all() {
    let (mut accepted, mut refused) = (0, 0);
    for at in 0..TEXT.len() {
        for byte in *b"\"\\{]:,0e- \x01\xc3" {
            let mut text = TEXT.as_bytes().to_vec();
            text[at] = byte;
            if agrees(&text) {
                accepted += 1;
            } else {
                refused += 1;
            }
        }
        assert!(!agrees(&TEXT.as_bytes()[..at]));
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
}

#[test]
fn a_plain_run_ends_at_the_first_quote_backslash_or_control_character() {
    for length in 0..20 {
        for at in 0..length {
            for byte in 0..=u8::MAX {
                let mut text = vec![b'a'; length];
                text[at] = byte;
                text[length - 1] = b'"';
                let stops = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < b' ';
                assert_eq!(Some(plain_run(&text)), text.iter().position(stops));
            }
        }
    }
    assert_eq!(plain_run("é\u{7f}ÿÿÿÿÿÿ".as_bytes()), 15);
}

/// Replaces the value at a place, counted from the outside; false if there are fewer.
fn replace(value: &mut Value, place: &mut usize, with: &Value) -> bool {
    if *place == 0 {
        *value = with.clone();
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|it| replace(it, place, with)),
        Value::Object(members) => members.values_mut().any(|it| replace(it, place, with)),
        _ => false,
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-9i32..99).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!({})),
        Just(json!([])),
    ];
    let names = select(vec![
        "metadata",
        "spec",
        "name",
        "labels",
        "containers",
        "limits",
        "extra",
        "args",
        "ports",
        "ready",
        "load",
        "cpu",
        "raw",
        "data",
        "other",
        "\"",
    ]);
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_of_another_type_is_judged_as_the_shape_check_does(
        place in 0usize..120, with in any_json(), pretty: bool,
    ) {
        let mut pod = pod();
        replace(&mut pod, &mut { place }, &with);
        let text = if pretty { format!("{pod:#}") } else { pod.to_string() };
        agrees(text.as_bytes());
    }

    #[test]
    fn random_json_is_judged_as_the_shape_check_does(value in any_json()) {
        agrees(value.to_string().as_bytes());
        agrees(json!({"metadata": value, "spec": value}).to_string().as_bytes());
    }

    #[test]
    fn broken_text_is_judged_as_the_shape_check_does(
        changes in prop::collection::vec(
            (any::<Index>(), any::<Index>(), 0u8..4, any::<u8>()), 1..4,
        ),
    ) {
        let mut text = TEXT.as_bytes().to_vec();
        for (start, end, change, byte) in changes {
            let start = start.index(text.len());
            let end = start + end.index(text.len() - start);
            match change {
                0 => text[start] = byte,
                1 => text.insert(start, byte),
                2 => drop(text.drain(start..end)),
                _ => text.swap(start, end),
            }
            if text.is_empty() {
                break;
            }
        }
        agrees(&text);
    }
}
