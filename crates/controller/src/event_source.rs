//! `EventSource`: which changes of which objects lead to which names.

use crate::Predicate;
use crate::stats::Shared;
use futures_core::future::BoxFuture;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, Object, ObjectName, Str};
use kubist_cache::ResourceEvent;
use kubist_informers::{HandlerConfig, HandlerState, RegistrationGuard, SharedInformer};
use kubist_workqueue::Lane;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Objects of one informer, and the names that their changes lead to.
///
/// [`Controller::new`](crate::Controller::new), [`owns`](crate::Controller::owns) and
/// [`watches`](crate::Controller::watches) make the usual ones.
///
/// Every state that the store has shown is mapped, at once and however short it was: an update maps
/// the old and the new one, so that the former owner hears of it too. So whoever reads an object is
/// run again after it changed, if the mapping leads from the object to the reader. A deletion whose
/// last state nobody knows maps to nothing unless the trigger needs the name only.
///
/// Mappings and predicates run on the informer's task: they should take no longer than it takes to
/// note a name. One that panics is logged and [counted](crate::Stats::mapping_panics), and costs
/// the names of that one state; a predicate that panics lets the change pass.
pub struct EventSource<W> {
    informer: SharedInformer<W>,
    map: Map<W>,
    predicates: Vec<Predicate<W>>,
    handler: HandlerConfig,
}

type MapFn<W> = dyn Fn(&W) -> Vec<ObjectName> + Send;

enum Map<W> {
    /// To its own name.
    Object,
    /// To names in other objects.
    To(Box<MapFn<W>>),
}

/// The kind that owners must be of.
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

    /// The owner of `object` that is of this kind and its controller. Versions do not matter.
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
    /// Each object leads to its own name.
    pub fn for_object(informer: &SharedInformer<W>) -> Self {
        Self::with(informer, Map::Object)
    }

    /// Each object leads to its controller, if that is of the kind `K`.
    pub fn for_owner<K: Ingest>(informer: &SharedInformer<W>) -> Self {
        Self::owner(informer, OwnerKind::of::<K>())
    }

    pub(crate) fn owner(informer: &SharedInformer<W>, kind: OwnerKind) -> Self {
        Self::mapped(informer, move |object| {
            kind.controller_of(object).into_iter().collect()
        })
    }

    /// Each object leads to the names that a function gives.
    pub fn mapped(
        informer: &SharedInformer<W>,
        map: impl Fn(&W) -> Vec<ObjectName> + Send + 'static,
    ) -> Self {
        Self::with(informer, Map::To(Box::new(map)))
    }

    fn with(informer: &SharedInformer<W>, map: Map<W>) -> Self {
        Self {
            informer: informer.clone(),
            map,
            predicates: Vec::new(),
            handler: HandlerConfig::default(),
        }
    }

    /// Only changes that pass; of several predicates, all. First lists and resyncs always do.
    #[must_use]
    pub fn with_predicate(mut self, predicate: Predicate<W>) -> Self {
        self.predicates.push(predicate);
        self
    }

    /// Every object again, this often, after everything else that waits.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.handler.resync = Some(period);
        self
    }

    fn lane(&self, change: &ResourceEvent<W>, shared: &Shared) -> Option<Lane> {
        match change {
            ResourceEvent::Added { initial: true, .. } | ResourceEvent::Resynced(_) => {
                Some(Lane::Background)
            }
            change => {
                let passes = || self.predicates.iter().all(|it| it.passes(change));
                // Rather one run too many than one too few.
                let passes = unless_panics(shared, change, passes).unwrap_or(true);
                passes.then_some(Lane::Normal)
            }
        }
    }

    fn names(&self, change: &ResourceEvent<W>, shared: &Shared) -> Vec<ObjectName> {
        let Map::To(map) = &self.map else {
            return vec![change.object_name()];
        };
        let former = match change {
            ResourceEvent::Updated { old, .. } => Some(old),
            _ => None,
        };
        let mut names = Vec::new();
        for state in change.object().into_iter().chain(former) {
            for name in unless_panics(shared, change, || map(state)).unwrap_or_default() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

/// Calls a function of the user's, whose panic is reported and ends nothing.
fn unless_panics<W: Object, T>(
    shared: &Shared,
    change: &ResourceEvent<W>,
    call: impl FnOnce() -> T,
) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(call));
    if result.is_err() {
        shared.counts.lock().mapping_panics += 1;
        let (controller, object) = (&shared.name, change.object_name());
        tracing::error!(%controller, %object, "a mapping or predicate panicked: mend it, or what \
            depends on this object may not be reconciled");
    }
    result.ok()
}

impl<W> fmt::Debug for EventSource<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSource")
            .field("informer", &self.informer)
            .field("predicates", &self.predicates)
            .finish_non_exhaustive()
    }
}

/// A trigger whose objects are forgotten.
pub(crate) trait AnyEventSource: Send {
    /// Adds its handler to its informer.
    fn attach(self: Box<Self>, shared: &Arc<Shared>) -> Box<dyn Attached>;
}

/// A handler that was added, until this is dropped.
pub(crate) trait Attached: Send + Sync {
    fn informer(&self) -> &Str;
    /// Waits until somebody runs the informer; false if nobody does.
    fn started(&self) -> BoxFuture<'_, bool>;
    /// What keeps the informer from its first list.
    fn problem(&self) -> Option<Str>;
    /// Waits until the first list was handled; false if that will never be.
    fn synced(&self) -> BoxFuture<'_, bool>;
    /// Waits until the handler is called no more.
    fn ended(&self) -> BoxFuture<'_, ()>;
}

struct Handled<W: Object> {
    informer: SharedInformer<W>,
    guard: RegistrationGuard<W>,
}

impl<W: Object> AnyEventSource for EventSource<W> {
    fn attach(mut self: Box<Self>, shared: &Arc<Shared>) -> Box<dyn Attached> {
        let informer = self.informer.clone();
        let mut config = std::mem::take(&mut self.handler);
        config.name = shared.name.clone();
        let shared = Arc::clone(shared);
        let handler = move |change: ResourceEvent<W>| {
            shared.count_event();
            if let Some(lane) = self.lane(&change, &shared) {
                for name in self.names(&change, &shared) {
                    shared.add(lane, name);
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
