//! `Normal`: a state without what differs between runs that did the same.
//!
//! Left out are uids, resource versions, generations, managed fields and allocated addresses; times
//! become `<time>`, generated names end in `*`, and uids name their objects. Leases, events, the
//! addresses of services, and objects that are as they were prepared are no part of it.

use crate::explore::state::State;
use crate::explore::stored::StoredObject;
use crate::story::title;
use kubist::apimachinery::{GroupKind, ObjectName, Time};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Members of `metadata` that differ from run to run.
const METADATA: [&str; 6] = [
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];
/// Pointers to what a server allocates.
const ALLOCATED: [&str; 4] = [
    "/spec/clusterIP",
    "/spec/clusterIPs",
    "/spec/healthCheckNodePort",
    "/spec/ports/*/nodePort",
];
/// The most differences that are collected.
const DIFFERENCES_MAX: usize = 20;

/// What may differ: a kind, and a pointer into its objects; an empty pointer excuses the kind.
#[derive(Clone, Debug)]
pub(crate) struct Excuse {
    pub(crate) kind: String,
    pub(crate) pointer: String,
    /// Whether it has excused anything, in any world. Clones share it.
    used: Arc<AtomicBool>,
}

impl Excuse {
    pub(crate) fn new(kind: String, pointer: String) -> Self {
        Self {
            kind,
            pointer,
            used: Arc::default(),
        }
    }

    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    fn note_use(&self) {
        self.used.store(true, Ordering::Relaxed);
    }
}

/// `the excuse of ConfigMap /data/x`.
impl fmt::Display for Excuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the excuse of {}", self.kind)?;
        match self.pointer.as_str() {
            "" => Ok(()),
            pointer => write!(f, " {pointer}"),
        }
    }
}

/// A state without what differs between runs that did the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Normal {
    /// By kind and namespace and name; generated names may have several.
    objects: BTreeMap<(GroupKind, ObjectName), Vec<Value>>,
}

/// A difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The kind and the name: `Pod shop/web`.
    pub object: String,
    /// The field; empty if the whole object is there in one run only.
    pub field: String,
    /// What the run without faults has, as JSON; empty if nothing.
    pub expected: String,
    /// What this run has; empty if nothing.
    pub found: String,
}

impl Normal {
    /// Returns the normal form of a state that began as `base`.
    pub(crate) fn of(state: &State, base: u64, excuses: &[Excuse]) -> Self {
        let mut names = Names::default();
        for object in state.objects() {
            names.learn(object);
        }
        let mut objects = BTreeMap::<_, Vec<Value>>::new();
        for object in state.objects() {
            let excused = |it: &&Excuse| it.kind == object.kind.kind.as_str();
            let excuses = excuses.iter().filter(excused);
            if object.revision <= base
                || is_bookkeeping(&object.kind)
                || object.kind.kind == "IPAddress"
            {
                continue;
            }
            if let Some(whole) = excuses.clone().find(|it| it.pointer.is_empty()) {
                whole.note_use();
                continue;
            }
            let mut tree = object.tree().clone();
            strip(&mut tree);
            for excuse in excuses {
                if remove(&mut tree, &excuse.pointer) {
                    excuse.note_use();
                }
            }
            names.replace(&mut tree);
            let name = ObjectName::new(
                object.name.namespace.clone(),
                names.of(object.name.name.as_str()),
            );
            let same = objects.entry((object.kind.clone(), name)).or_default();
            same.push(tree);
        }
        for same in objects.values_mut() {
            same.sort_by_cached_key(Value::to_string);
        }
        Self { objects }
    }

    /// Returns how another run differs from this one.
    pub(crate) fn differences(&self, found: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        let keys = self.objects.keys().chain(found.objects.keys());
        let keys: std::collections::BTreeSet<_> = keys.collect();
        for key in keys {
            let of = |it: &Self| it.objects.get(key).cloned().unwrap_or_default();
            let (mut expected, mut others) = (of(self), of(found));
            // What both have is no difference.
            expected.retain(|it| match others.iter().position(|other| other == it) {
                Some(index) => {
                    others.remove(index);
                    false
                }
                None => true,
            });
            let object = title(&key.0, &key.1);
            let count = expected.len().max(others.len());
            for index in 0..count {
                compare(
                    &object,
                    "",
                    expected.get(index),
                    others.get(index),
                    &mut differences,
                );
            }
            if differences.len() >= DIFFERENCES_MAX {
                break;
            }
        }
        differences.truncate(DIFFERENCES_MAX);
        differences
    }
}

/// Reports whether a kind is beside the work of controllers.
pub(crate) fn is_bookkeeping(kind: &GroupKind) -> bool {
    matches!(kind.kind.as_str(), "Lease" | "Event")
}

/// Names and uids that differ between runs, and what stands for them.
#[derive(Default)]
struct Names {
    stand_ins: BTreeMap<String, String>,
}

impl Names {
    fn learn(&mut self, object: &Arc<StoredObject>) {
        let prefix = object.metadata("generateName");
        let name = object.name.name.as_str();
        let stand_in = if !prefix.is_empty() && name.starts_with(prefix) {
            let stand_in = format!("{prefix}*");
            self.stand_ins.insert(name.to_owned(), stand_in.clone());
            stand_in
        } else {
            name.to_owned()
        };
        let uid = object.uid();
        if !uid.is_empty() {
            let of = format!("<uid of {} {stand_in}>", object.kind.kind);
            self.stand_ins.insert(uid.to_owned(), of);
        }
    }

