//! `difference`: the JSON patch that makes one document of another.

use serde_json::{Value, json};

/// Returns the operations of a JSON patch (RFC 6902) that turns `from` into `to`; none if they are
/// equal. It is correct, and not always the shortest possible.
///
/// ```
/// use kubist_codec::patch::difference;
/// use serde_json::json;
/// let (from, to) = (json!({"a": 1, "b": [1, 2]}), json!({"a": 1, "b": [1, 3]}));
/// let operations = difference(&from, &to);
/// assert_eq!(operations, [json!({"op": "replace", "path": "/b/1", "value": 3})]);
/// ```
pub fn difference(from: &Value, to: &Value) -> Vec<Value> {
    let patch = json_patch::diff(from, to);
    patch.0.iter().map(|it| json!(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Reading;
    use crate::patch::json::JsonPatch;
    use proptest::prelude::*;

    fn trees() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..3i64).prop_map(Value::from),
            "[a/~]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c/~]{1,2}", inner, 0..4)
                    .prop_map(|it| Value::Object(it.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_patch_makes_one_document_of_the_other(from in trees(), to in trees()) {
            let (from, to) = (json!({"x": from}), json!({"x": to}));
            let patch = Value::from(difference(&from, &to)).to_string();
            let patch = JsonPatch::parse(patch.as_bytes(), Reading::Checked).expect("a patch");
            prop_assert_eq!(patch.apply(from).expect("it applies"), to);
        }
    }
}
