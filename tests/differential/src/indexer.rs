//! `Indexer` and `Lister` against client-go's `threadSafeMap`.
//!
//! Expected differences, from the glossary:
//! - an object without a version leaves the store's version unchanged (upstream unsets it);
//! - an index is its handle: adding it again changes nothing, and is not a conflict;
//! - values of an unknown index are an error (upstream returns none).

use crate::object::{List, Object, name_text, optional_text, sorted_texts};
use crate::replayer::{LineError, Replayer, Step, error};
use kubist_apimachinery::{ObjectMeta, ObjectName, Str};
use kubist_cache::{Deleted, Delta, Index, IndexHandle, Indexer, Lister, UnknownIndex};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) struct Replay {
    indexer: Indexer<ObjectMeta>,
    lister: Lister<ObjectMeta>,
    handles: BTreeMap<String, IndexHandle<ObjectMeta>>,
    /// The last version in the trace before an object without one.
    version: Value,
    unversioned: bool,
}

#[derive(Deserialize)]
struct Config {
    indexes: Vec<String>,
}

/// One write of a transaction.
#[derive(Deserialize)]
struct Write {
    t: String,
    #[serde(flatten)]
    object: Object,
}

impl Replay {
    pub(crate) fn new(config: Value) -> Result<Self, LineError> {
        let indexer = Indexer::new();
        let mut replay = Self {
            lister: indexer.lister(),
            indexer,
            handles: BTreeMap::new(),
            version: Value::from(""),
            unversioned: false,
        };
        for name in Config::deserialize(config)?.indexes {
            replay.add_index(&name)?;
        }
        replay.indexer.publish();
        Ok(replay)
    }

    fn add_index(&mut self, name: &str) -> Result<Value, LineError> {
        if let Some(handle) = self.handles.get(name) {
            self.indexer.build_index(handle);
            return Ok(error(format_args!("indexer conflict: map[{name}:{{}}]")));
        }
        let index = match name {
            "namespace" => Index::namespace(),
            _ => Index::new(name, by_name(name)?),
        };
        let handle = self.indexer.add_index(index);
        self.handles.insert(name.to_owned(), handle);
        Ok("added".into())
    }

    fn put(&mut self, object: Object) {
        let object = object.into_meta();
        self.unversioned = object.resource_version.is_empty();
        self.indexer.upsert(object);
    }

    fn delete(&mut self, object: Object) {
        let deleted = Deleted::Known(object.into_meta());
        self.indexer.apply(Delta::Deleted(deleted), &mut Vec::new());
        self.unversioned = false;
    }

    fn write(&mut self, step: &Step) -> Result<bool, LineError> {
        match step.op.as_str() {
            "put" => self.put(step.input()?),
            "delete" => self.delete(step.input()?),
            "delete-name" => {
                let object = step.input::<Object>()?.into_meta();
                let name = ObjectName::new(&object.namespace, &object.name);
                self.indexer.remove(&name);
            }
            "replace" => {
                let list = step.input::<List>()?.into_replacement();
                self.indexer.replace(list, &mut Vec::new());
                self.unversioned = false;
            }
            "bookmark" => {
                let version: String = step.input()?;
                self.indexer.bookmark(version.as_str().into());
                self.unversioned = false;
            }
            "transaction" => {
                for Write { t, object } in step.input::<Vec<Write>>()? {
                    if t == "Delete" {
                        self.delete(object);
                    } else {
                        self.put(object);
                    }
                }
            }
            _ => return Ok(false),
        }
        self.indexer.publish();
        Ok(true)
    }

    fn read(&self, step: &Step) -> Result<Value, LineError> {
        let index = || step.member::<String>("index");
        let value = || step.member::<String>("value");
        let found = match step.op.as_str() {
            "version" => Ok(self.lister.resource_version().to_string().into()),
            "get" => {
                let object = step.input::<Object>()?.into_meta();
                let found = self.lister.find(&object.namespace, &object.name);
                Ok(optional_text(found.as_ref()).into())
            }
            "list" => Ok(sorted_texts(&self.lister.list())),
            "by-index" => {
                let found = self.lister.by_index_named(&index()?, &value()?);
                found.map(|found| sorted_texts(&found))
            }
            "index-keys" => {
                let (snapshot, value) = (self.lister.snapshot(), value()?);
                snapshot.index_named(&index()?).map(|handle| {
                    let names = snapshot.index_keys(&handle, &value);
                    names.iter().map(name_text).collect()
                })
            }
            "index-values" => {
                let snapshot = self.lister.snapshot();
                snapshot.index_named(&index()?).map(|handle| {
                    let values = snapshot.index_values(&handle);
                    values.iter().map(Str::as_str).collect()
                })
            }
            "index" => self.index(&index()?, step.member("object")?),
            _ => return step.unknown(),
        };
        Ok(found.unwrap_or_else(|unknown| {
            error(format_args!(
                "Index with name {} does not exist",
                unknown.name
            ))
        }))
    }

    /// Returns the objects under any of an object's values.
    fn index(&self, index: &str, object: Object) -> Result<Value, UnknownIndex> {
        let snapshot = self.lister.snapshot();
        let handle = snapshot.index_named(index)?;
        let mut probe = Indexer::new();
        probe.build_index(&handle);
        probe.upsert(object.into_meta());
        let values = probe.snapshot().index_values(&handle);
        let mut seen = BTreeSet::new();
        let found: Vec<Arc<ObjectMeta>> = values
            .iter()
            .flat_map(|value| snapshot.by_index(&handle, value))
            .filter(|object| seen.insert((object.namespace.clone(), object.name.clone())))
            .collect();
        Ok(sorted_texts(&found))
    }
}

/// Returns the index function of this name.
fn by_name(name: &str) -> Result<fn(&ObjectMeta, &mut kubist_cache::IndexValues), LineError> {
    Ok(match name {
        "app" => |object, values| {
            if let Some(value) = object.labels.get("app") {
                values.push(value);
            }
        },
        "tags" => |object, values| {
            if let Some(value) = object.labels.get("tags") {
                value.split('.').for_each(|value| values.push(value));
            }
        },
        "all" => |_, values| values.push("x"),
        "none" => |_, _| {},
        _ => return Err(LineError::UnknownConfig(name.to_owned())),
    })
}

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        if self.write(step)? {
            return Ok(Value::Null);
        }
        if step.op == "add-index" {
            let answer = self.add_index(&step.member::<String>("index")?)?;
            self.indexer.publish();
            return Ok(answer);
        }
        self.read(step)
    }

    fn expected(&mut self, step: &Step, _ours: &Value) -> Value {
        match step.op.as_str() {
            "version" if self.unversioned => self.version.clone(),
            "version" => {
                self.version = step.theirs.clone();
                step.theirs.clone()
            }
            "index-values" => match step.input["index"].as_str() {
                Some(name) if !self.handles.contains_key(name) => {
                    error(format_args!("Index with name {name} does not exist"))
                }
                _ => step.theirs.clone(),
            },
            _ => step.theirs.clone(),
        }
    }
}
