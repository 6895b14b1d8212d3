//! Behaviour of the engine, on `ObjectMeta` and on a test message.

use super::{
    DecodeContext, Field, FieldFlags as F, FieldType, Interner, JsonForm, Limits, RawExtension,
    StrictProblem, Wire, WireErrorKind,
};
use crate::{ByteString, IntOrString, ObjectMeta, Quantity, Str, Time, message, schema};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
struct Everything {
    flag: bool,
    count: Option<i32>,
    ratio: Option<f64>,
    data: BTreeMap<Str, ByteString>,
    names: Vec<Str>,
    numbers: Vec<i64>,
    port: Option<IntOrString>,
    limits: BTreeMap<Str, Quantity>,
    raw: RawExtension,
    children: Vec<Self>,
    always: Vec<Str>,
}

schema!(
    EVERYTHING = "Everything",
    "test.Everything",
    JsonForm::Object,
    None,
    [
        Field::new("flag", 1, FieldType::Bool, F::OMIT_EMPTY),
        Field::new("count", 2, FieldType::I32, F::OMIT_EMPTY.or(F::POINTER)),
        Field::new("ratio", 3, FieldType::F64, F::OMIT_EMPTY.or(F::POINTER)),
        Field::new("data", 4, FieldType::BytesMap, F::OMIT_EMPTY),
        Field::new("names", 5, FieldType::StrList, F::OMIT_EMPTY),
        Field::new("numbers", 6, FieldType::I64List, F::OMIT_EMPTY),
        Field::new(
            "port",
            7,
            FieldType::Message(&super::INT_OR_STRING),
            F::OMIT_EMPTY.or(F::POINTER)
        ),
        Field::new(
            "limits",
            8,
            FieldType::MessageMap(&super::QUANTITY),
            F::OMIT_EMPTY
        ),
        Field::new(
            "raw",
            9,
            FieldType::Message(&super::RAW_EXTENSION),
            F::OMIT_EMPTY
        ),
        Field::new(
            "children",
            10,
            FieldType::MessageList(&EVERYTHING),
            F::OMIT_EMPTY
        ),
        Field::new("always", 11, FieldType::StrList, F::REQUIRED),
    ]
);

message!(Everything, EVERYTHING, [
    0 flag, 1 count, 2 ratio, 3 data, 4 names, 5 numbers, 6 port, 7 limits, 8 raw, 9 children,
    10 always,
]);

fn json(text: &str) -> Result<Everything, super::WireError> {
    Everything::from_json(text.as_bytes(), &mut DecodeContext::new())
}

fn sample() -> Everything {
    json(
        r#"{"flag": true, "count": -3, "ratio": 0.5, "data": {"k": "aGk="}, "names": ["a", "b"],
            "numbers": [1, -1], "port": "http", "limits": {"cpu": "0.1"},
            "raw": {"x": [1, {"y": null}]}, "children": [{"count": 0}, {}], "always": ["z"]}"#,
    )
    .unwrap()
}

#[test]
fn what_is_encoded_is_decoded_again_in_both_encodings() {
    let sample = sample();
    let mut cx = DecodeContext::new();
    assert_eq!(
        Everything::from_protobuf(&sample.to_protobuf(), &mut cx).unwrap(),
        sample
    );
    assert_eq!(
        Everything::from_json(&sample.to_json(), &mut cx).unwrap(),
        sample
    );
    assert_eq!(sample.limits["cpu"].as_str(), "100m");
}

#[test]
fn a_quantity_may_be_a_number_of_any_size() {
    let sample = json(r#"{"limits": {"a": 1e+30, "b": 1.5, "c": 2000, "d": 0.25}}"#).unwrap();
    for (name, text) in [("a", "1e+30"), ("b", "1500m"), ("c", "2k"), ("d", "250m")] {
        assert_eq!(sample.limits[name].as_str(), text);
    }
}

#[test]
fn null_leaves_every_field_absent() {
    let all_null = r#"{"flag": null, "count": null, "data": null, "names": null, "port": null,
        "limits": null, "raw": null, "children": null, "always": null}"#;
    assert_eq!(json(all_null).unwrap(), Everything::default());
}

