//! The operations, limits and error texts of JSON patches, as upstream has them.

use super::*;
use serde_json::json;

fn patched(document: &Value, patch: Value) -> Result<Value, PatchError> {
    JsonPatch::parse(patch.to_string().as_bytes(), Reading::Checked)?.apply(document.clone())
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn operations_do_what_upstream_does() {
    let before = json!({"data": {"a": "1", "t": "2"}, "list": [1, 2, 3]});
    let cases = [
        (
            json!([{"op":"add","path":"/data/b","value":"2"}]),
            "/data/b",
            Some(json!("2")),
        ),
        (
            json!([{"op":"replace","path":"/data/zz","value":"1"}]),
            "/data/zz",
            Some(json!("1")),
        ),
        (json!([{"op":"remove","path":"/data/a"}]), "/data/a", None),
        (
            json!([{"op":"add","path":"/data/x"}]),
            "/data/x",
            Some(json!(null)),
        ),
        (
            json!([{"op":"copy","from":"/data/a","path":"/data/c"}]),
            "/data/c",
            Some(json!("1")),
        ),
        (
            json!([{"op":"move","from":"/data/t","path":"/data/m"}]),
            "/data/t",
            None,
        ),
        (
            json!([{"op":"add","path":"/list/-","value":4}]),
            "/list",
            Some(json!([1, 2, 3, 4])),
        ),
        (
            json!([{"op":"add","path":"/list/1","value":9}]),
            "/list",
            Some(json!([1, 9, 2, 3])),
        ),
        (
            json!([{"op":"add","path":"/list/3","value":9}]),
            "/list",
            Some(json!([1, 2, 3, 9])),
        ),
        (
            json!([{"op":"add","path":"/list/-1","value":9}]),
            "/list",
            Some(json!([1, 2, 3, 9])),
        ),
        (
            json!([{"op":"remove","path":"/list/-1"}]),
            "/list",
            Some(json!([1, 2])),
        ),
        (
            json!([{"op":"replace","path":"/list/0","value":9}]),
            "/list",
            Some(json!([9, 2, 3])),
        ),
        (
            json!([{"op":"add","path":"/data/e~1a~01","value":1}]),
            "/data/e~1a~01",
            Some(json!(1)),
        ),
        (
            json!([{"op":"test","path":"/data/none","value":null}]),
            "/data/a",
            Some(json!("1")),
        ),
        (
            json!([{"op":"test","path":"/list","value":[1,2,3]}]),
            "/data/a",
            Some(json!("1")),
        ),
    ];
    for (patch, path, expected) in cases {
        let after = patched(&before, patch.clone()).unwrap();
        assert_eq!(after.pointer(path), expected.as_ref(), "{patch}");
    }
    assert_eq!(patched(&before, json!([])).unwrap(), before);
}

#[test]
fn the_whole_document_can_be_replaced_by_an_object_or_a_list_and_compared() {
    let before = json!({"a": 1});
    for (operations, after) in [
        (json!([{"op":"replace","path":"","value":{}}]), json!({})),
        (json!([{"op":"replace","path":"","value":[1]}]), json!([1])),
        (
            json!([{"op":"replace","path":"","value":{}},{"op":"add","path":"/b","value":2}]),
            json!({"b": 2}),
        ),
        (
            json!([{"op":"test","path":"","value":{"a":1}}]),
            before.clone(),
        ),
    ] {
        assert_eq!(
            patched(&before, operations.clone()),
            Ok(after),
            "{operations}"
        );
    }
}

#[test]
fn operations_that_do_not_apply_fail_the_patch() {
    let before = json!({"data": {"a": "1"}, "list": [1]});
    for operation in [
        json!({"op":"remove","path":"/data/zz"}),
        json!({"op":"test","path":"/data/a","value":"9"}),
        json!({"op":"foo","path":"/data"}),
        json!({"path":"/data"}),
        json!({"op":"add","path":"/nope/deep","value":1}),
        json!({"op":"add","path":"/data/a/b","value":1}),
        json!({"op":"add","path":"","value":{}}),
        json!({"op":"remove","path":""}),
        json!({"op":"copy","from":"/data","path":""}),
        json!({"op":"copy","from":"","path":"/data/b"}),
        json!({"op":"replace","path":"","value":1}),
        json!({"op":"replace","path":""}),
        json!({"op":"test","path":"","value":{}}),
        json!({"op":"add","value":1}),
        json!({"op":"copy","path":"/x"}),
        json!({"op":"move","from":"/data/zz","path":"/x"}),
        json!({"op":"add","path":"/list/2","value":1}),
        json!({"op":"add","path":"/list/-3","value":1}),
        json!({"op":"add","path":"/list/x","value":1}),
        json!({"op":"replace","path":"/list/1","value":1}),
        json!({"op":"remove","path":"/list/-"}),
    ] {
        let error = patched(&before, json!([operation])).unwrap_err();
        assert!(
            matches!(error, PatchError::Operation { index: 0, .. }),
            "{operation}"
        );
    }
}

#[test]
fn limits_hold() {
    let many: Vec<Value> = (0..=OPERATIONS_MAX)
        .map(|_| json!({"op":"test","path":"/a","value":1}))
        .collect();
    let error = patched(&json!({"a": 1}), Value::from(many)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The allowed maximum operations in a JSON patch is 10000, got 10001"
    );
    let doubling: Vec<Value> = (0..40)
        .map(|_| json!({"op":"copy","from":"/a","path":"/a/-"}))
        .collect();
    let error = patched(&json!({"a": [1]}), Value::from(doubling)).unwrap_err();
    assert!(matches!(error, PatchError::CopyTooLarge { .. }));
    let inserting: Vec<Value> = (0..OPERATIONS_MAX)
        .map(|_| json!({"op":"add","path":"/a/0","value":1}))
        .collect();
    let long = json!({"a": vec![1; 3_000]});
    let error = patched(&long, Value::from(inserting.clone())).unwrap_err();
    assert!(matches!(error, PatchError::TooManyMoves { .. }));
    let after = patched(&json!({"a": []}), Value::from(inserting[..5_000].to_vec()));
    assert_eq!(after.unwrap()["a"].as_array().map(Vec::len), Some(5_000));
    for patch in ["{}", "[1]", "[", "[{\"op\":1}]"] {
        let error = JsonPatch::parse(patch.as_bytes(), Reading::Checked).unwrap_err();
        assert!(matches!(error, PatchError::Malformed { .. }), "{patch}");
    }
}

#[test]
fn malformed_patches_are_refused_in_upstreams_words() {
    for (patch, words) in [
        ("", "unexpected end of JSON input"),
        ("[] trailing", "invalid character 't' after top-level value"),
        (
            "{}",
            "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (
            "[7]",
            "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
        ),
        (
            r#"[{"op":"add","path":7}]"#,
            "json: cannot unmarshal number into Go struct field jsonPatchOp.path of type \
             string",
        ),
        (
            r#"[{"op":"add","path":"/a","value":[1e400]}]"#,
            "json: cannot unmarshal number 1e400 into Go struct field jsonPatchOp.value of \
             type float64",
        ),
        (
            r#"[{"op":7,"path":"/a"}]"#,
            "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
    ] {
        let error = JsonPatch::parse(patch.as_bytes(), Reading::Checked).unwrap_err();
        let expected = format!("error decoding patch: {words}");
        assert_eq!(error.to_string(), expected, "{patch}");
    }
}

#[test]
fn a_patch_that_is_read_loosely_is_refused_in_other_words_or_when_it_is_applied() {
    for (patch, words) in [
        ("", "unexpected end of JSON input"),
        (
            "{}",
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        (
            "[7]",
            "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
        ),
    ] {
        let error = JsonPatch::parse(patch.as_bytes(), Reading::Loose).unwrap_err();
        assert_eq!(error.to_string(), words, "{patch}");
    }
    let apply = |patch: &[u8]| {
        let patch = JsonPatch::parse(patch, Reading::Loose).unwrap();
        patch.apply(json!({"a": 1}))
    };
    for patch in [r#"[{"op":7,"path":"/a"}]"#, r#"[{"op":"add","path":7}]"#] {
        let error = apply(patch.as_bytes()).unwrap_err();
        assert!(matches!(error, PatchError::Operation { .. }), "{patch}");
    }
    let unused = apply(br#"[{"op":"add","path":"/a","from":7,"value":2}]"#);
    assert_eq!(unused, Ok(json!({"a": 2})));
}

#[test]
fn operations_cannot_put_trees_into_trees_without_end() {
    let nested =
        |levels: usize| -> Value { (0..levels).fold(json!({}), |inner, _| json!({ "x": inner })) };
    let before = json!({"a": nested(100), "b": nested(100), "c": nested(100)});
    let into = |name: &str| format!("/{name}{}", "/x".repeat(101));
    for operation in [
        json!({"op":"move","from":"/a","path":into("b")}),
        json!({"op":"copy","from":"/a","path":into("b")}),
        json!({"op":"add","path":into("b"),"value":nested(100)}),
    ] {
        let first = patched(&before, json!([operation]));
        assert!(first.is_ok(), "{operation}");
        let again = json!([operation, {"op":"move","from":"/b","path":into("c")}]);
        let error = patched(&before, again).unwrap_err();
        assert!(matches!(error, PatchError::Operation { index: 1, .. }));
    }
}

#[test]
fn null_is_an_empty_patch_but_no_operation() {
    let before = json!({"a": "1"});
    assert_eq!(patched(&before, json!(null)).unwrap(), before);
    let error = patched(&before, json!([null])).unwrap_err();
    assert!(matches!(error, PatchError::Operation { index: 0, .. }));
}
