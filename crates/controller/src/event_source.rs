//! `EventSource`: maps the events of an informer to keys.

use crate::stats::Shared;
use crate::{Key, Predicate};
use futures_core::future::BoxFuture;
use hashbrown::HashSet;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, Object, ObjectName, Str};
use kubist_cache::ResourceEvent;
use kubist_informers::{HandlerConfig, HandlerState, RegistrationGuard, SharedInformer};
use kubist_workqueue::Lane;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// An informer, and the mapping of its events to keys. controller-runtime's `source.Kind` with its
/// event handler and predicates.
///
/// [`Controller::new`](crate::Controller::new), [`owns`](crate::Controller::owns) and
/// [`watches`](crate::Controller::watches) create the usual ones.
///
/// Every state that the store has shown is mapped, at once and however short-lived it was. An
/// update maps the old and the new state, so that the former owner is enqueued too. A reconciler
/// that read an object is therefore called again after the object changed, if the mapping leads
/// from the object to its key. A deletion without a last known state maps to nothing, unless only
/// the name is needed.
///
/// Mappings and predicates run on the informer's task and should only compute names. A panic in one
/// is logged and [counted](crate::Stats::mapping_panics); the names of that state are lost. If a
/// predicate panics, the event is accepted.
pub struct EventSource<W, Q = ObjectName> {
    informer: SharedInformer<W>,
    map: Map<W, Q>,
    predicates: Vec<Predicate<W>>,
    handler: HandlerConfig,
}

type MapFn<W, Q> = dyn Fn(&W) -> Vec<Q> + Send;

enum Map<W, Q> {
    /// To what its name becomes.
    Object(Box<dyn Fn(ObjectName) -> Q + Send>),
    /// To the names that a function returns.
    To(Box<MapFn<W, Q>>),
}

/// The kind of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnerKind {
    group: Str,
    kind: Str,
    namespaced: bool,
}

impl OwnerKind {
    pub(crate) fn of<K: Ingest>() -> Self {
        Self::of_resource(&ApiResource::of::<K::Kind>())
    }

    pub(crate) fn of_resource(resource: &ApiResource) -> Self {
        Self {
            group: resource.group.clone(),
            kind: resource.kind.clone(),
            namespaced: resource.namespaced,
        }
    }

    /// Returns the controller owner of `object` if it is of this kind, in any version.
    fn controller_of<W: Object>(&self, object: &W) -> Option<ObjectName> {
        let owner = object.owners().controller()?;
        let group = owner.api_version.rsplit_once('/').map_or("", |it| it.0);
        if *owner.kind != *self.kind || *group != *self.group {
            return None;
        }
        let namespace = if self.namespaced {
            object.namespace()
        } else {
            ""
        };
        Some(ObjectName::new(namespace, owner.name))
    }
}

impl<W: Object> EventSource<W> {
    /// Maps each object to its own name.
    pub fn for_object(informer: &SharedInformer<W>) -> Self {
        Self::with(informer, Map::Object(Box::new(std::convert::identity)))
    }

    /// Maps each object to its controller owner, if that is of the kind `K`.
    pub fn for_owner<K: Ingest>(informer: &SharedInformer<W>) -> Self {
        Self::owner(informer, OwnerKind::of::<K>())
    }

    pub(crate) fn owner(informer: &SharedInformer<W>, kind: OwnerKind) -> Self {
        Self::mapped(informer, move |object| {
            kind.controller_of(object).into_iter().collect()
        })
    }

    /// Makes other keys of the names, as for [several clusters](crate::ClusterKey).
    #[must_use]
    pub fn keyed<Q: Key>(
        self,
        key: impl Fn(ObjectName) -> Q + Send + 'static,
    ) -> EventSource<W, Q> {
        let map: Map<W, Q> = match self.map {
            Map::Object(name) => Map::Object(Box::new(move |it| key(name(it)))),
            Map::To(map) => Map::To(Box::new(move |object| {
                map(object).into_iter().map(&key).collect()
            })),
        };
        EventSource {
            informer: self.informer,
            map,
            predicates: self.predicates,
            handler: self.handler,
        }
    }
}

impl<W: Object, Q: Key> EventSource<W, Q> {
    /// Maps each object to keys with a function.
    pub fn mapped(
        informer: &SharedInformer<W>,
        map: impl Fn(&W) -> Vec<Q> + Send + 'static,
    ) -> Self {
        Self::with(informer, Map::To(Box::new(map)))
    }

    fn with(informer: &SharedInformer<W>, map: Map<W, Q>) -> Self {
        Self {
            informer: informer.clone(),
            map,
            predicates: Vec::new(),
            handler: HandlerConfig::default(),
        }
    }

    /// Accepts only events that match; with several predicates, all must match. Initial lists and
    /// resyncs are always accepted.
    #[must_use]
    pub fn with_predicate(mut self, predicate: Predicate<W>) -> Self {
        self.predicates.push(predicate);
        self
    }

