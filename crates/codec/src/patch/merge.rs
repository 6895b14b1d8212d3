//! JSON merge patch (RFC 7386): applying and creating one.

use super::{PatchError, Reading};
use serde_json::{Map, Value};

/// Parses a patch, which must be an object: replacing the whole object by something else makes no
/// sense here. With [`Reading::Loose`] it may be a list, which cannot yield an object.
///
/// # Errors
/// The patch is not an object, or not JSON.
pub fn parse(patch: &[u8], reading: Reading) -> Result<Value, PatchError> {
    let invalid = || PatchError::Malformed {
        reason: "Invalid JSON Patch".to_owned(),
    };
    match (super::read(patch), reading) {
        (Ok(value @ Value::Object(_)), _) => Ok(value),
        (Ok(mut value @ Value::Array(_)), Reading::Loose) => {
            super::drop_nulls(&mut value);
            Ok(value)
        }
        (Ok(Value::Null), _) | (_, Reading::Loose) => Err(invalid()),
        (Ok(other), Reading::Checked) => Err(super::decoding(super::no_map(&other))),
        (Err(why), Reading::Checked) => Err(super::decoding(why)),
    }
}

/// Applies a patch: objects merge, null deletes, and everything else replaces. Objects in a list
/// that replaces anything but an object have no nulls, as in upstream.
pub fn merge(target: Value, patch: Value) -> Value {
    let patch = match patch {
        Value::Object(patch) => patch,
        mut other => {
            if !target.is_object() {
                super::drop_nulls(&mut other);
            }
            return other;
        }
    };
    let mut target = match target {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    for (key, change) in patch {
        if change.is_null() {
            target.remove(&key);
        } else {
            let before = target.remove(&key).unwrap_or_default();
            target.insert(key, merge(before, change));
        }
    }
    Value::Object(target)
}

/// Returns the patch that turns `before` into `after`.
///
/// A null member in `after` cannot be expressed: a patch with null deletes it.
pub fn diff(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return after.clone();
    };
    let mut patch = Map::new();
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, after) in after {
        match before.get(key) {
            Some(before) if before == after => {}
            Some(before) => {
                patch.insert(key.clone(), diff(before, after));
            }
            None => {
                patch.insert(key.clone(), after.clone());
            }
        }
    }
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_examples_of_the_rfc_hold() {
        let cases = [
            (json!({"a":"b"}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"b"}), json!({"b":"c"}), json!({"a":"b","b":"c"})),
            (json!({"a":"b"}), json!({"a":null}), json!({})),
            (
                json!({"a":"b","b":"c"}),
                json!({"a":null}),
                json!({"b":"c"}),
            ),
            (json!({"a":["b"]}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"c"}), json!({"a":["b"]}), json!({"a":["b"]})),
            (
                json!({"a":{"b":"c"}}),
                json!({"a":{"b":"d","c":null}}),
                json!({"a":{"b":"d"}}),
            ),
            (json!({"a":[{"b":"c"}]}), json!({"a":[1]}), json!({"a":[1]})),
            (json!({"e":null}), json!({"a":1}), json!({"a":1,"e":null})),
            (json!([1, 2]), json!({"a":"b","c":null}), json!({"a":"b"})),
            (
                json!({}),
                json!({"a":{"bb":{"ccc":null}}}),
                json!({"a":{"bb":{}}}),
            ),
        ];
        for (target, patch, expected) in cases {
            assert_eq!(merge(target, patch.clone()), expected, "{patch}");
        }
    }

    #[test]
    fn only_objects_are_patches() {
        let parse = |patch| parse(patch, Reading::Checked);
        assert!(parse(b"{\"a\":1}").is_ok());
        for patch in ["", "{", "[]", "1", "null", "{}{}"] {
            let error = parse(patch.as_bytes()).unwrap_err();
            assert!(matches!(error, PatchError::Malformed { .. }), "{patch}");
        }
        for (patch, words) in [
            ("", "error decoding patch: unexpected end of JSON input"),
            (
                "{} trailing",
                "error decoding patch: invalid character 't' after top-level value",
            ),
            (
                "[]",
                "error decoding patch: json: cannot unmarshal array into Go value of type \
                 map[string]interface {}",
            ),
            ("null", "Invalid JSON Patch"),
        ] {
            let error = parse(patch.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), words, "{patch}");
        }
    }

    #[test]
    fn a_patch_that_is_read_loosely_may_be_a_list_and_is_refused_in_one_way() {
        let parse = |patch: &str| parse(patch.as_bytes(), Reading::Loose);
        assert_eq!(parse("[null,{\"a\":null}]"), Ok(json!([null, {}])));
        for patch in ["", "null", "7", "{} trailing"] {
            let error = parse(patch).unwrap_err();
            assert_eq!(error.to_string(), "Invalid JSON Patch", "{patch}");
        }
    }

    #[test]
    fn lists_replace_without_the_nulls_of_their_objects() {
        let patch = json!({"a": [{"b": null, "c": [{"d": null}]}]});
        let expected = json!({"a": [{"c": [{}]}]});
        assert_eq!(merge(json!({}), patch.clone()), expected);
        assert_eq!(merge(json!({"a": [1]}), patch.clone()), expected);
        assert_eq!(merge(json!({"a": {"x": 1}}), patch.clone()), patch);
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            (0..3i32).prop_map(Value::from),
            Just(json!([])),
            "[ab]{0,2}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop::collection::btree_map("[a-c]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
        })
    }

    proptest! {
        #[test]
        fn a_difference_leads_from_before_to_after(before in tree(), after in tree()) {
            let patch = diff(&before, &after);
            prop_assert_eq!(merge(before, patch), after);
        }
    }
}
