//! `Config`: the settings of a work queue.
//!
//! Every field has a default. With all defaults the queue behaves like client-go's with its default
//! controller rate limiter. The settings cannot be changed after the queue was created.

use crate::MetricsSink;
use crate::rate_limiter::{self, Bucket, RateLimiter};
use hashbrown::DefaultHashBuilder;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// How many times a waiting lane is skipped by default before it is served: nine, so that a lower
/// lane gets every tenth item under constant load from above.
pub(crate) const PASSES_MAX_DEFAULT: u32 = 9;

/// The settings of a [`WorkQueue`](crate::WorkQueue).
pub struct Config<T> {
    /// The delay of failed items. Default: [`rate_limiter::default_controller`], 5 ms doubling to
    /// 1,000 s per item, and 10 items a second with a burst of 100 for the queue.
    pub limiter: Box<dyn RateLimiter<T>>,
    /// A limit on all items that are handed to workers, including first runs and periodic requeues.
    /// Default: none.
    pub dispatch_limit: Option<Bucket>,
    /// What happens when an item is added while it backs off. Default: [`DuringBackoff::RunNow`].
    pub during_backoff: DuringBackoff,
    /// The group of an item within its lane. Groups take turns. Default: none, one queue in the
    /// order of arrival.
    pub group: Option<Group<T>>,
    /// How many times in a row a lane with waiting items may be skipped before it is served first.
    /// Default: 9; 0 counts as 1.
    pub passes_max: u32,
    /// The sink of counters and durations. Default: none, and then the queue reads the clock only
    /// for delayed items.
    pub metrics: Option<Arc<dyn MetricsSink>>,
}

impl<T: 'static> Default for Config<T> {
    fn default() -> Self {
        Self {
            limiter: Box::new(rate_limiter::default_controller()),
            dispatch_limit: None,
            during_backoff: DuringBackoff::default(),
            group: None,
            passes_max: PASSES_MAX_DEFAULT,
            metrics: None,
        }
    }
}

impl<T> fmt::Debug for Config<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("dispatch_limit", &self.dispatch_limit)
            .field("during_backoff", &self.during_backoff)
            .field("group", &self.group)
            .field("passes_max", &self.passes_max)
            .finish_non_exhaustive()
    }
}

/// What happens when an item is added while it backs off after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DuringBackoff {
    /// The item runs at once, and again when its backoff ends. This is client-go's behaviour: a
    /// change is handled early, but a busy object that fails also increases its own backoff
    /// quickly.
    #[default]
    RunNow,
    /// The item runs when its backoff ends, and not before. [`WorkQueue::forget`] lifts the
    /// backoff.
    ///
    /// [`WorkQueue::forget`]: crate::WorkQueue::forget
    KeepBackoff,
}

/// Assigns items to groups, for instance by namespace.
///
/// Items of one lane are taken from the groups in turn, so that a group with many items delays the
/// others by one item, not by all of its own.
pub struct Group<T>(Box<dyn Fn(&T) -> u64 + Send>);

impl<T> Group<T> {
    /// Groups items by the return value of `key`.
    ///
    /// It is called each time an item becomes ready, under the queue's lock: it must not use the
    /// queue, must not panic and should not allocate. Groups whose hashes collide share turns.
    pub fn by<G: Hash>(key: impl Fn(&T) -> G + Send + 'static) -> Self {
        let hasher = DefaultHashBuilder::default();
        Self(Box::new(move |item| hasher.hash_one(key(item))))
    }

    pub(crate) fn of(&self, item: &T) -> u64 {
        (self.0)(item)
    }
}

impl<T> fmt::Debug for Group<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Group")
    }
}
