//! `TreePieces`: writes a list of JSON trees, such as table rows, item by item as JSON or YAML.

use super::document::{Pieces, Step};
use kubist_apimachinery::Status;
use kubist_codec::yaml;
use serde_json::{Map, Value};

/// A tree, and the bytes read for it.
pub(super) type Costed = (Value, usize);

/// A document with a list whose items are built when their turn comes.
pub(super) struct TreePieces<I> {
    /// The bytes before the items; `None` once written.
    before: Option<Vec<u8>>,
    after: Vec<u8>,
    items: I,
    yaml: bool,
    any: bool,
}

impl<I: Iterator<Item = Result<Costed, Status>>> TreePieces<I> {
    /// Compact JSON. `head` is everything but the list, which becomes its member `key`.
    ///
    /// # Errors
    /// The head cannot be encoded.
    pub(super) fn json(head: &Map<String, Value>, key: &str, items: I) -> Result<Self, Status> {
        let mut before = serde_json::to_vec(head).map_err(Status::internal_error)?;
        before.pop();
        if !head.is_empty() {
            before.push(b',');
        }
        before.extend_from_slice(format!("{}:[", Value::from(key)).as_bytes());
        Ok(Self {
            before: Some(before),
            after: b"]}\n".to_vec(),
            items,
            yaml: false,
            any: false,
        })
    }

    /// YAML with sorted keys.
    pub(super) fn yaml(head: Map<String, Value>, key: &str, items: I) -> Self {
        let (before, after): (Map<_, _>, Map<_, _>) =
            head.into_iter().partition(|(name, _)| name.as_str() < key);
        let text = |part: Map<String, Value>| {
            if part.is_empty() {
                return String::new();
            }
            yaml::to_yaml(&Value::Object(part))
        };
        Self {
            before: Some(format!("{}{key}:", text(before)).into_bytes()),
            after: text(after).into_bytes(),
            items,
            yaml: true,
            any: false,
        }
    }

    fn item(&mut self, item: Value, out: &mut Vec<u8>) -> Result<(), Status> {
        if self.yaml {
            if !self.any {
                out.push(b'\n');
            }
            // Items are not indented below their key.
            let list = Value::Array(vec![item]);
            out.extend_from_slice(yaml::to_yaml(&list).as_bytes());
        } else {
            if self.any {
                out.push(b',');
            }
            serde_json::to_writer(out, &item).map_err(Status::internal_error)?;
        }
        self.any = true;
        Ok(())
    }
}

impl<I> Pieces for TreePieces<I>
where
    I: Iterator<Item = Result<Costed, Status>> + Send + Unpin + 'static,
{
    fn write(&mut self, out: &mut Vec<u8>) -> Result<Step, Status> {
        if let Some(before) = self.before.take() {
            out.extend_from_slice(&before);
        }
        if let Some(item) = self.items.next() {
            let (item, cost) = item?;
            self.item(item, out)?;
            return Ok(Step::Wrote(cost));
        }
        if self.yaml && !self.any {
            out.extend_from_slice(b" []\n");
        }
        out.extend_from_slice(&self.after);
        Ok(Step::Ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(mut pieces: impl Pieces) -> String {
        let mut out = Vec::new();
        while let Step::Wrote(_) = pieces.write(&mut out).expect("it can be written") {}
        String::from_utf8(out).expect("it is text")
    }

    fn lists() -> [Vec<Value>; 3] {
        [
            vec![],
            vec![json!({})],
            vec![
                json!({"a": "x\n\n  y\n", "b": {"c": [1, {"d": null, "e": [[], [[2]]]}]}}),
                json!(
                    "a long text that has to be folded because it does not fit into eighty columns"
                ),
                json!([[1, 2], {"f": {}}]),
            ],
        ]
    }

    #[test]
    fn the_pieces_equal_the_encoding_of_the_whole_tree() {
        let head = json!({"apiVersion": "v1", "kind": "List", "metadata": {"x": "1"}});
        let head = head.as_object().expect("it is one");
        for items in lists() {
            let mut whole = head.clone();
            whole.insert("items".to_owned(), items.clone().into());
            let whole = Value::Object(whole);
            let costed = || items.clone().into_iter().map(|item| Ok((item, 1)));
            let json = TreePieces::json(head, "items", costed()).expect("it can be written");
            let json: Value = serde_json::from_str(&written(json)).expect("it is JSON");
            assert_eq!(json, whole);
            let yaml = written(TreePieces::yaml(head.clone(), "items", costed()));
            assert_eq!(yaml, yaml::to_yaml(&whole));
        }
    }
}
