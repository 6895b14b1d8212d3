//! JSON Patch (RFC 6902) as upstream's server understands it.
//!
//! It is laxer than the RFC in places that clients depend on: `replace` of a member that is not
//! there adds it, a missing `value` is null, negative indexes count from the end. And stricter:
//! `replace` and `test` alone can be about the whole document, which stays an object or a list. It
//! has limits on operations and on copying.

mod spent;
mod words;

use self::spent::Spent;
use self::words::Words;
use super::{PatchError, Reading};
use serde_json::Value;

/// Operations in one patch: 10,000, as upstream.
pub const OPERATIONS_MAX: usize = 10_000;
/// Bytes that the `copy` operations of one patch may add: 3 MiB, as upstream.
pub const COPY_BYTES_MAX: usize = 3 << 20;

/// Items of lists that the operations of one patch may move by inserting before them or removing
/// one: far more than any patch that is meant, and a fraction of a second's work. Upstream has no
/// such limit.
pub const MOVED_ITEMS_MAX: usize = 20_000_000;

/// Arrays and objects inside one another that the operations of a patch may make: more than any
/// object has. Deeper trees could not be written, read or dropped without end of the stack.
/// Upstream has no such limit.
pub const DEPTH_MAX: usize = 256;

/// A parsed patch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonPatch {
    operations: Vec<Operation>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Operation {
    op: Option<String>,
    path: Option<String>,
    from: Option<String>,
    value: Value,
}

impl JsonPatch {
    /// Parses a patch. Unknown operations are found when it is applied, and so are members of a
    /// wrong type if it is read loosely; null is an empty patch.
    ///
    /// # Errors
    /// Not a list of objects, or more than [`OPERATIONS_MAX`].
    pub fn parse(patch: &[u8], reading: Reading) -> Result<Self, PatchError> {
        let words = Words(reading);
        let operations = match super::read(patch).map_err(|why| words.refuse(why))? {
            Value::Null => Vec::new(),
            Value::Array(items) => {
                let operations = items.into_iter().map(|item| Operation::read(item, words));
                operations.collect::<Result<Vec<Operation>, PatchError>>()?
            }
            other => return Err(words.mismatch(&other, words.list())),
        };
        let (count, max) = (operations.len(), OPERATIONS_MAX);
        if count > max {
            return Err(PatchError::TooManyOperations { count, max });
        }
        Ok(Self { operations })
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Applies all operations in order; the first that fails fails the patch.
    pub fn apply(&self, mut document: Value) -> Result<Value, PatchError> {
        let mut spent = Spent::default();
        for (index, operation) in self.operations.iter().enumerate() {
            operation
                .apply(&mut document, &mut spent)
                .map_err(|failure| match failure {
                    Failure::Reason(reason) => PatchError::Operation {
                        index,
                        operation: operation.op.clone().unwrap_or_default(),
                        path: operation.path.clone().unwrap_or_default(),
                        reason,
                    },
                    Failure::CopyTooLarge(size) => PatchError::CopyTooLarge {
                        size,
                        max: COPY_BYTES_MAX,
                    },
                    Failure::TooManyMoves => PatchError::TooManyMoves {
                        max: MOVED_ITEMS_MAX,
                    },
                })?;
        }
        Ok(document)
    }
}

enum Failure {
    Reason(String),
    CopyTooLarge(usize),
    TooManyMoves,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        Self::Reason(reason.to_owned())
    }
}

impl Operation {
    /// Null is an operation without a name, which applies to nothing.
    fn read(item: Value, words: Words) -> Result<Self, PatchError> {
        let mut members = match item {
            Value::Null => return Ok(Self::default()),
            Value::Object(members) => members,
            other => return Err(words.mismatch(&other, words.operation())),
        };
        let mut text = |name: &str| match members.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // It is missed where it is needed.
            Some(_) if words.0 == Reading::Loose => Ok(None),
            Some(other) => {
                let wanted = format!("struct field jsonPatchOp.{name} of type string");
                Err(words.mismatch(&other, &wanted))
            }
        };
        Ok(Self {
            op: text("op")?,
            path: text("path")?,
            from: text("from")?,
            value: members.remove("value").unwrap_or_default(),
        })
    }

    /// Whether it is about the whole document.
    fn is_whole(&self) -> bool {
        self.path.as_deref() == Some("")
    }

    fn apply(&self, document: &mut Value, spent: &mut Spent) -> Result<(), Failure> {
        let path = || Pointer::parse(self.path.as_deref().ok_or("it has no path")?);
        let from = || Pointer::parse(self.from.as_deref().ok_or("it has no from")?);
        match self.op.as_deref().unwrap_or_default() {
            "add" => path()?.add(document, self.value.clone(), spent),
            "remove" => path()?.remove(document, spent).map(drop),
            "replace" if self.is_whole() => {
                if !self.value.is_object() && !self.value.is_array() {
                    return Err("only an object or a list can replace the whole".into());
                }
                spent.put(&self.value, 0)?;
                *document = self.value.clone();
                Ok(())
            }
            "replace" => path()?.replace(document, self.value.clone(), spent),
            "move" => {
                let value = from()?.remove(document, spent)?;
                path()?.add(document, value, spent)
            }
            "copy" => {
                let value = from()?.read(document)?.cloned().unwrap_or_default();
                let copied = &mut spent.copied_bytes;
                *copied = copied.saturating_add(value.to_string().len());
                if *copied > COPY_BYTES_MAX {
                    return Err(Failure::CopyTooLarge(*copied));
                }
                path()?.add(document, value, spent)
            }
            "test" => {
                let found = if self.is_whole() {
                    &*document
                } else {
                    path()?.read(document)?.unwrap_or(&Value::Null)
                };
                if *found != self.value {
                    return Err("the value is another".into());
                }
                Ok(())
            }
            other => Err(format!("unexpected kind: {other}").into()),
        }
    }
}

