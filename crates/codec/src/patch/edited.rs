//! `edited`: the JSON patch of a change that was made to the typed form of a JSON text.
//!
//! It makes trees only of the members that differ, so that a small change of a large object costs
//! little.

use super::{carry_over, difference};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// Returns the operations of a JSON patch (RFC 6902) that makes the change from `before` to
/// `after`, both encodings of the typed form, to `raw`, the text from which `before` was decoded.
/// Fields that the typed form lacks survive; see [`carry_over`](fn@carry_over).
///
/// ```
/// use kubist_codec::patch::edited;
/// use serde_json::json;
/// let raw = br#"{"spec": {"size": 1, "later": true}}"#;
/// let operations = edited(raw, br#"{"spec":{"size":1}}"#, br#"{"spec":{"size":2}}"#)?;
/// assert_eq!(operations, [json!({"op": "replace", "path": "/spec/size", "value": 2})]);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// One of the texts is not JSON.
pub fn edited(raw: &[u8], before: &[u8], after: &[u8]) -> serde_json::Result<Vec<Value>> {
    let mut operations = Vec::new();
    if before != after {
        let of = |text| serde_json::from_slice::<&RawValue>(text);
        descend(&mut operations, "", (of(raw)?, of(before)?, of(after)?))?;
    }
    Ok(operations)
}

fn descend(
    operations: &mut Vec<Value>,
    path: &str,
    (raw, before, after): (&RawValue, &RawValue, &RawValue),
) -> serde_json::Result<()> {
    let texts = [raw.get(), before.get(), after.get()];
    if texts.iter().any(|it| !it.starts_with('{')) {
        let [raw, before, after] = texts.map(serde_json::from_str::<Value>);
        let (raw, before, after) = (raw?, before?, after?);
        let wanted = carry_over(&raw, &before, &after);
        operations.extend(
            difference(&raw, &wanted)
                .into_iter()
                .map(|it| below(path, it)),
        );
        return Ok(());
    }
    let [raw, before, after] = texts.map(serde_json::from_str::<Members<'_>>);
    let (raw, before, after) = (raw?, before?, after?);
    for (name, was) in &raw {
        let path = || format!("{path}/{}", escaped(name));
        match (before.get(name), after.get(name)) {
            (Some(before), Some(after)) if before.get() == after.get() => {}
            (Some(before), Some(after)) => descend(operations, &path(), (was, before, after))?,
            (None, Some(after)) => add(operations, path(), after)?,
            (Some(_), None) => {
                operations.push(serde_json::json!({"op": "remove", "path": path()}));
            }
            (None, None) => {}
        }
    }
    for (name, after) in &after {
        let is_same = before.get(name).is_some_and(|it| it.get() == after.get());
        // What the typed form always writes, such as an empty status, is no change.
        if !raw.contains_key(name) && !is_same {
            add(operations, format!("{path}/{}", escaped(name)), after)?;
        }
    }
    Ok(())
}

/// Adds a member, or replaces it.
fn add(operations: &mut Vec<Value>, path: String, value: &RawValue) -> serde_json::Result<()> {
    let value: Value = serde_json::from_str(value.get())?;
    operations.push(serde_json::json!({"op": "add", "path": path, "value": value}));
    Ok(())
}

/// Puts a path before that of an operation.
fn below(path: &str, mut operation: Value) -> Value {
    for member in ["path", "from"] {
        if let Some(Value::String(text)) = operation.get_mut(member) {
            text.insert_str(0, path);
        }
    }
    operation
}

/// Writes a name as a part of a JSON pointer (RFC 6901).
fn escaped(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) {
        name.replace('~', "~0").replace('/', "~1").into()
    } else {
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Reading;
    use crate::patch::json::JsonPatch;
    use proptest::prelude::*;
    use serde_json::json;

    fn trees() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            (0..3i64).prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c~/]", inner, 0..4)
                    .prop_map(|it| Value::Object(it.into_iter().collect())),
            ]
        })
    }

    /// Drops some members, as a typed form that does not have them.
    fn typed(tree: &Value) -> Value {
        match tree {
            Value::Object(map) => {
                let known = map.iter().filter(|(name, _)| *name != "c");
                Value::Object(known.map(|(name, it)| (name.clone(), typed(it))).collect())
            }
            Value::Array(list) => list.iter().map(typed).collect(),
            leaf => leaf.clone(),
        }
    }

    proptest! {
        /// Texts and trees lead to the same object.
        #[test]
        fn the_patch_makes_what_carrying_over_makes(raw in trees(), after in trees()) {
            let (raw, after) = (json!({"x": raw}), json!({"x": typed(&after)}));
            let before = typed(&raw);
            let texts = [&raw, &before, &after].map(ToString::to_string);
            let [raw_text, before_text, after_text] = texts.each_ref().map(String::as_bytes);
            let operations = edited(raw_text, before_text, after_text).expect("JSON");
            let patch = Value::from(operations).to_string();
            let patch = JsonPatch::parse(patch.as_bytes(), Reading::Checked).expect("a patch");
            let wanted = carry_over(&raw, &before, &after);
            prop_assert_eq!(patch.apply(raw).expect("it applies"), wanted);
        }
    }

    #[test]
    fn text_that_is_no_json_is_an_error() {
        assert!(edited(b"{", b"{}", b"[]").is_err());
        assert_eq!(
            edited(b"{", b"1", b"1").expect("nothing changed"),
            [Value::Null; 0]
        );
    }
}
