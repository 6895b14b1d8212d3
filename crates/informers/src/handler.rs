//! `EventHandler`: what a shared informer tells, and how it is delivered.
//!
//! The store shows a change before any handler hears of it. Calls of one handler come one after
//! the other, in order for each object; handlers do not wait for each other.

use kubist_apimachinery::{Object, Str};
use kubist_cache::{Deleted, ResourceEvent};
use std::sync::Arc;
use std::time::Duration;

/// Told of changes. A closure over [`ResourceEvent`] is one too.
///
/// Calls should return soon: put a key into a queue, and work elsewhere. One that must block says
/// so ([`HandlerConfig::blocking`]), one that must wait is
/// [added as such](crate::SharedInformer::add_waiting_handler). A call that panics is counted and
/// reported; the handler goes on with the next change.
pub trait EventHandler<K>: Send + 'static {
    /// The object is new to this handler.
    fn on_add(&mut self, object: Arc<K>, is_in_initial_list: bool);

    /// The object changed. Both can be different objects of one name: compare uids.
    fn on_update(&mut self, old: Arc<K>, new: Arc<K>);

    /// The object is gone.
    fn on_delete(&mut self, deleted: Deleted<K>);

    /// The object did not change; only with [`HandlerConfig::resync`]. Calls
    /// [`Self::on_update`] with the object twice.
    fn on_resync(&mut self, object: Arc<K>) {
        self.on_update(Arc::clone(&object), object);
    }

    /// Any of the above.
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

/// How one handler wants to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct HandlerConfig {
    /// What happens to changes that the handler is too slow for. Default:
    /// [`Delivery::Coalesced`].
    pub delivery: Delivery,
    /// Every object is told again this often, at least [`RESYNC_MIN`] apart; 0 means never. By
    /// default the informer's [`Resync`](crate::Resync) decides, which means never.
    pub resync: Option<Duration>,
    /// Calls may block: each is made on a thread for blocking work instead of the handler's task.
    /// Default: false. (Waiting handlers and subscriptions have no use for it.)
    pub blocking: bool,
    /// A name for reports. Default: empty.
    pub name: Str,
}

/// The shortest period of resyncs.
pub const RESYNC_MIN: Duration = Duration::from_secs(1);

/// What happens to changes that a handler is too slow for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// What is pending for one object merges: at most one update, or a deletion and an addition,
    /// waits for each. Nothing final is lost, and memory is bounded by the number of live objects
    /// and of deletions the handler must still hear of. An object that came and went unseen is
    /// never told, and of several former states one: whoever maps a change to other objects must
    /// hear of each, which is what
    /// [handlers in place](crate::SharedInformer::add_handler_in_place) do.
    #[default]
    Coalesced,
    /// Every change, in order. More than `pending_max` waiting end the registration.
    EveryEvent {
        /// Changes that may wait.
        pending_max: usize,
    },
    /// Every change, in order, as long as no more than `pending_max` wait.
    Bounded {
        /// Changes that may wait in order.
        pending_max: usize,
        /// What happens when more would.
        on_overflow: Overflow,
    },
}

/// What happens to a handler that falls too far behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// What waits is merged, as by [`Delivery::Coalesced`], until the handler has caught up: it
    /// ends with what is now, without the steps.
    Snapshot,
    /// The registration ends.
    End,
}
