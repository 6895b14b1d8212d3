//! `Versions`: object versions as ordinal numbers of visible changes.
//!
//! A kube-apiserver also writes an object when only managed fields change, and writes some kinds
//! once more after creation, since their stored form has fewer fields. Both servers show neither as
//! a change, so the new version keeps the number of the old one.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Resources for which a kube-apiserver sets some fields only when it reads them: the first write
/// stores them, whatever it changes.
const COMPLETED_LATER: [&str; 3] = ["controllerrevisions", "jobs", "persistentvolumeclaims"];

/// The state of an object with one number.
#[derive(Clone, Debug, Default)]
struct State {
    /// Its versions in the server's form.
    versions: BTreeSet<String>,
    /// The fields that both servers show; none until the object has been shown.
    content: Option<Value>,
    /// Its managed fields.
    owners: Value,
}

/// The versions that one server has shown in one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    states: BTreeMap<String, Vec<State>>,
    known: BTreeSet<String>,
}

impl Versions {
    /// Reports whether it is the version of an object.
    pub(crate) fn has(&self, version: &str) -> bool {
        self.known.contains(version)
    }

    /// Records all objects in the answer to a request for this path.
    pub(crate) fn learn(&mut self, value: &Value, path: &str) {
        match value {
            Value::Object(fields) => {
                if let (Some(_), Some(version)) = (fields.get("uid"), text(fields, VERSION)) {
                    self.known.insert(version.to_owned());
                }
                self.note(fields, path);
                fields.values().for_each(|value| self.learn(value, path));
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item, path)),
            _ => {}
        }
    }

    /// Records an object, if it is one.
    fn note(&mut self, object: &Map<String, Value>, path: &str) {
        let Some(Value::Object(metadata)) = object.get("metadata") else {
            return;
        };
        let (Some(uid), Some(version)) = (text(metadata, "uid"), text(metadata, VERSION)) else {
            return;
        };
        let is_part = is_scale(object) || text(object, "kind") == Some("PartialObjectMetadata");
        if is_part || version.is_empty() {
            return;
        }
        let content = content(object);
        let owners = metadata.get(OWNERS).cloned().unwrap_or_default();
        let states = self.states.entry(uid.to_owned()).or_default();
        if let Some(state) = states.iter_mut().find(|it| it.versions.contains(version)) {
            if state.content.is_none() {
                (state.content, state.owners) = (Some(content), owners);
            }
            return;
        }
        let is_first = states.len() == 1;
        if let Some(last) = states.last_mut()
            && last.content.as_ref() == Some(&content)
        {
            let is_completed = is_first && last.versions.len() == 1 && is_completed_later(path);
            if is_completed || last.owners != owners {
                last.versions.insert(version.to_owned());
                last.owners = owners;
                return;
            }
        }
        states.push(State {
            versions: BTreeSet::from([version.to_owned()]),
            content: Some(content),
            owners,
        });
    }

    /// Returns the number of an object's version.
    pub(crate) fn number(&mut self, uid: &str, version: &str) -> usize {
        let states = self.states.entry(uid.to_owned()).or_default();
        let found = states.iter().position(|it| it.versions.contains(version));
        found.unwrap_or_else(|| {
            states.push(State {
                versions: BTreeSet::from([version.to_owned()]),
                ..State::default()
            });
            states.len() - 1
        })
    }
}

const VERSION: &str = "resourceVersion";
const OWNERS: &str = "managedFields";

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

/// Reports whether it is a scale, which has the uid and version of its object and few of its
/// fields.
pub(crate) fn is_scale(object: &Map<String, Value>) -> bool {
    text(object, "kind") == Some("Scale")
}

/// Returns an object without the fields that differ without a change; items of a list have no kind.
fn content(object: &Map<String, Value>) -> Value {
    let mut content = object.clone();
    content.remove("kind");
    content.remove("apiVersion");
    if let Some(Value::Object(metadata)) = content.get_mut("metadata") {
        metadata.remove(VERSION);
        metadata.remove(OWNERS);
    }
    Value::Object(content)
}

fn is_completed_later(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    path.split('/').any(|part| COMPLETED_LATER.contains(&part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(version: &str, owners: &str, data: &str) -> Value {
        json!({
            "kind": "Some",
            "metadata": {"uid": "u", "resourceVersion": version, "managedFields": [owners]},
            "data": data,
        })
    }

    fn numbers(path: &str, objects: &[Value]) -> Vec<usize> {
        let mut versions = Versions::default();
        let number = |object: &Value| {
            versions.learn(object, path);
            let version = object["metadata"]["resourceVersion"].as_str();
            versions.number("u", version.unwrap_or_default())
        };
        objects.iter().map(number).collect()
    }

    #[test]
    fn a_write_that_changes_only_the_owners_of_fields_is_no_change() {
        let seen = [
            object("10", "a", "x"),
            object("12", "b", "x"),
            object("13", "b", "y"),
            object("12", "b", "x"),
        ];
        assert_eq!(numbers("/api/v1/configmaps/a", &seen), [0, 0, 1, 0]);
    }

    #[test]
    fn a_write_that_changes_nothing_is_seen() {
        let seen = [object("10", "a", "x"), object("12", "a", "x")];
        assert_eq!(numbers("/api/v1/configmaps/a", &seen), [0, 1]);
    }

    #[test]
    fn what_is_stored_in_part_is_stored_again_by_the_first_write() {
        let seen = [
            object("10", "a", "x"),
            object("12", "a", "x"),
            object("13", "a", "x"),
        ];
        assert_eq!(numbers("/apis/batch/v1/jobs/a?x=y", &seen), [0, 0, 1]);
    }

    #[test]
    fn an_item_of_a_list_is_the_object_that_was_read_alone() {
        let mut item = object("12", "b", "x");
        item.as_object_mut().unwrap().remove("kind");
        let seen = [object("10", "a", "x"), item];
        assert_eq!(numbers("/api/v1/configmaps", &seen), [0, 0]);
    }
}
