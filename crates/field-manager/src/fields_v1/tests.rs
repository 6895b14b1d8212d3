//! Field sets are read and written as in Go.

use super::*;
use serde_json::json;

#[test]
fn a_set_of_the_maximum_depth_can_be_read_and_a_deeper_one_cannot() {
    for depth in [
        1,
        FIELDS_DEPTH_MAX - 1,
        FIELDS_DEPTH_MAX,
        FIELDS_DEPTH_MAX + 1,
        100_000,
    ] {
        let text = r#"{"f:a}\"{":"#.repeat(depth - 1) + "{}" + &"}".repeat(depth - 1);
        match FieldSet::from_json(&text) {
            Ok(set) => assert_eq!((set.depth(), depth <= FIELDS_DEPTH_MAX), (depth, true)),
            Err(_) => assert!(depth > FIELDS_DEPTH_MAX, "{depth}"),
        }
    }
}

#[test]
fn a_set_is_read_and_written_with_the_same_bytes() {
    for text in [
        "{}",
        r#"{"f:a":{}}"#,
        r#"{"f:a":{".":{},"f:b":{}}}"#,
        r#"{"f:c":{"k:{\"name\":\"x\"}":{".":{},"f:image":{}},"v:\"y\"":{},"i:3":{}}}"#,
        r#"{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}"#,
        r#"{"v:1.5":{},"v:true":{},"v:null":{}}"#,
    ] {
        let set = FieldSet::from_json(text).expect(text);
        assert_eq!(set.to_json(), text);
        assert_eq!(FieldSet::from_json(&set.to_json()), Ok(set));
    }
}

#[test]
fn unknown_elements_are_left_out_and_order_does_not_matter() {
    let set = FieldSet::from_json(r#"{"x:new":{"f:y":{}},"f:b":{},"f:a":null}"#);
    assert_eq!(
        set.map(|it| it.to_json()).as_deref(),
        Ok(r#"{"f:a":{},"f:b":{}}"#)
    );
}

#[test]
fn malformed_sets_are_refused() {
    for text in [
        "",
        "1",
        "[]",
        "{",
        r#"{"f":{}}"#,
        r#"{"fa:b":{}}"#,
        r#"{"v:{":{}}"#,
        r#"{"k:1":{}}"#,
        r#"{"i:x":{}}"#,
        r#"{"f:a":1}"#,
        r"{} {}",
    ] {
        assert!(FieldSet::from_json(text).is_err(), "{text}");
    }
    let deep = "{\"f:a\":".repeat(200) + "{}" + &"}".repeat(200);
    let error = FieldSet::from_json(&deep).expect_err("it is too deep");
    assert!(error.message.contains("recursion limit"), "{error}");
}

#[test]
fn strings_and_numbers_are_escaped_as_in_go() {
    let name = |element| FieldSet::from_paths([&[element][..]]).to_json();
    assert_eq!(name("a<\u{1}\"".into()), r#"{"f:a<\u0001\"":{}}"#);
    assert_eq!(
        name(PathElement::value(json!("<"))),
        r#"{"v:\"\\u003c\"":{}}"#
    );
    assert_eq!(name(PathElement::value(json!(1e-7))), r#"{"v:1e-07":{}}"#);
    assert_eq!(name(PathElement::value(json!(1e21))), r#"{"v:1e+21":{}}"#);
    assert_eq!(name(PathElement::value(json!(2.0))), r#"{"v:2":{}}"#);
    let large = FieldSet::from_json(r#"{"v:9007199254740993":{}}"#);
    let large = large.map(|it| it.to_json());
    assert_eq!(large.as_deref(), Ok(r#"{"v:9007199254740992":{}}"#));
}
