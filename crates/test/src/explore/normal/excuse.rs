//! `Excuse`: what may differ between runs, and whether any difference needed that.

use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What may differ: a kind, and a pointer into its objects; an empty pointer excuses the kind.
#[derive(Clone, Debug)]
pub(crate) struct Excuse {
    pub(crate) kind: String,
    pub(crate) pointer: String,
    /// Whether it has excused a difference, in any world. Clones share it.
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

    pub(super) fn note_use(&self) {
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

/// An object without what is excused.
pub(super) struct Excused {
    pub(super) tree: Value,
    /// What each excuse has left out.
    left_out: Vec<Vec<Value>>,
}

impl Excused {
    pub(super) fn of(mut tree: Value, excuses: &[&Excuse]) -> Self {
        let left_out = excuses.iter().map(|it| take(&mut tree, &it.pointer));
        let left_out = left_out.collect();
        Self { tree, left_out }
    }

    /// Notes the excuses that were needed: what they have left out differs from that of the same
    /// object in another run.
    pub(super) fn note_uses(&self, other: &Self, excuses: &[&Excuse]) {
        let pairs = self.left_out.iter().zip(&other.left_out);
        for (excuse, (one, other)) in excuses.iter().zip(pairs) {
            if one != other {
                excuse.note_use();
            }
        }
    }
}

/// Removes what a pointer points to, and returns it. `*` stands for every item of an array.
pub(super) fn take(tree: &mut Value, pointer: &str) -> Vec<Value> {
    let mut taken = Vec::new();
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        return taken;
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    for_each(tree, parent, &mut |it| match it {
        Value::Object(members) => taken.extend(members.remove(&last)),
        Value::Array(items) if last == "*" => taken.append(items),
        Value::Array(items) => {
            if let Ok(index) = last.parse::<usize>()
                && index < items.len()
            {
                taken.push(items.remove(index));
            }
        }
        _ => {}
    });
    taken
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_taken_by_pointers_with_stars() {
        let mut tree = json!({"a": [{"b": 1, "c": 2}, {"b": 3}], "d": {"e/f": 1}});
        assert_eq!(take(&mut tree, "/a/*/b"), [json!(1), json!(3)]);
        assert_eq!(take(&mut tree, "/d/e~1f"), [json!(1)]);
        assert!(take(&mut tree, "/nowhere/at/all").is_empty());
        assert_eq!(tree, json!({"a": [{"c": 2}, {}], "d": {}}));
        assert_eq!(take(&mut tree, "/a/*").len(), 2);
        assert_eq!(tree, json!({"a": [], "d": {}}));
    }
}
