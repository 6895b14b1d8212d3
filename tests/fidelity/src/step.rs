//! `Step` and `Sequence`: requests with unresolved references.
//!
//! References are in double braces: `{{ns}}` is the namespace of the run, `{{tag}}` a unique word
//! for cluster-scoped names, `{{3.uid}}` a value in the answer to step 3 (see `memory`).

use crate::area::Area;
use serde_json::{Map, Value};

/// Requests that belong together, in a namespace of their own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sequence {
    pub(crate) seed: u64,
    pub(crate) steps: Vec<Step>,
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    /// Stays the same when other steps are removed.
    pub(crate) id: usize,
    pub(crate) area: Area,
    pub(crate) method: &'static str,
    /// Without the query, encoded as it is sent.
    pub(crate) path: String,
    /// Not encoded yet.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Body,
    /// The response is a stream that may not end.
    pub(crate) is_watch: bool,
    /// It is repeated until its answer has this status, and then compared.
    pub(crate) until: Option<Until>,
}

/// The condition that a repeated step waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// The definition is established.
    Established,
    /// The path exists.
    Found,
    /// It is sent after a moment, in which what was written before comes to count: roles, quotas.
    Soon,
    /// The same for policies, which a kube-apiserver looks for once a second.
    Later,
}

/// The body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    None,
    Json(Value),
    /// Literal bytes, which may be invalid JSON.
    Text(String),
    /// The object in each server's answer to an earlier step, edited.
    Answer {
        step: usize,
        edits: Vec<Edit>,
    },
}

/// An edit of an object at an RFC 6901 pointer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Edit {
    Set(String, Value),
    Remove(String),
}

impl Edit {
    /// Applies the edit. Missing parent objects are created; a list or scalar in their place stops
    /// it.
    pub(crate) fn apply(&self, object: &mut Value) {
        let pointer = match self {
            Self::Set(pointer, _) | Self::Remove(pointer) => pointer,
        };
        let Some((parent, name)) = pointer.rsplit_once('/') else {
            return;
        };
        let name = unescaped(name);
        match self {
            Self::Set(_, value) => {
                if let Some(at) = entry(object, parent) {
                    // A list item that did not exist.
                    if name == "-" && at.as_object().is_some_and(Map::is_empty) {
                        *at = Value::Array(Vec::new());
                    }
                    set(at, &name, value.clone());
                }
            }
            Self::Remove(_) => match object.pointer_mut(parent) {
                Some(Value::Object(fields)) => {
                    fields.remove(&name);
                }
                Some(Value::Array(items)) => {
                    if let Ok(index) = name.parse::<usize>()
                        && index < items.len()
                    {
                        items.remove(index);
                    }
                }
                _ => {}
            },
        }
    }
}

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

fn entry<'a>(object: &'a mut Value, pointer: &str) -> Option<&'a mut Value> {
    let mut at = object;
    for name in pointer.split('/').skip(1) {
        let name = unescaped(name);
        at = match at {
            Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?)?,
            Value::Object(fields) => fields
                .entry(name)
                .or_insert_with(|| Value::Object(Map::new())),
            _ => return None,
        };
    }
    Some(at)
}

fn set(at: &mut Value, name: &str, value: Value) {
    match at {
        Value::Object(fields) => {
            fields.insert(name.to_owned(), value);
        }
        Value::Array(items) if name == "-" => items.push(value),
        Value::Array(items) => {
            if let Ok(index) = name.parse::<usize>()
                && let Some(item) = items.get_mut(index)
            {
                *item = value;
            }
        }
        _ => {}
    }
}

impl Step {
    /// Returns a request without query and body.
    pub(crate) fn new(
        id: usize,
        area: Area,
        method: &'static str,
        path: impl Into<String>,
    ) -> Self {
        Self {
            id,
            area,
            method,
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body: Body::None,
            is_watch: false,
            until: None,
        }
    }

    pub(crate) fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sets a JSON body and its content type.
    pub(crate) fn json(mut self, body: Value) -> Self {
        self.body = Body::Json(body);
        self.header("content-type", "application/json")
    }

    pub(crate) fn body(mut self, media: &str, body: Body) -> Self {
        self.body = body;
        self.header("content-type", media)
    }

    /// Reports whether it changes nothing.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self.method, "GET" | "HEAD" | "OPTIONS")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_edit_makes_the_objects_on_its_way() {
        let mut object = json!({"spec": {"list": [{"a": 1}, {"a": 2}]}});
        Edit::Set("/metadata/labels/a~1b".to_owned(), json!("c")).apply(&mut object);
        Edit::Set("/spec/list/1/a".to_owned(), json!(3)).apply(&mut object);
        Edit::Set("/spec/list/-".to_owned(), json!(4)).apply(&mut object);
        Edit::Remove("/spec/list/0".to_owned()).apply(&mut object);
        Edit::Set("/spec/new/-".to_owned(), json!(5)).apply(&mut object);
        let expected = json!({
            "metadata": {"labels": {"a/b": "c"}},
            "spec": {"list": [{"a": 3}, 4], "new": [5]},
        });
        assert_eq!(object, expected);
    }

    #[test]
    fn an_edit_of_what_is_not_there_changes_nothing() {
        let mut object = json!({"spec": {"list": [1], "text": "a"}});
        let before = object.clone();
        Edit::Remove("/spec/list/7".to_owned()).apply(&mut object);
        Edit::Remove("/status/none".to_owned()).apply(&mut object);
        Edit::Set("/spec/text/below".to_owned(), json!(1)).apply(&mut object);
        Edit::Set("no pointer".to_owned(), json!(1)).apply(&mut object);
        assert_eq!(object, before);
    }
}