/// A JSON pointer, split into the way to a container and the key in it.
struct Pointer {
    way: Vec<String>,
    key: String,
}

impl Pointer {
    fn parse(text: &str) -> Result<Self, Failure> {
        let parts = text
            .strip_prefix('/')
            .ok_or("the path does not begin with a slash")?;
        let mut way: Vec<String> = parts
            .split('/')
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .collect();
        let key = way.pop().unwrap_or_default();
        Ok(Self { way, key })
    }

    fn container<'d>(&self, document: &'d mut Value) -> Result<&'d mut Value, Failure> {
        let mut place = document;
        for part in &self.way {
            place = match place {
                Value::Object(map) => map.get_mut(part),
                Value::Array(list) => index(part, list.len()).and_then(|i| list.get_mut(i)),
                _ => None,
            }
            .ok_or_else(|| format!("doc is missing path: {part:?}"))?;
        }
        Ok(place)
    }

    /// The value; none if a member is missing.
    fn read<'d>(&self, document: &'d mut Value) -> Result<Option<&'d Value>, Failure> {
        match self.container(document)? {
            Value::Object(map) => Ok(map.get(&self.key)),
            Value::Array(list) => {
                let index = index(&self.key, list.len()).ok_or_else(|| self.bad_index())?;
                Ok(list.get(index))
            }
            _ => Err("the container is a scalar".into()),
        }
    }

    fn add(&self, document: &mut Value, value: Value, spent: &mut Spent) -> Result<(), Failure> {
        spent.put(&value, self.way.len())?;
        match self.container(document)? {
            Value::Object(map) => {
                map.insert(self.key.clone(), value);
            }
            Value::Array(list) if self.key == "-" => list.push(value),
            Value::Array(list) => {
                let index = index(&self.key, list.len() + 1).ok_or_else(|| self.bad_index())?;
                spent.move_from(index, list)?;
                list.insert(index, value);
            }
            _ => return Err("the container is a scalar".into()),
        }
        Ok(())
    }

    fn replace(
        &self,
        document: &mut Value,
        value: Value,
        spent: &mut Spent,
    ) -> Result<(), Failure> {
        spent.put(&value, self.way.len())?;
        match self.container(document)? {
            Value::Object(map) => {
                map.insert(self.key.clone(), value);
            }
            Value::Array(list) => {
                let index = index(&self.key, list.len()).ok_or_else(|| self.bad_index())?;
                list[index] = value;
            }
            _ => return Err("the container is a scalar".into()),
        }
        Ok(())
    }

    fn remove(&self, document: &mut Value, spent: &mut Spent) -> Result<Value, Failure> {
        match self.container(document)? {
            Value::Object(map) => map
                .remove(&self.key)
                .ok_or_else(|| format!("unable to remove nonexistent key: {}", self.key).into()),
            Value::Array(list) => {
                let index = index(&self.key, list.len()).ok_or_else(|| self.bad_index())?;
                spent.move_from(index, list)?;
                Ok(list.remove(index))
            }
            _ => Err("the container is a scalar".into()),
        }
    }

    fn bad_index(&self) -> Failure {
        format!("unable to access invalid index: {}", self.key).into()
    }
}

/// An index below `length`; negative ones count from the end.
fn index(text: &str, length: usize) -> Option<usize> {
    let index = match text.strip_prefix('-') {
        Some(back) => length.checked_sub(back.parse().ok().filter(|&back| back > 0)?)?,
        None => text.parse().ok()?,
    };
    (index < length).then_some(index)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
    fn what_is_no_patch_is_told_in_upstreams_words() {
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
        let nested = |levels: usize| -> Value {
            (0..levels).fold(json!({}), |inner, _| json!({ "x": inner }))
        };
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
}
