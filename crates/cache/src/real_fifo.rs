//! `RealFifo`: a queue in the order of arrival; the default queue of informers.
//!
//! Nothing is merged or dropped. A list is one delta of any length, so that readers see it at once.
//! The length is bounded by the producer: an informer processes everything before it reads on.
//!
//! The contract is that of client-go v0.36, `tools/cache/the_real_fifo.go`, with atomic events: the
//! consumer of a list determines which objects it no longer contains.

use crate::queue::BATCH_MAX;
use crate::{Batch, Deleted, Delta, Queue, Replacement};
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// A queue that keeps every event.
pub struct RealFifo<K> {
    items: VecDeque<Delta<K>>,
    /// How many of the first items belong to the first list.
    initial: usize,
    /// Whether the extent of the first list is settled.
    populated: bool,
    closed: bool,
}

impl<K: Object> RealFifo<K> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self {
            items: VecDeque::new(),
            initial: 0,
            populated: false,
            closed: false,
        }
    }

    fn push(&mut self, delta: Delta<K>) {
        self.populated = true;
        self.items.push_back(delta);
    }

    /// Returns the name of the next item if it may share a batch.
    fn batchable(&self) -> Option<ObjectName> {
        self.items.front().and_then(Delta::object_name)
    }

    fn take(&mut self) -> Option<Delta<K>> {
        let delta = self.items.pop_front()?;
        self.initial = self.initial.saturating_sub(1);
        Some(delta)
    }
}

impl<K: Object> Default for RealFifo<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Object> fmt::Debug for RealFifo<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

impl<K: Object> Queue<K> for RealFifo<K> {
    fn add(&mut self, object: Arc<K>) {
        self.push(Delta::Added(object));
    }

    fn update(&mut self, object: Arc<K>) {
        self.push(Delta::Updated(object));
    }

    fn delete(&mut self, object: Arc<K>) {
        self.push(Delta::Deleted(Deleted::Known(object)));
    }

    fn delete_unread(&mut self, name: ObjectName, resource_version: ResourceVersion) {
        self.push(Delta::Deleted(Deleted::FinalStateUnknown {
            name,
            last_known: None,
        }));
        if !resource_version.is_unset() {
            self.bookmark(resource_version);
        }
    }

    fn unreadable(&mut self, name: ObjectName, resource_version: ResourceVersion) {
        self.push(Delta::Unreadable {
            name,
            resource_version,
        });
    }

    fn replace(&mut self, replacement: Replacement<K>) {
        let first = !self.populated;
        self.push(Delta::ReplacedAll(replacement));
        if first {
            self.initial = self.items.len();
        }
    }

    fn resync(&mut self) {
        // Like a bookmark, it does not settle the extent of the first list.
        self.items.push_back(Delta::SyncAll);
    }

    fn bookmark(&mut self, resource_version: ResourceVersion) {
        // It does not populate the queue: a first list may still follow.
        self.items.push_back(Delta::Bookmark(resource_version));
    }

    fn pop(&mut self) -> Option<Batch<K>> {
        let initial = !self.has_synced();
        let deltas = vec![self.take()?];
        Some(Batch { deltas, initial })
    }

    fn pop_batch(&mut self) -> Option<Batch<K>> {
        let initial = !self.has_synced();
        let first_name = self.batchable();
        let mut deltas = vec![self.take()?];
        let Some(first_name) = first_name else {
            return Some(Batch { deltas, initial });
        };
        let mut names = hashbrown::HashSet::new();
        names.insert(first_name);
        while deltas.len() < BATCH_MAX && initial != self.has_synced() {
            let Some(name) = self.batchable() else { break };
            if !names.insert(name) {
                break;
            }
            deltas.extend(self.take());
        }
        Some(Batch { deltas, initial })
    }

    fn has_synced(&self) -> bool {
        self.populated && self.initial == 0
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn is_closed(&self) -> bool {
        self.closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::ObjectMeta;

    fn object(name: &str, version: u64) -> Arc<ObjectMeta> {
        let resource_version = version.to_string().into();
        Arc::new(ObjectMeta {
            name: name.into(),
            resource_version,
            ..ObjectMeta::default()
        })
    }

    fn list(version: &str, objects: &[Arc<ObjectMeta>]) -> Replacement<ObjectMeta> {
        Replacement {
            resource_version: version.into(),
            objects: objects.to_vec(),
            unreadable: Vec::new(),
        }
    }

    fn popped(queue: &mut RealFifo<ObjectMeta>) -> String {
        format!("{:?}", queue.pop_batch())
    }

    #[test]
    fn the_first_list_is_one_item_and_synced_once_it_is_popped() {
        let mut queue = RealFifo::new();
        assert!(!queue.has_synced() && queue.is_empty());
        queue.bookmark("3".into());
        queue.replace(list("5", &[object("a", 1), object("b", 2)]));
        queue.add(object("c", 6));
        assert!(!queue.has_synced());
        assert_eq!(popped(&mut queue), "Some(initial [Bookmark(3)])");
        assert_eq!(
            popped(&mut queue),
            "Some(initial [ReplacedAll(2 objects @5)])"
        );
        assert!(queue.has_synced());
        assert_eq!(popped(&mut queue), "Some([Added(c@6)])");
        assert_eq!(popped(&mut queue), "None");
    }

    #[test]
    fn an_event_before_any_list_means_synced() {
        let mut queue = RealFifo::new();
        queue.add(object("a", 1));
        assert!(queue.has_synced());
    }

    #[test]
    fn a_resync_before_the_first_list_does_not_mean_synced() {
        let mut queue = RealFifo::new();
        queue.resync();
        assert!(!queue.has_synced());
        queue.replace(list("5", &[object("a", 1)]));
        assert_eq!(popped(&mut queue), "Some(initial [SyncAll])");
        assert!(!queue.has_synced());
        assert_eq!(
            popped(&mut queue),
            "Some(initial [ReplacedAll(1 objects @5)])"
        );
        assert!(queue.has_synced());
    }

    #[test]
    fn a_single_pop_gives_one_delta_and_a_closed_queue_drains() {
        let mut queue = RealFifo::new();
        queue.add(object("a", 1));
        queue.add(object("b", 2));
        queue.close();
        assert!(queue.is_closed() && !queue.is_drained());
        assert_eq!(format!("{:?}", queue.pop()), "Some([Added(a@1)])");
        queue.add(object("c", 3)); // a closed queue still accepts items
        assert_eq!(popped(&mut queue), "Some([Added(b@2), Added(c@3)])");
        assert!(queue.is_drained() && queue.pop().is_none());
    }

    #[test]
    fn a_repeated_name_or_a_whole_list_closes_the_batch() {
        let mut queue = RealFifo::new();
        for version in [1, 2] {
            queue.update(object("a", version));
            queue.delete(object("b", version));
        }
        queue.resync();
        queue.add(object("c", 3));
        assert_eq!(popped(&mut queue), "Some([Updated(a@1), Known(b)])");
        assert_eq!(popped(&mut queue), "Some([Updated(a@2), Known(b)])");
        assert_eq!(popped(&mut queue), "Some([SyncAll])");
        assert_eq!(popped(&mut queue), "Some([Added(c@3)])");
    }

    #[test]
    fn a_batch_has_at_most_a_thousand_objects() {
        let mut queue = RealFifo::new();
        for name in 0..2500 {
            queue.add(object(&name.to_string(), 1));
        }
        let mut sizes = Vec::new();
        while let Some(batch) = queue.pop_batch() {
            sizes.push(batch.deltas.len());
        }
        assert_eq!(sizes, [1000, 1000, 500]);
    }
}