    fn of<'a>(&'a self, text: &'a str) -> &'a str {
        self.stand_ins.get(text).map_or(text, String::as_str)
    }

    fn replace(&self, tree: &mut Value) {
        match tree {
            Value::String(text) => {
                if let Some(stand_in) = self.stand_ins.get(text) {
                    text.clone_from(stand_in);
                } else if is_time(text) {
                    "<time>".clone_into(text);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.replace(it)),
            Value::Object(members) => members.values_mut().for_each(|it| self.replace(it)),
            _ => {}
        }
    }
}

/// Reports whether a text is a time as the API writes it.
fn is_time(text: &str) -> bool {
    let looks_so = text.len() >= 20 && text.as_bytes()[4] == b'-' && text.ends_with('Z');
    looks_so && text.parse::<Time>().is_ok()
}

fn strip(tree: &mut Value) {
    if let Some(metadata) = tree.get_mut("metadata").and_then(Value::as_object_mut) {
        for member in METADATA {
            metadata.remove(member);
        }
    }
    for pointer in ALLOCATED {
        remove(tree, pointer);
    }
}

/// Removes what a pointer points to, and reports whether there was anything. `*` stands for every
/// item of an array.
fn remove(tree: &mut Value, pointer: &str) -> bool {
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        return false;
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    let mut removed = false;
    for_each(tree, parent, &mut |it| match it {
        Value::Object(members) => removed |= members.remove(&last).is_some(),
        Value::Array(items) if last == "*" => {
            removed |= !items.is_empty();
            items.clear();
        }
        Value::Array(items) => {
            if let Ok(index) = last.parse::<usize>()
                && index < items.len()
            {
                items.remove(index);
                removed = true;
            }
        }
        _ => {}
    });
    removed
}

fn for_each(tree: &mut Value, pointer: &str, act: &mut dyn FnMut(&mut Value)) {
    let Some(rest) = pointer.strip_prefix('/') else {
        return act(tree);
    };
    let (first, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match tree {
        Value::Array(items) if first == "*" => {
            for item in items {
                for_each(item, rest, act);
            }
        }
        tree => {
            if let Some(inner) = tree.pointer_mut(&format!("/{first}")) {
                for_each(inner, rest, act);
            }
        }
    }
}

/// Collects the fields in which two trees differ.
pub(crate) fn compare(
    object: &str,
    field: &str,
    expected: Option<&Value>,
    found: Option<&Value>,
    differences: &mut Vec<Difference>,
) {
    if expected == found || differences.len() >= DIFFERENCES_MAX {
        return;
    }
    if let (Some(Value::Object(one)), Some(Value::Object(other))) = (expected, found) {
        let keys: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
        for key in keys {
            let field = format!("{field}.{key}");
            let field = field.trim_start_matches('.');
            compare(object, field, one.get(key), other.get(key), differences);
        }
        return;
    }
    let text = |it: Option<&Value>| it.map(Value::to_string).unwrap_or_default();
    differences.push(Difference {
        object: object.to_owned(),
        field: field.to_owned(),
        expected: text(expected),
        found: text(found),
    });
}

/// At most this much of a value is shown.
const SHOWN_MAX: usize = 120;

/// `Pod shop/web: spec.replicas is 2, but 3 in the run without faults`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            object,
            field,
            expected,
            found,
        } = self;
        if field.is_empty() {
            return match (expected.is_empty(), found.is_empty()) {
                (true, _) => write!(f, "{object} exists, but not in the run without faults"),
                (_, true) => write!(
                    f,
                    "{object} does not exist, but does in the run without faults"
                ),
                _ => write!(f, "{object} differs from the run without faults"),
            };
        }
        let shown = |it: &str| match it.char_indices().nth(SHOWN_MAX) {
            _ if it.is_empty() => "absent".to_owned(),
            Some((end, _)) => format!("{}…", &it[..end]),
            None => it.to_owned(),
        };
        let (expected, found) = (shown(expected), shown(found));
        write!(
            f,
            "{object}: {field} is {found}, but {expected} in the run without faults"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_recognised() {
        assert!(is_time("2027-01-15T08:00:00Z"));
        assert!(is_time("2027-01-15T08:00:00.123456Z"));
        assert!(!is_time("2027-01-15") && !is_time("a-long-text-that-is-not-a-timeZ"));
    }

    #[test]
    fn fields_are_removed_by_pointers_with_stars() {
        let mut tree = json!({"a": [{"b": 1, "c": 2}, {"b": 3}], "d": {"e/f": 1}});
        assert!(remove(&mut tree, "/a/*/b"));
        assert!(remove(&mut tree, "/d/e~1f"));
        assert!(!remove(&mut tree, "/nowhere/at/all"));
        assert_eq!(tree, json!({"a": [{"c": 2}, {}], "d": {}}));
        assert!(remove(&mut tree, "/a/*"));
        assert_eq!(tree, json!({"a": [], "d": {}}));
    }

    #[test]
    fn differences_name_the_field() {
        let (one, other) = (json!({"spec": {"a": 1, "b": 2}}), json!({"spec": {"a": 1}}));
        let mut differences = Vec::new();
        compare("Pod a/b", "", Some(&one), Some(&other), &mut differences);
        let text = differences[0].to_string();
        assert_eq!(
            text,
            "Pod a/b: spec.b is absent, but 2 in the run without faults"
        );
        assert_eq!(differences.len(), 1);
    }
}
