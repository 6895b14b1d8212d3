//! `EventHandler`: receives the events of a shared informer; `HandlerConfig`: how they are
//! delivered.
//!
//! The store shows a change before any handler receives its event. Calls of one handler are
//! sequential and in order for each object. Handlers do not wait for each other.

use kubist_apimachinery::{Object, Str};
use kubist_cache::{Deleted, ResourceEvent};
use std::sync::Arc;
use std::time::Duration;

/// Receives the events of a shared informer. A closure over [`ResourceEvent`] is a handler too.
///
/// Calls should return soon: put a key into a queue, and do the work elsewhere. Set
/// [`HandlerConfig::blocking`] for a handler that blocks, and use
/// [`add_waiting_handler`](crate::SharedInformer::add_waiting_handler) for one that awaits. A call
/// that panics is counted and reported; the handler continues with the next event.
pub trait EventHandler<K>: Send + 'static {
    /// Called for an object that is new to this handler.
    fn on_add(&mut self, object: Arc<K>, is_in_initial_list: bool);

    /// Called for a changed object. The two may be different objects of one name: compare the uids.
    fn on_update(&mut self, old: Arc<K>, new: Arc<K>);

    /// Called for a deleted object.
    fn on_delete(&mut self, deleted: Deleted<K>);

    /// Called for an unchanged object at a resync ([`HandlerConfig::resync`]). Calls
    /// [`Self::on_update`] with the object twice by default.
    fn on_resync(&mut self, object: Arc<K>) {
        self.on_update(Arc::clone(&object), object);
    }

    /// Called for each event; calls one of the other methods by default.
    fn on_event(&mut self, change: ResourceEvent<K>) {
        match change {
            ResourceEvent::Added { object, initial } => self.on_add(object, initial),
            ResourceEvent::Updated { old, new } => self.on_update(old, new),
            ResourceEvent::Deleted(deleted) => self.on_delete(deleted),
            ResourceEvent::Resynced(object) => self.on_resync(object),
        }
    }
}

impl<K: Object, F: FnMut(ResourceEvent<K>) + Send + 'static> EventHandler<K> for F {
    fn on_add(&mut self, object: Arc<K>, is_in_initial_list: bool) {
        self(ResourceEvent::Added {
            object,
            initial: is_in_initial_list,
        });
    }

    fn on_update(&mut self, old: Arc<K>, new: Arc<K>) {
        self(ResourceEvent::Updated { old, new });
    }

    fn on_delete(&mut self, deleted: Deleted<K>) {
        self(ResourceEvent::Deleted(deleted));
    }

    fn on_event(&mut self, change: ResourceEvent<K>) {
        self(change);
    }
}

/// How events are delivered to one handler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct HandlerConfig {
    /// What happens to events if the handler is too slow. Default: [`Delivery::Coalesced`].
    pub delivery: Delivery,
    /// The resync period, at least [`RESYNC_MIN`]; 0 means no resyncs. By default the informer's
    /// [`Resync`](crate::Resync) decides, which means none.
    pub resync: Option<Duration>,
    /// Whether calls may block: each is made on a thread for blocking work instead of the handler's
    /// task. Default: false. (Ignored by waiting handlers and subscriptions.)
    pub blocking: bool,
    /// The handler's name in reports. Default: empty.
    pub name: Str,
}

/// The minimum resync period.
pub const RESYNC_MIN: Duration = Duration::from_secs(1);

/// What happens to events if a handler is too slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// Pending events of one object are merged: at most one update, or a deletion and an addition.
    /// The final state is always delivered, and memory is bounded by the number of existing objects
    /// and of undelivered deletions. Intermediate states are skipped, and so are objects that were
    /// added and deleted in between. A handler that maps changes to other objects must receive
    /// every state: use [`add_handler_in_place`](crate::SharedInformer::add_handler_in_place).
    #[default]
    Coalesced,
    /// Every event in order. More than `pending_max` pending events end the registration.
    EveryEvent {
        /// The maximum number of pending events.
        pending_max: usize,
    },
    /// Every event in order while at most `pending_max` are pending.
    Bounded {
        /// The maximum number of pending events in order.
        pending_max: usize,
        /// What happens beyond the maximum.
        on_overflow: Overflow,
    },
}

/// What happens to a handler that falls too far behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// Pending events are merged, as by [`Delivery::Coalesced`], until the handler has caught up:
    /// it receives the final state without the intermediate ones.
    Snapshot,
    /// The registration ends.
    End,
}
