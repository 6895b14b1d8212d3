//! `Normal`: a state without what differs between runs that did the same.
//!
//! Left out are uids, resource versions, generations, managed fields and allocated addresses; times
//! become `<time>`, generated names end in `*`, and uids name their objects. Leases, events, the
//! addresses of services, and objects that are as they were prepared are no part of it.

mod excuse;

use crate::explore::state::State;
use crate::explore::stored::StoredObject;
use crate::story::title;
pub(crate) use excuse::Excuse;
use excuse::{Excused, take};
use kubist::apimachinery::{GroupKind, ObjectName, Time};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

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
    pub(crate) fn of(state: &State, base: u64) -> Self {
        let mut names = Names::default();
        for object in state.objects() {
            names.learn(object);
        }
        let mut objects = BTreeMap::<_, Vec<Value>>::new();
        for object in state.objects() {
            if object.revision <= base
                || is_bookkeeping(&object.kind)
                || object.kind.kind == "IPAddress"
            {
                continue;
            }
            let mut tree = object.tree().clone();
            strip(&mut tree);
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

    /// Returns how another run differs from this one, besides what is excused. Each excuse that a
    /// difference needs is noted as used.
    pub(crate) fn differences(&self, found: &Self, excuses: &[Excuse]) -> Vec<Difference> {
        let mut differences = Vec::new();
        let keys = self.objects.keys().chain(found.objects.keys());
        let keys: std::collections::BTreeSet<_> = keys.collect();
        for key in keys {
            let (one, other) = (self.objects.get(key), found.objects.get(key));
            if one == other {
                continue;
            }
            let of = |it: Option<&Vec<Value>>| it.cloned().unwrap_or_default();
            let (mut expected, mut others) = (of(one), of(other));
            // What both have is no difference.
            pair_off(&mut expected, &mut others, |_, _| {}, PartialEq::eq);
            let excuses = excuses.iter().filter(|it| it.kind == key.0.kind.as_str());
            let excuses: Vec<&Excuse> = excuses.collect();
            if let Some(whole) = excuses.iter().find(|it| it.pointer.is_empty()) {
                whole.note_use();
                continue;
            }
            let excused = |it: Value| Excused::of(it, &excuses);
            let mut expected = expected.into_iter().map(excused).collect();
            let mut others = others.into_iter().map(excused).collect();
            let note = |one: &Excused, other: &Excused| one.note_uses(other, &excuses);
            pair_off(&mut expected, &mut others, note, |one, other| {
                one.tree == other.tree
            });
            let object = title(&key.0, &key.1);
            for index in 0..expected.len().max(others.len()) {
                let (one, other) = (expected.get(index), others.get(index));
                if let (Some(one), Some(other)) = (one, other) {
                    note(one, other);
                }
                let (one, other) = (one.map(|it| &it.tree), other.map(|it| &it.tree));
                compare(&object, "", one, other, &mut differences);
            }
            if differences.len() >= DIFFERENCES_MAX {
                break;
            }
        }
        differences.truncate(DIFFERENCES_MAX);
        differences
    }
}

/// Takes out of both what is the same in both.
fn pair_off<T>(
    one: &mut Vec<T>,
    other: &mut Vec<T>,
    note: impl Fn(&T, &T),
    is_same: impl Fn(&T, &T) -> bool,
) {
    one.retain(|it| {
        let Some(index) = other.iter().position(|other| is_same(it, other)) else {
            return true;
        };
        note(it, &other.remove(index));
        false
    });
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
        drop(take(tree, pointer));
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

    fn normal(objects: &[(&str, Value)]) -> Normal {
        let mut normal = Normal::default();
        for (name, tree) in objects {
            let key = (GroupKind::new("", "Pod"), ObjectName::new("shop", *name));
            normal.objects.entry(key).or_default().push(tree.clone());
        }
        normal
    }

    #[test]
    fn an_excuse_is_used_only_by_a_difference_that_needs_it() {
        let excuses = ["/spec/node", "/spec/same", "/spec/port"];
        let excuses = excuses.map(|it| Excuse::new("Pod".to_owned(), it.to_owned()));
        let pod = |a: u32, node: &str, port: u32| json!({"a": a, "spec": {"node": node, "same": 1, "port": port}});
        // Of two with one name, each is compared with its like.
        let one = normal(&[("web-*", pod(1, "x", 7)), ("web-*", pod(2, "y", 7))]);
        let other = normal(&[("web-*", pod(1, "y", 7)), ("web-*", pod(2, "x", 7))]);
        assert_eq!(one.differences(&other, &excuses), []);
        let used = || excuses.each_ref().map(Excuse::is_used);
        assert_eq!(used(), [true, false, false]);
        // What is not excused is still a difference.
        let (one, other) = (
            normal(&[("a", pod(1, "x", 7))]),
            normal(&[("a", pod(2, "x", 8))]),
        );
        let found = one.differences(&other, &excuses);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].field, "a");
        assert_eq!(used(), [true, false, true]);
        // An object that is in one run only is not excused by a field.
        let fields = [Excuse::new("Pod".to_owned(), "/spec/node".to_owned())];
        assert_eq!(one.differences(&Normal::default(), &fields).len(), 1);
        assert!(!fields[0].is_used());
        let whole = [Excuse::new("Pod".to_owned(), String::new())];
        assert_eq!(one.differences(&one, &whole), []);
        assert!(!whole[0].is_used());
        assert_eq!(one.differences(&Normal::default(), &whole), []);
        assert!(whole[0].is_used());
    }
}
