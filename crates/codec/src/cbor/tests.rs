//! Tests of CBOR.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn encoded(json: &str) -> Vec<u8> {
    let mut cbor = Vec::new();
    let mut encoder = CborEncoder::new();
    encoder.push(json.as_bytes(), &mut cbor);
    encoder.finish(&mut cbor);
    cbor
}

fn json(cbor: &[u8]) -> Result<String, String> {
    let json = to_json(cbor).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(json).unwrap())
}

#[test]
fn values_begin_with_the_tag_and_strings_are_bytes() {
    let expected = [
        &MAGIC[..],
        &[0xbf, 0x41, b'a', 0x9f, 1, 0x20, 0xf5, 0xf6, 0xff, 0xff],
    ];
    assert_eq!(encoded(r#" {"a" : [1, -1, true,null]}"#), expected.concat());
}

#[test]
fn values_that_follow_each_other_are_a_sequence() {
    let cbor = encoded("{}\n{}\n");
    let one = [&MAGIC[..], &[0xbf, 0xff]].concat();
    assert_eq!(cbor, [one.clone(), one].concat());
}

#[test]
fn what_others_write_is_read() {
    for (cbor, expected) in [
        // Lengths that are known, and text.
        (
            &[0xa1, 0x61, b'a', 0x82, 1, 0x39, 1, 0][..],
            r#"{"a":[1,-257]}"#,
        ),
        // A half float, and one of eight bytes.
        (
            &[
                0x82, 0xf9, 0x3e, 0, 0xfb, 0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a,
            ],
            "[1.5,0.1]",
        ),
        // Strings in pieces.
        (&[0x7f, 0x61, b'a', 0x61, b'b', 0xff], r#""ab""#),
        (&[0x5f, 0x41, b'a', 0x40, 0xff], r#""a""#),
        // Bytes for base64; other tags mean nothing.
        (&[0xd6, 0x42, 0xfb, 0xff], r#""+/8=""#),
        (&[0xd9, 0xd9, 0xf7, 0xd8, 0x2a, 0xf4], "false"),
        // They count for all bytes below, also for keys, until another is met.
        (&[0xd6, 0x81, 0x43, b'a', b'b', b'c'], r#"["YWJj"]"#),
        (
            &[0xd6, 0xa1, 0x41, b'a', 0x42, 0xfb, 0xff],
            r#"{"YQ==":"+/8="}"#,
        ),
        (
            &[0xd6, 0x82, 0xd5, 0x42, 0xfb, 0xff, 0x61, b'a'],
            r#"["-_8","a"]"#,
        ),
        (&[0xd5, 0x42, 0xfb, 0xff], r#""-_8""#),
        (&[0xd7, 0x42, 0xfb, 0xff], r#""fbff""#),
        (&[0xd6, 0xd8, 0x2a, 0x42, 0xfb, 0xff], r#""+/8=""#),
        // Bytes in pieces, of which a character may be in two.
        (&[0x5f, 0x41, 0xc3, 0x41, 0xa9, 0xff], "\"\u{e9}\""),
        // Times.
        (&[0xc1, 0], r#""1970-01-01T00:00:00Z""#),
        (&[0xc1, 0x20], r#""1969-12-31T23:59:59Z""#),
        (&[0xc1, 0xf9, 0x3e, 0], r#""1970-01-01T00:00:01.5Z""#),
        (
            &[0xc1, 0xfb, 0xbf, 0xf8, 0, 0, 0, 0, 0, 0],
            r#""1969-12-31T23:59:58.5Z""#,
        ),
        (
            &[0xc1, 0xfb, 0x3e, 0x11, 0x2e, 0x0b, 0xe8, 0x26, 0xd6, 0x95],
            r#""1970-01-01T00:00:00.000000001Z""#,
        ),
        (
            &[0xc1, 0x1b, 0, 0, 0, 0x3a, 0xff, 0xf4, 0x41, 0x7f],
            r#""9999-12-31T23:59:59Z""#,
        ),
        (
            &[0xc1, 0x3b, 0, 0, 0, 0x0e, 0x79, 0x74, 0x7b, 0xff],
            r#""0000-01-01T00:00:00Z""#,
        ),
        (b"\xc0\x741970-01-01T00:00:00Z", r#""1970-01-01T00:00:00Z""#),
        // Bytes that are no text.
        (&[0x41, 0xff], "\"\u{fffd}\""),
    ] {
        assert_eq!(json(cbor).as_deref(), Ok(expected), "{cbor:x?}");
    }
}

/// Checks refusals; the texts are those of upstream's decoder for the same bytes.
fn check_refusals(cases: &[(&[u8], &str)]) {
    for (cbor, expected) in cases {
        let found = json(cbor).unwrap_err();
        let found = found.strip_prefix("cbor: ").unwrap_or(&found);
        assert_eq!(found, *expected, "{cbor:x?}");
    }
}

#[test]
fn what_json_does_not_have_is_refused_as_upstream_does() {
    check_refusals(&[
        (&[][..], "EOF"),
        (&[0xa1, 0x61, b'a'], "unexpected EOF"),
        (&[1, 2], "1 bytes of extraneous data starting at index 1"),
        (
            &[0xa1, 1, 1],
            "cannot unmarshal positive integer into Go value of type string",
        ),
        (
            &[0xa2, 0x61, b'a', 1, 0x41, b'a', 1],
            "found duplicate map key \"a\" at map element index 1",
        ),
        (
            &[0xf9, 0x7c, 0],
            "data item of cbor type primitives is not accepted by protocol: floating-point \
             infinity",
        ),
        (
            &[0xf9, 0x7e, 0],
            "data item of cbor type primitives is not accepted by protocol: floating-point NaN",
        ),
        (
            &[0xf7],
            "data item of cbor type primitives is not accepted by protocol: simple value 23 is not \
             recognized",
        ),
        (&[0xf8, 0x14], "invalid simple value 20 for type primitives"),
        (
            &[0xc2, 0x41, 1],
            "data item of cbor type tag is not accepted by protocol: bignum",
        ),
        (
            &[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            "cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 \
             overflows Go's int64)",
        ),
        (
            &[0x3b, 0x80, 0, 0, 0, 0, 0, 0, 0],
            "cannot unmarshal negative integer into Go value of type int64 (-9223372036854775809 \
             overflows Go's int64)",
        ),
        (&[0x61, 0xff], "invalid UTF-8 string"),
        (
            &[0x7f, 0x61, 0xc3, 0x61, 0xa9, 0xff],
            "invalid UTF-8 string",
        ),
        (&[0xff], "unexpected \"break\" code"),
        (&[0x81, 0xff], "unexpected \"break\" code"),
        (&[0xbf, 0x61, b'a', 0xff], "unexpected \"break\" code"),
    ]);
}

#[test]
fn times_that_rfc_3339_does_not_have_are_refused_as_upstream_does() {
    let year = "decoded time cannot be represented in RFC3339 format with sub-second precision: \
                Time.MarshalText: year outside of range [0,9999]";
    check_refusals(&[
        (
            &[0xc0, 0x63, b'a', b'b', b'c'],
            "cannot set abc for time.Time: parsing time \"abc\" as \"2006-01-02T15:04:05Z07:00\": \
             cannot parse \"abc\" as \"2006\"",
        ),
        (
            b"\xc0\x541970-01-01T00:00:00Z",
            "tag number 0 must be followed by text string, got byte string",
        ),
        (
            &[0xc1, 0x61, b'a'],
            "tag number 1 must be followed by integer or floating-point number, got UTF-8 text \
             string",
        ),
        (&[0xc1, 0x1b, 0, 0, 0, 0x3a, 0xff, 0xf4, 0x41, 0x80], year),
        (&[0xc1, 0x3b, 0, 0, 0, 0x0e, 0x79, 0x74, 0x7c, 0], year),
        (
            &[0xc1, 0xfb, 0x7e, 0x37, 0xe4, 0x3c, 0x88, 0, 0x75, 0x9c],
            year,
        ),
        (
            &[0xc1, 0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            "cannot unmarshal positive integer into Go value of type time.Time \
             (18446744073709551615 overflows Go's int64)",
        ),
    ]);
}

#[test]
fn malformed_values_are_refused_as_upstream_does() {
    let deep = vec![0x81; 1_000];
    check_refusals(&[
        (
            &[0x1c],
            "invalid additional information 28 for type positive integer",
        ),
        (
            &[0x7f, 0x41, b'a', 0xff],
            "wrong element type byte string for indefinite-length UTF-8 text string",
        ),
        (
            &[0x7f, 0x7f, 0x61, b'a', 0xff, 0xff],
            "indefinite-length UTF-8 text string chunk is not definite-length",
        ),
        // Lengths of what does not come.
        (
            &[0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            "unexpected EOF",
        ),
        (
            &[0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            "unexpected EOF",
        ),
        (&deep, "exceeded max nested level 126"),
    ]);
}

#[test]
fn json_that_gets_too_long_is_not_made() {
    let times = [&[0x99, 0xff, 0xff][..], &[0xc1, 0].repeat(0xffff)].concat();
    let limited = to_json_within(&times, 100);
    assert_eq!(limited, Err(CborError::TooLong { max: 100 }));
    for cbor in [
        &[0x82, 0x19, 3, 0xe8, 0x19, 3, 0xe8][..],
        &[0x67, b'"', b'"', b'"', b'"', b'a', b'b', b'c'],
        &[0xa1, 0x41, b'a', 0x82, 0xf5, 0xf6],
    ] {
        let json = to_json(cbor).unwrap();
        assert_eq!(to_json_within(cbor, json.len()), Ok(json.clone()));
        let max = json.len() - 1;
        assert_eq!(to_json_within(cbor, max), Err(CborError::TooLong { max }));
    }
}

#[test]
fn integers_that_upstream_cannot_read_are_written_as_floats() {
    for (json, expected) in [
        (
            "9223372036854775807",
            &[0x1b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..],
        ),
        (
            "-9223372036854775808",
            &[0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        ),
        ("9223372036854775808", &[0xfa, 0x5f, 0, 0, 0]),
        (
            "10000000000000000000",
            &[0xfb, 0x43, 0xe1, 0x58, 0xe4, 0x60, 0x91, 0x3d, 0],
        ),
        ("-9223372036854775809", &[0xfa, 0xdf, 0, 0, 0]),
    ] {
        let cbor = encoded(json);
        assert_eq!(&cbor[MAGIC.len()..], expected, "{json}");
        assert!(to_json(&cbor).is_ok(), "{json}");
    }
}

#[test]
fn the_type_of_a_value_is_named_as_upstream_does() {
    for (cbor, expected) in [
        (&[0xd9, 0xd9, 0xf7, 0x80][..], "array"),
        (&[0x61, b'a'], "UTF-8 text string"),
        (&[0x41, b'a'], "byte string"),
        (&[5], "positive integer"),
        (&[0x25], "negative integer"),
        (&[0xf6], "primitives"),
        (&[0xa0], "map"),
    ] {
        assert_eq!(type_name(cbor), expected);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("is finite", |it| it.is_finite())
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\"\\\\a]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_comes_back_wherever_the_pieces_end(
        value in any_value(),
        pretty in any::<bool>(),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
    ) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let mut ends: Vec<usize> = ends.iter().map(|it| it.index(text.len() + 1)).collect();
        ends.extend([0, text.len()]);
        ends.sort_unstable();
        let (mut encoder, mut cbor) = (CborEncoder::new(), Vec::new());
        for pair in ends.windows(2) {
            encoder.push(&text.as_bytes()[pair[0]..pair[1]], &mut cbor);
        }
        encoder.finish(&mut cbor);
        prop_assert!(is_cbor(&cbor));
        let read: Value = serde_json::from_slice(&to_json(&cbor).unwrap()).unwrap();
        prop_assert_eq!(read, value);
    }

    #[test]
    fn nothing_panics_whatever_the_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(json) = to_json(&bytes) {
            prop_assert!(serde_json::from_slice::<Value>(&json).is_ok());
        }
    }
}

#[test]
fn an_object_is_about_as_long_as_its_json() {
    let object =
        json!({"metadata": {"name": "a", "labels": {"app": "web"}}, "spec": {"replicas": 3}});
    assert!(encoded(&object.to_string()).len() < object.to_string().len());
}
