//! `ListBuffer`: the objects of a list until it is complete.
//!
//! Each object is held once. If the store has the object in the same version, the buffer shares the
//! store's, so that a list needs little more memory than the store. Later events take precedence.

use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use kubist_cache::{Arcs, Lister, Replacement};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A function that changes each object before it enters the queue.
pub type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;

pub(crate) struct ListBuffer<K> {
    known: Option<Lister<K>>,
    transform: Option<Transform<K>>,
    arcs: Arcs<K>,
    objects: Vec<Arc<K>>,
    /// With the number of objects before each.
    unreadable: Vec<(ObjectName, usize)>,
    /// Objects deleted while the list arrived, with the number of objects and unreadable ones at
    /// that time.
    deleted: Vec<(ObjectName, usize, usize)>,
    /// The number of objects received, and of those that the store already had.
    pub(crate) listed: u64,
    pub(crate) unchanged: u64,
}

impl<K: Object> ListBuffer<K> {
    pub(crate) fn new() -> Self {
        Self {
            known: None,
            transform: None,
            arcs: Arcs::new(),
            objects: Vec::new(),
            unreadable: Vec::new(),
            deleted: Vec::new(),
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

    /// Returns the transformed object.
    pub(crate) fn transformed(&mut self, mut object: K) -> Arc<K> {
        if let Some(transform) = &self.transform {
            transform(&mut object);
        }
        self.arcs.share(object)
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
        let object = known.unwrap_or_else(|| self.transformed(object));
        self.objects.push(object);
    }

    /// Records that a listed object of this name cannot be decoded; an empty name stands for any
    /// object.
    pub(crate) fn add_unreadable(&mut self, name: ObjectName) {
        self.unreadable.push((name, self.objects.len()));
    }

    /// Records that an object was deleted.
    pub(crate) fn remove(&mut self, name: ObjectName) {
        let (objects, unreadable) = (self.objects.len(), self.unreadable.len());
        self.deleted.push((name, objects, unreadable));
    }

    pub(crate) fn clear(&mut self) {
        (self.objects, self.unreadable, self.deleted) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// Returns the buffered list and clears the buffer.
    pub(crate) fn take(&mut self, resource_version: ResourceVersion) -> Replacement<K> {
        let mut objects = std::mem::take(&mut self.objects);
        let mut unreadable = std::mem::take(&mut self.unreadable);
        let mut read_last = BTreeMap::new();
        if !unreadable.is_empty() {
            let places = objects.iter().map(|it| it.object_name()).zip(0usize..);
            read_last.extend(places);
        }
        if !self.deleted.is_empty() {
            // The last deletion of each name; later objects take precedence.
            let deleted = self.deleted.drain(..).map(|(name, o, u)| (name, (o, u)));
            let deleted: BTreeMap<ObjectName, (usize, usize)> = deleted.collect();
            let mut positions = 0..;
            objects.retain(|object| {
                let at = positions.next();
                let end = deleted.get(&object.object_name()).map(|it| it.0);
                end <= at
            });
            let mut positions = 0..;
            unreadable.retain(|(name, _)| {
                let at = positions.next();
                let end = deleted.get(name).map(|it| it.1);
                end <= at
            });
        }
        // An object that was decoded later is not unreadable.
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