    /// Enqueues every object again at this interval, with the lowest priority.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.handler.resync = Some(period);
        self
    }

    fn lane(&self, change: &ResourceEvent<W>, shared: &Shared<Q>) -> Option<Lane> {
        match change {
            ResourceEvent::Added { initial: true, .. } | ResourceEvent::Resynced(_) => {
                Some(Lane::Background)
            }
            change => {
                let passes = || self.predicates.iter().all(|it| it.passes(change));
                // An unnecessary reconcile is better than a missing one.
                let passes = unless_panics(shared, change, passes).unwrap_or(true);
                passes.then_some(Lane::Normal)
            }
        }
    }

    fn keys(&self, change: &ResourceEvent<W>, shared: &Shared<Q>) -> Vec<Q> {
        let map = match &self.map {
            Map::Object(key) => {
                let key = unless_panics(shared, change, || key(change.object_name()));
                return key.into_iter().collect();
            }
            Map::To(map) => map,
        };
        let former = match change {
            ResourceEvent::Updated { old, .. } => Some(old),
            _ => None,
        };
        let mut keys = Vec::new();
        for state in change.object().into_iter().chain(former) {
            keys.extend(unless_panics(shared, change, || map(state)).unwrap_or_default());
        }
        unless_panics(shared, change, || distinct(keys)).unwrap_or_default()
    }
}

/// Leaves out keys that are there before. Most events have one or two; a state that everything
/// depends on has as many as there are objects.
fn distinct<Q: Key>(mut keys: Vec<Q>) -> Vec<Q> {
    if let [first, second] = &*keys {
        let is_twice = first == second;
        keys.truncate(if is_twice { 1 } else { 2 });
    } else if keys.len() > 2 {
        let mut seen = HashSet::with_capacity(keys.len());
        keys.retain(|key| seen.insert(key.clone()));
    }
    keys
}

/// Calls a user function; a panic is logged and counted.
fn unless_panics<W: Object, Q: Key, T>(
    shared: &Shared<Q>,
    change: &ResourceEvent<W>,
    call: impl FnOnce() -> T,
) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(call));
    if result.is_err() {
        shared.counts.lock().mapping_panics += 1;
        let (controller, object) = (&shared.name, change.object_name());
        tracing::error!(%controller, %object, "a mapping or predicate panicked: fix it, or objects \
            that depend on this one may not be reconciled");
    }
    result.ok()
}

impl<W, Q> fmt::Debug for EventSource<W, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSource")
            .field("informer", &self.informer)
            .field("predicates", &self.predicates)
            .finish_non_exhaustive()
    }
}

/// An event source with its kind erased.
pub(crate) trait AnyEventSource<Q>: Send {
    /// Adds its handler to the informer.
    fn attach(self: Box<Self>, shared: &Arc<Shared<Q>>) -> Box<dyn Attached>;
}

/// An added handler; dropping it removes the handler.
pub(crate) trait Attached: Send + Sync {
    fn informer(&self) -> &Str;
    /// Waits until the informer is run; false if nobody runs it.
    fn started(&self) -> BoxFuture<'_, bool>;
    /// Returns the problem that prevents the informer's first list.
    fn problem(&self) -> Option<Str>;
    /// Waits until the first list was handled; false if that will not happen.
    fn synced(&self) -> BoxFuture<'_, bool>;
    /// Waits until the handler will not be called any more.
    fn ended(&self) -> BoxFuture<'_, ()>;
}

struct Handled<W: Object> {
    informer: SharedInformer<W>,
    guard: RegistrationGuard<W>,
}

impl<W: Object, Q: Key> AnyEventSource<Q> for EventSource<W, Q> {
    fn attach(mut self: Box<Self>, shared: &Arc<Shared<Q>>) -> Box<dyn Attached> {
        let informer = self.informer.clone();
        let mut config = std::mem::take(&mut self.handler);
        config.name = shared.name.clone();
        let shared = Arc::clone(shared);
        let handler = move |change: ResourceEvent<W>| {
            shared.count_event();
            if let Some(lane) = self.lane(&change, &shared) {
                for key in self.keys(&change, &shared) {
                    shared.add(lane, key);
                }
            }
        };
        let registration = informer.add_handler_in_place(handler, config);
        Box::new(Handled {
            informer,
            guard: registration.remove_on_drop(),
        })
    }
}

impl<W: Object> Attached for Handled<W> {
    fn informer(&self) -> &Str {
        self.informer.name()
    }

    fn started(&self) -> BoxFuture<'_, bool> {
        Box::pin(async move { self.informer.started().await.is_ok() })
    }

    fn problem(&self) -> Option<Str> {
        self.informer.last_problem()
    }

    fn synced(&self) -> BoxFuture<'_, bool> {
        let registration = self.guard.registration();
        Box::pin(async move { registration.synced().await == HandlerState::Synced })
    }

    fn ended(&self) -> BoxFuture<'_, ()> {
        let registration = self.guard.registration();
        Box::pin(async move {
            registration.ended().await;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::hash::{Hash, Hasher};

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    #[derive(Clone, Debug)]
    struct Counted(u32);

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }
    impl Eq for Counted {}
    impl Hash for Counted {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }
    impl fmt::Display for Counted {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    #[test]
    fn keys_are_distinct_and_many_do_not_take_quadratic_time() {
        let of = |numbers: &[u32]| {
            let keys = numbers.iter().copied().map(Counted).collect();
            distinct(keys).iter().map(|it| it.0).collect::<Vec<_>>()
        };
        assert!(of(&[]).is_empty());
        assert_eq!(of(&[1]), [1]);
        assert_eq!(of(&[1, 1]), [1]);
        assert_eq!(of(&[2, 1]), [2, 1]);
        assert_eq!(of(&[3, 1, 3, 2, 1]), [3, 1, 2]);
        COMPARED.set(0);
        let twice: Vec<u32> = (0..20_000).chain(0..20_000).collect();
        assert_eq!(of(&twice), twice[..20_000]);
        assert!(COMPARED.get() < 100_000, "{}", COMPARED.get());
    }
}
