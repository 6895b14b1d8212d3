//! `ListBuffer`: the objects of a list, until it is whole.
//!
//! It holds each object once, in the form in which the store has it already if that is the same,
//! so that a list needs hardly more memory than the store. What comes later counts.

use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use kubist_cache::{Lister, Replacement};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A change of each object as it arrives, before anybody sees it.
pub type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;

pub(crate) struct ListBuffer<K> {
    known: Option<Lister<K>>,
    transform: Option<Transform<K>>,
    objects: Vec<Arc<K>>,
    /// With how many objects there were before.
    unreadable: Vec<(ObjectName, usize)>,
    /// Objects that were deleted while the list came, and how many objects and unreadable ones it
    /// had then.
    gone: Vec<(ObjectName, usize, usize)>,
    /// Objects taken in, and those of them that the store has already.
    pub(crate) listed: u64,
    pub(crate) unchanged: u64,
}

impl<K: Object> ListBuffer<K> {
    pub(crate) fn new() -> Self {
        Self {
            known: None,
            transform: None,
            objects: Vec::new(),
            unreadable: Vec::new(),
            gone: Vec::new(),
            listed: 0,
            unchanged: 0,
        }
    }

    pub(crate) fn set_known(&mut self, lister: Lister<K>) {
        self.known = Some(lister);
    }

    pub(crate) fn set_transform(&mut self, transform: Transform<K>) {
        self.transform = Some(transform);
    }

    /// An object as everybody will see it.
    pub(crate) fn made(&self, mut object: K) -> Arc<K> {
        if let Some(transform) = &self.transform {
            transform(&mut object);
        }
        Arc::new(object)
    }

    pub(crate) fn add(&mut self, object: K) {
        self.listed += 1;
        let known = self.known.as_ref().and_then(|known| {
            let held = known.find(object.namespace(), object.name());
            held.filter(|held| {
                !object.resource_version().is_empty()
                    && held.resource_version() == object.resource_version()
                    && held.uid() == object.uid()
            })
        });
        self.unchanged += u64::from(known.is_some());
        let object = known.unwrap_or_else(|| self.made(object));
        self.objects.push(object);
    }

    /// Something of this name is listed, and cannot be read; without letters: of some name.
    pub(crate) fn add_unreadable(&mut self, name: ObjectName) {
        self.unreadable.push((name, self.objects.len()));
    }

    /// The object went away again.
    pub(crate) fn remove(&mut self, name: ObjectName) {
        let (objects, unreadable) = (self.objects.len(), self.unreadable.len());
        self.gone.push((name, objects, unreadable));
    }

    pub(crate) fn forget(&mut self) {
        (self.objects, self.unreadable, self.gone) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// What was list_buffer, which is then forgotten.
    pub(crate) fn take(&mut self, resource_version: ResourceVersion) -> Replacement<K> {
        let mut objects = std::mem::take(&mut self.objects);
        let mut unreadable = std::mem::take(&mut self.unreadable);
        let mut read_last = BTreeMap::new();
        if !unreadable.is_empty() {
            let places = objects.iter().map(|it| it.object_name()).zip(0usize..);
            read_last.extend(places);
        }
        if !self.gone.is_empty() {
            // The last deletion of each name; what came after it counts.
            let gone = self.gone.drain(..).map(|(name, o, u)| (name, (o, u)));
            let gone: BTreeMap<ObjectName, (usize, usize)> = gone.collect();
            let mut positions = 0..;
            objects.retain(|object| {
                let at = positions.next();
                let end = gone.get(&object.object_name()).map(|it| it.0);
                end <= at
            });
            let mut positions = 0..;
            unreadable.retain(|(name, _)| {
                let at = positions.next();
                let end = gone.get(name).map(|it| it.1);
                end <= at
            });
        }
        // What could be read afterwards is known.
        let is_behind =
            |(name, before): &(ObjectName, usize)| read_last.get(name).is_none_or(|at| at < before);
        let unreadable = unreadable.into_iter().filter(is_behind);
        Replacement {
            resource_version,
            objects,
            unreadable: unreadable.map(|(name, _)| name).collect(),
        }
    }
}

impl<K> fmt::Debug for ListBuffer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListBuffer")
            .field("objects", &self.objects.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::ObjectMeta;

    fn object(name: &str) -> ObjectMeta {
        ObjectMeta {
            name: name.into(),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn what_went_away_while_the_list_came_is_not_in_it_unless_it_came_back() {
        let mut list_buffer = ListBuffer::new();
        for name in ["a", "b", "c"] {
            list_buffer.add(object(name));
        }
        list_buffer.add_unreadable(ObjectName::cluster("x"));
        list_buffer.add(object("d"));
        for name in ["a", "b", "x"] {
            list_buffer.remove(ObjectName::cluster(name));
        }
        list_buffer.add(object("b"));
        list_buffer.add_unreadable(ObjectName::cluster("y"));
        list_buffer.add_unreadable(ObjectName::cluster("e"));
        list_buffer.add(object("e"));
        let taken = list_buffer.take("9".into());
        let names: Vec<_> = taken.objects.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["c", "d", "b", "e"]);
        assert_eq!(taken.unreadable, [ObjectName::cluster("y")]);
        assert!(list_buffer.take("9".into()).objects.is_empty());
    }
}
