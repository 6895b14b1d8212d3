//! `Filtered`: a handler that receives only objects that match a predicate.
//!
//! An object that starts to match is added, and one that no longer matches is deleted, with its
//! last matching state. The store is not filtered; a [`Selection`](kubist_cache::Selection)
//! excludes objects from the store.
//!
//! The contract is that of client-go's `FilteringResourceEventHandler`. Difference: it remembers
//! the names of matching objects, so that each object that was added is deleted exactly once,
//! whatever events were merged and whatever its last state was.

use crate::EventHandler;
use hashbrown::HashSet;
use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::{Deleted, ResourceEvent};
use std::sync::Arc;

/// Passes the events of matching objects to `handler`.
///
/// ```
/// use std::sync::Arc;
/// use kubist_apimachinery::ObjectMeta;
/// use kubist_cache::{ResourceEvent, Deleted};
/// use kubist_informers::{EventHandler, Filtered};
///
/// let pod = |owner: &str| {
///     let (name, uid) = ("web".into(), owner.into());
///     Arc::new(ObjectMeta { name, uid, ..Default::default() })
/// };
/// let log = Arc::new(parking_lot::Mutex::new(Vec::new()));
/// let received = Arc::clone(&log);
/// let mut handler = Filtered::new(
///     |pod: &ObjectMeta| pod.uid == "mine",
///     move |change: ResourceEvent<ObjectMeta>| received.lock().push(format!("{change:?}")),
/// );
/// handler.on_add(pod("other"), true);
/// handler.on_update(pod("other"), pod("mine"));
/// handler.on_update(pod("mine"), pod("other"));
/// assert_eq!(*log.lock(), ["Added(web@)", "Known(web)"]);
/// ```
#[derive(Clone, Debug)]
pub struct Filtered<P, H> {
    admits: P,
    handler: H,
    gate: Gate,
}

impl<P, H> Filtered<P, H> {
    /// Wraps a handler in a filter. The predicate must depend on the object alone.
    pub fn new(admits: P, handler: H) -> Self {
        Self {
            admits,
            handler,
            gate: Gate::default(),
        }
    }
}

/// The names of the matching objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    inside: HashSet<ObjectName>,
}

impl Gate {
    /// Returns the event for a consumer that sees matching objects only.
    pub(crate) fn admitted<K: Object>(
        &mut self,
        admits: &mut (impl FnMut(&K) -> bool + ?Sized),
        change: ResourceEvent<K>,
    ) -> Option<ResourceEvent<K>> {
        let name = change.object_name();
        match change {
            ResourceEvent::Added { object, initial } => {
                let enters = admits(&object) && self.inside.insert(name);
                enters.then_some(ResourceEvent::Added { object, initial })
            }
            ResourceEvent::Updated { old, new } if admits(&new) => {
                if self.inside.insert(name) {
                    let (object, initial) = (new, false);
                    return Some(ResourceEvent::Added { object, initial });
                }
                Some(ResourceEvent::Updated { old, new })
            }
            ResourceEvent::Updated { old, .. } => {
                let leaves = self.inside.remove(&name);
                leaves.then_some(ResourceEvent::Deleted(Deleted::Known(old)))
            }
            ResourceEvent::Deleted(_) => self.inside.remove(&name).then_some(change),
            ResourceEvent::Resynced(_) => self.inside.contains(&name).then_some(change),
        }
    }
}

