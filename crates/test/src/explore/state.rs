//! `State`: all objects at one revision, for invariants and comparisons.
//!
//! It shares everything with the state before it; a world begins with the state that was prepared.

use crate::explore::stored::StoredObject;
use crate::story::title;
use kubist::apimachinery::{GroupKind, ObjectName, ResourceFacts};
use kubist::storage::{Event, KeyValue};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

type Objects = BTreeMap<ObjectName, Arc<StoredObject>>;

/// All objects at one revision.
#[derive(Clone, Default)]
pub struct State {
    revision: u64,
    time: Duration,
    kinds: BTreeMap<GroupKind, Arc<Objects>>,
    change: Option<Change>,
}

/// The write that led to a state.
#[derive(Clone)]
pub struct Change {
    before: Option<Arc<StoredObject>>,
    after: Option<Arc<StoredObject>>,
}

impl State {
    /// The state of a store's content.
    pub(crate) fn of<'a>(revision: u64, content: impl IntoIterator<Item = &'a KeyValue>) -> Self {
        let mut state = Self {
            revision,
            ..Self::default()
        };
        for object in content.into_iter().filter_map(StoredObject::read) {
            state.put(Arc::new(object));
        }
        state
    }

    /// Applies a write. Returns false for what is no object.
    pub(crate) fn apply(&mut self, event: &Event, time: Duration) -> bool {
        self.revision = event.revision.0;
        self.time = time;
        let after = event.current().and_then(|it| StoredObject::read(it));
        let before = event.previous.as_ref();
        let before = before.and_then(|it| StoredObject::read(it));
        let before = before.and_then(|it| self.find(&it.kind, &it.name).cloned());
        let after = after.map(Arc::new);
        match (&before, &after) {
            (_, Some(after)) => self.put(Arc::clone(after)),
            (Some(before), None) => {
                if let Some(objects) = self.kinds.get_mut(&before.kind) {
                    Arc::make_mut(objects).remove(&before.name);
                }
            }
            (None, None) => return false,
        }
        self.change = Some(Change { before, after });
        true
    }

    fn put(&mut self, object: Arc<StoredObject>) {
        let objects = self.kinds.entry(object.kind.clone()).or_default();
        Arc::make_mut(objects).insert(object.name.clone(), object);
    }

    /// Returns the revision.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns when it was written, since the world began.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn all<K>(&self) -> Vec<Arc<K>>
    where
        K: ResourceFacts + DeserializeOwned + Send + Sync,
    {
        let objects = self.of_kind(&kind_of::<K>());
        objects.filter_map(|it| it.typed()).collect()
    }

    /// Returns an object; an empty namespace for cluster-scoped kinds.
    pub fn get<K>(&self, namespace: &str, name: &str) -> Option<Arc<K>>
    where
        K: ResourceFacts + DeserializeOwned + Send + Sync,
    {
        let name = ObjectName::new(namespace, name);
        self.find(&kind_of::<K>(), &name)?.typed()
    }

    /// Returns all objects of a kind as trees.
    pub fn trees(&self, group: &str, kind: &str) -> Vec<&Value> {
        let kind = GroupKind::new(group, kind);
        let objects = self.kinds.get(&kind);
        let objects = objects.into_iter().flat_map(|it| it.values());
        objects.map(|it| it.tree()).collect()
    }

    /// Returns the write that led to this state; none for the prepared one.
    pub fn change(&self) -> Option<&Change> {
        self.change.as_ref()
    }

    pub(crate) fn find(&self, kind: &GroupKind, name: &ObjectName) -> Option<&Arc<StoredObject>> {
        self.kinds.get(kind)?.get(name)
    }

    fn of_kind(&self, kind: &GroupKind) -> impl Iterator<Item = &Arc<StoredObject>> + use<'_> {
        let objects = self.kinds.get(kind);
        objects.into_iter().flat_map(|it| it.values())
    }

    /// Returns an object whose owners are all gone, and their names.
    pub(crate) fn orphan(&self) -> Option<(String, Vec<String>)> {
        let uids: BTreeSet<&str> = self.objects().map(|it| it.uid()).collect();
        let orphan = self.objects().find(|it| is_orphan(it, &uids))?;
        let owners = orphan.owners().map(|it| {
            let text = |field: &str| it.get(field).and_then(Value::as_str).unwrap_or_default();
            format!("{} {}", text("kind"), text("name"))
        });
        Some((orphan.title(), owners.collect()))
    }

    /// Returns the state without what a garbage collector would delete.
    pub(crate) fn without_garbage(&self) -> Self {
        let mut state = self.clone();
        loop {
            let uids: BTreeSet<&str> = state.objects().map(|it| it.uid()).collect();
            let orphans = state.objects().filter(|it| is_orphan(it, &uids));
            let orphans: Vec<_> = orphans.cloned().collect();
            if orphans.is_empty() {
                return state;
            }
            for orphan in orphans {
                if let Some(objects) = state.kinds.get_mut(&orphan.kind) {
                    Arc::make_mut(objects).remove(&orphan.name);
                }
            }
        }
    }

    pub(crate) fn objects(&self) -> impl Iterator<Item = &Arc<StoredObject>> {
        self.kinds.values().flat_map(|it| it.values())
    }
}

/// Reports whether an object has owners, and none of them exists.
fn is_orphan(object: &StoredObject, uids: &BTreeSet<&str>) -> bool {
    let uid = |owner: &serde_json::Map<String, Value>| {
        let uid = owner.get("uid").and_then(Value::as_str);
        uid.is_some_and(|it| uids.contains(it))
    };
    object.owners().next().is_some() && !object.owners().any(uid)
}

fn kind_of<K: ResourceFacts>() -> GroupKind {
    let resource = K::api_resource();
    GroupKind::new(resource.group, resource.kind)
}

impl Change {
    /// Returns the object before; none if it was created.
    pub fn before(&self) -> Option<&Value> {
        self.before.as_ref().map(|it| it.tree())
    }

    /// Returns the object after; none if it was deleted.
    pub fn after(&self) -> Option<&Value> {
        self.after.as_ref().map(|it| it.tree())
    }

    /// Returns the kind of the object.
    pub fn kind(&self) -> &str {
        self.object().map_or("", |it| it.kind.kind.as_str())
    }

    pub(crate) fn stored_before(&self) -> Option<&Arc<StoredObject>> {
        self.before.as_ref()
    }

    pub(crate) fn stored_after(&self) -> Option<&Arc<StoredObject>> {
        self.after.as_ref()
    }

    /// The object, in its last version.
    pub(crate) fn object(&self) -> Option<&Arc<StoredObject>> {
        self.after.as_ref().or(self.before.as_ref())
    }

    /// Returns `created`, `changed` or `deleted`.
    pub(crate) fn verb(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "created",
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "deleted",
        }
    }
}

/// `created Pod shop/web`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = self.object().map(|it| title(&it.kind, &it.name));
        write!(f, "{} {}", self.verb(), title.unwrap_or_default())
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("revision", &self.revision)
            .field("time", &self.time)
            .field("objects", &self.objects().count())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Change({self})")
    }
}