#[test]
fn empty_fields_are_left_out_unless_go_always_writes_them() {
    let text = String::from_utf8(Everything::default().to_json()).unwrap();
    assert_eq!(text, r#"{"raw":null,"always":null}"#);
}

#[test]
fn a_wrong_type_is_named_with_its_path_and_go_types() {
    let error = json(r#"{"children": [{}, {"count": "three"}]}"#).unwrap_err();
    assert_eq!(error.path, "children[1].count");
    assert_eq!(
        error.kind,
        WireErrorKind::TypeMismatch {
            found: "string".into(),
            expected: "int32".into(),
            message: "Everything",
        }
    );
}

#[test]
fn strict_decoding_collects_unknown_and_duplicate_fields() {
    let mut cx = DecodeContext::new().strict();
    let text = br#"{"flag": true, "flag": false, "nope": 1, "children": [{"x": {}}]}"#;
    Everything::from_json(text, &mut cx).unwrap();
    assert_eq!(
        cx.take_problems(),
        [
            StrictProblem::Duplicate("flag".into()),
            StrictProblem::Unknown("nope".into()),
            StrictProblem::Unknown("children[0].x".into()),
        ]
    );
}

#[test]
fn syntax_errors_say_where() {
    let error = json("{\n  \"flag\": tru").unwrap_err();
    assert!(
        matches!(error.kind, WireErrorKind::Syntax { line: 2, .. }),
        "{error:?}"
    );
    assert!(json("{} trailing").is_err());
}

#[test]
fn text_that_is_not_utf8_is_refused_also_where_it_is_skipped() {
    let text = b"{\"flag\": true, \"nobody knows\": \"\xe3\"}";
    let error = Everything::from_json(text, &mut DecodeContext::new()).unwrap_err();
    assert_eq!(error.kind, WireErrorKind::NotUtf8);
}

#[test]
fn truncated_protobuf_is_an_error_at_every_length() {
    let bytes = sample().to_protobuf();
    let mut failures = 0;
    for end in 0..bytes.len() {
        failures += usize::from(
            Everything::from_protobuf(&bytes[..end], &mut DecodeContext::new()).is_err(),
        );
    }
    // Cuts between two fields are whole messages; every other one must fail.
    assert!(failures + 20 > bytes.len(), "{failures} of {}", bytes.len());
}

#[test]
fn garbage_never_panics() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..2_000 {
        let bytes: Vec<u8> = (0..64)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                state.to_be_bytes()[0]
            })
            .collect();
        drop(Everything::from_protobuf(&bytes, &mut DecodeContext::new()));
        drop(Everything::from_json(&bytes, &mut DecodeContext::new()));
    }
}

#[test]
fn nesting_is_bounded_in_both_encodings() {
    let mut deep = Everything::default();
    for _ in 0..200 {
        deep = Everything {
            children: vec![deep],
            ..Everything::default()
        };
    }
    let error = Everything::from_protobuf(&deep.to_protobuf(), &mut DecodeContext::new());
    assert_eq!(error.unwrap_err().kind, WireErrorKind::TooDeep);
    assert!(Everything::from_json(&deep.to_json(), &mut DecodeContext::new()).is_err());
}

#[test]
fn longer_messages_than_the_limit_are_refused() {
    let limits = Limits {
        bytes_max: 10,
        ..Limits::default()
    };
    let error = ObjectMeta::from_json(
        br#"{"name": "web"}"#,
        &mut DecodeContext::new().with_limits(limits),
    );
    assert_eq!(
        error.unwrap_err().kind,
        WireErrorKind::TooLong {
            length: 15,
            max: 10
        }
    );
}

#[test]
fn a_message_field_given_twice_merges_in_protobuf() {
    let first = ObjectMeta {
        name: "web".into(),
        uid: "1".into(),
        ..ObjectMeta::default()
    };
    let second = ObjectMeta {
        resource_version: "7".into(),
        ..ObjectMeta::default()
    };
    let mut bytes = first.to_protobuf();
    // Only the version is appended, as a server that splices it does.
    let spliced = second.to_protobuf();
    let tag = spliced.iter().position(|&byte| byte == 6 << 3 | 2).unwrap();
    bytes.extend_from_slice(&spliced[tag..tag + 3]);
    let merged = ObjectMeta::from_protobuf(&bytes, &mut DecodeContext::new()).unwrap();
    assert_eq!(
        merged,
        ObjectMeta {
            resource_version: "7".into(),
            ..first
        }
    );
}

#[test]
fn zero_times_are_empty_messages_in_protobuf_and_absent_in_json() {
    let meta = ObjectMeta {
        name: "a".into(),
        ..ObjectMeta::default()
    };
    let bytes = meta.to_protobuf();
    assert!(
        bytes.windows(2).any(|pair| pair == [8 << 3 | 2, 0]),
        "{bytes:?}"
    );
    assert_eq!(meta.to_json(), br#"{"name":"a"}"#);
    let dated = ObjectMeta {
        creation_timestamp: Some(Time::from_unix(0)),
        ..meta
    };
    let text = String::from_utf8(dated.to_json()).unwrap();
    assert!(text.contains("1970-01-01T00:00:00Z"), "{text}");
}

#[test]
fn repeated_strings_are_shared_by_an_interner() {
    let mut cx = DecodeContext::new().with_interner(Interner::default());
    let text = br#"{"namespace": "a-namespace-of-a-long-name"}"#;
    let first = ObjectMeta::from_json(text, &mut cx).unwrap();
    let second = ObjectMeta::from_json(text, &mut cx).unwrap();
    assert!(first.namespace.same_allocation(&second.namespace));
}