impl<K, P, H> EventHandler<K> for Filtered<P, H>
where
    K: Object,
    P: FnMut(&K) -> bool + Send + 'static,
    H: EventHandler<K>,
{
    fn on_add(&mut self, object: Arc<K>, is_in_initial_list: bool) {
        self.on_event(ResourceEvent::Added {
            object,
            initial: is_in_initial_list,
        });
    }

    fn on_update(&mut self, old: Arc<K>, new: Arc<K>) {
        self.on_event(ResourceEvent::Updated { old, new });
    }

    fn on_delete(&mut self, deleted: Deleted<K>) {
        self.on_event(ResourceEvent::Deleted(deleted));
    }

    fn on_resync(&mut self, object: Arc<K>) {
        self.on_event(ResourceEvent::Resynced(object));
    }

    fn on_event(&mut self, change: ResourceEvent<K>) {
        if let Some(change) = self.gate.admitted(&mut self.admits, change) {
            self.handler.on_event(change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::ObjectMeta;

    fn object(version: u32) -> Arc<ObjectMeta> {
        Arc::new(ObjectMeta {
            name: "a".into(),
            resource_version: version.to_string().into(),
            ..ObjectMeta::default()
        })
    }

    fn added(version: u32, initial: bool) -> ResourceEvent<ObjectMeta> {
        let object = object(version);
        ResourceEvent::Added { object, initial }
    }

    fn updated(old: u32, new: u32) -> ResourceEvent<ObjectMeta> {
        let (old, new) = (object(old), object(new));
        ResourceEvent::Updated { old, new }
    }

    fn deleted(last: u32) -> ResourceEvent<ObjectMeta> {
        ResourceEvent::Deleted(Deleted::Known(object(last)))
    }

    fn vanished() -> ResourceEvent<ObjectMeta> {
        ResourceEvent::Deleted(Deleted::FinalStateUnknown {
            name: ObjectName::cluster("a"),
            last_known: None,
        })
    }

    /// Objects with even versions match.
    fn received(changes: Vec<ResourceEvent<ObjectMeta>>) -> Vec<String> {
        let mut admits = |it: &ObjectMeta| {
            it.resource_version
                .parse::<u32>()
                .is_ok_and(|it| it % 2 == 0)
        };
        let mut gate = Gate::default();
        let admitted = changes
            .into_iter()
            .filter_map(|it| gate.admitted(&mut admits, it));
        admitted.map(|it| format!("{it:?}")).collect()
    }

    /// Contract INF-12.
    #[test]
    fn objects_enter_and_leave() {
        let resynced = |version| ResourceEvent::Resynced(object(version));
        assert_eq!(received(vec![added(2, true)]), ["Added(a@2, initial)"]);
        assert_eq!(
            received(vec![
                added(2, false),
                updated(2, 4),
                resynced(4),
                deleted(4)
            ]),
            ["Added(a@2)", "Updated(a@2->4)", "Resynced(a@4)", "Known(a)"]
        );
        // It starts to match later, so it is not part of the first list.
        assert_eq!(
            received(vec![added(1, true), resynced(1), updated(1, 4)]),
            ["Added(a@4)"]
        );
        assert_eq!(
            received(vec![
                added(2, false),
                updated(2, 3),
                deleted(3),
                added(4, false)
            ]),
            ["Added(a@2)", "Known(a)", "Added(a@4)"]
        );
        assert_eq!(
            received(vec![added(1, true), updated(1, 3), deleted(3)]),
            [""; 0]
        );
    }

    #[test]
    fn what_was_inside_leaves_once_whatever_its_last_state() {
        assert_eq!(
            received(vec![added(2, false), deleted(3)]),
            ["Added(a@2)", "Known(a)"]
        );
        assert_eq!(
            received(vec![added(2, false), vanished(), vanished()]),
            ["Added(a@2)", "FinalStateUnknown(a)"]
        );
        assert_eq!(received(vec![deleted(2), vanished()]), [""; 0]);
    }

    #[test]
    fn an_object_that_leaves_is_deleted_in_its_last_matching_state() {
        let mut gate = Gate::default();
        let mut admits = |it: &ObjectMeta| it.resource_version == "2";
        gate.admitted(&mut admits, added(2, false))
            .expect("it passes");
        let left = gate.admitted(&mut admits, updated(2, 3));
        let Some(ResourceEvent::Deleted(Deleted::Known(last))) = left else {
            panic!("{left:?}");
        };
        assert_eq!(last.resource_version, "2");
    }
}
