//! `Filtered`: a handler that sees only objects that a predicate admits, with enter and leave.
//!
//! An object that begins to pass is added, one that passes no longer is deleted, with the state in
//! which it passed last. The store is not filtered; a [`Selection`](kubist_cache::Selection) is
//! what keeps objects out of it.
//!
//! Source of the contract: client-go `FilteringResourceEventHandler`. Differs from it: a deletion
//! of which the last state is known is filtered by that state; one of an object that nothing is
//! known of passes.

use std::sync::Arc;

use kubist_apimachinery::Object;
use kubist_cache::{Change, Deleted};

use crate::EventHandler;

/// Tells `handler` of what `admits` admits.
///
/// ```
/// use std::sync::Arc;
/// use kubist_apimachinery::ObjectMeta;
/// use kubist_cache::{Change, Deleted};
/// use kubist_informers::{EventHandler, Filtered};
///
/// let pod = |node: &str| Arc::new(ObjectMeta { name: node.into(), ..Default::default() });
/// let log = Arc::new(parking_lot::Mutex::new(Vec::new()));
/// let heard = Arc::clone(&log);
/// let mut handler = Filtered::new(
///     |pod: &ObjectMeta| pod.name.starts_with("mine"),
///     move |change: Change<ObjectMeta>| heard.lock().push(format!("{change:?}")),
/// );
/// handler.on_add(pod("other"), true);
/// handler.on_update(pod("other"), pod("mine"));
/// handler.on_update(pod("mine"), pod("other"));
/// assert_eq!(*log.lock(), ["Added(mine@)", "Known(mine)"]);
/// ```
#[derive(Clone, Debug)]
pub struct Filtered<P, H> {
    admits: P,
    handler: H,
}

impl<P, H> Filtered<P, H> {
    /// A handler behind a filter. The predicate must depend on the object alone.
    pub fn new(admits: P, handler: H) -> Self {
        Self { admits, handler }
    }
}

/// What remains of a change for one who sees only what passes.
pub(crate) fn admitted<K: Object>(
    admits: &mut (impl FnMut(&K) -> bool + ?Sized),
    change: Change<K>,
) -> Option<Change<K>> {
    match change {
        Change::Updated { old, new } => match (admits(&old), admits(&new)) {
            (true, true) => Some(Change::Updated { old, new }),
            (false, true) => Some(Change::Added {
                object: new,
                initial: false,
            }),
            (true, false) => Some(Change::Deleted(Deleted::Known(old))),
            (false, false) => None,
        },
        change => {
            let passes = change.object().is_none_or(|it| admits(it));
            passes.then_some(change)
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
        self.on_change(Change::Added {
            object,
            initial: is_in_initial_list,
        });
    }

    fn on_update(&mut self, old: Arc<K>, new: Arc<K>) {
        self.on_change(Change::Updated { old, new });
    }

    fn on_delete(&mut self, deleted: Deleted<K>) {
        self.on_change(Change::Deleted(deleted));
    }

    fn on_resync(&mut self, object: Arc<K>) {
        self.on_change(Change::Resynced(object));
    }

    fn on_change(&mut self, change: Change<K>) {
        if let Some(change) = admitted(&mut self.admits, change) {
            self.handler.on_change(change);
        }
    }
}

#[cfg(test)]
mod tests {
    use kubist_apimachinery::{ObjectMeta, ObjectName};

    use super::*;

    fn object(version: u32) -> Arc<ObjectMeta> {
        Arc::new(ObjectMeta {
            name: "a".into(),
            resource_version: version.to_string().into(),
            ..ObjectMeta::default()
        })
    }

    /// Even versions pass.
    fn heard(change: Change<ObjectMeta>) -> String {
        let mut admits = |it: &ObjectMeta| {
            it.resource_version
                .parse::<u32>()
                .is_ok_and(|it| it % 2 == 0)
        };
        admitted(&mut admits, change).map_or_else(String::new, |it| format!("{it:?}"))
    }

    #[test]
    fn objects_enter_and_leave() {
        let added = |version, initial| Change::Added {
            object: object(version),
            initial,
        };
        let updated = |old, new| Change::Updated {
            old: object(old),
            new: object(new),
        };
        let unknown = |last_known| {
            Change::Deleted(Deleted::FinalStateUnknown {
                name: ObjectName::cluster("a"),
                last_known,
            })
        };
        for (change, expected) in [
            (added(2, true), "Added(a@2, initial)"),
            (added(1, true), ""),
            (updated(2, 4), "Updated(a@2->4)"),
            (updated(1, 4), "Added(a@4)"),
            (updated(2, 3), "Known(a)"),
            (updated(1, 3), ""),
            (Change::Deleted(Deleted::Known(object(2))), "Known(a)"),
            (Change::Deleted(Deleted::Known(object(3))), ""),
            (unknown(Some(object(2))), "FinalStateUnknown(a)"),
            (unknown(Some(object(3))), ""),
            (unknown(None), "FinalStateUnknown(a)"),
            (Change::Resynced(object(2)), "Resynced(a@2)"),
            (Change::Resynced(object(3)), ""),
        ] {
            let told = format!("{change:?}");
            assert_eq!(heard(change), expected, "{told}");
        }
    }

    #[test]
    fn what_leaves_is_told_in_the_state_in_which_it_passed_last() {
        let mut admits = |it: &ObjectMeta| it.resource_version == "2";
        let left = admitted(
            &mut admits,
            Change::Updated {
                old: object(2),
                new: object(3),
            },
        );
        let Some(Change::Deleted(Deleted::Known(last))) = left else {
            panic!("{left:?}");
        };
        assert_eq!(last.resource_version, "2");
    }
}
