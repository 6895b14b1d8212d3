//! The recent events of a resource, in a ring with an adaptive capacity.
//!
//! The rule and the bounds are upstream's: a ring that fills up within the history time doubles; it
//! halves when its newest quarter alone is older than that.

use kubist_storage::Event;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The minimum capacity, as upstream.
pub(crate) const CAPACITY_MIN: usize = 100;
/// The maximum capacity for the default history time, as upstream.
pub(crate) const CAPACITY_MAX: usize = 100 * 1024;
/// The default history time: the bookmark interval plus a margin, as upstream.
pub(crate) const DEFAULT_HISTORY: Duration = Duration::from_secs(75);

/// The recent events.
#[derive(Debug)]
pub(crate) struct Ring {
    events: VecDeque<Recorded>,
    capacity: usize,
    capacity_max: usize,
    history: Duration,
    /// The revision before the first event that could be here.
    begun_at: u64,
    /// The revision of the last event that was evicted since.
    evicted: Option<u64>,
}

#[derive(Clone, Debug)]
struct Recorded {
    event: Arc<Event>,
    at: Instant,
}

/// The requested events were evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooOld {
    /// The oldest revision after which a watch can resume.
    pub(crate) oldest: u64,
}

impl Ring {
    /// Creates a ring for the events after `begun_at`.
    pub(crate) fn new(begun_at: u64, history: Duration) -> Self {
        Self {
            events: VecDeque::with_capacity(CAPACITY_MIN),
            capacity: CAPACITY_MIN,
            capacity_max: capacity_max(history),
            history,
            begun_at,
            evicted: None,
        }
    }

    /// Returns the capacity.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Adds a new event. Revisions must not decrease.
    pub(crate) fn push(&mut self, event: Arc<Event>, now: Instant) {
        self.resize(now);
        while self.events.len() >= self.capacity {
            if let Some(gone) = self.events.pop_front() {
                self.evicted = Some(gone.event.revision.0);
            }
        }
        self.events.push_back(Recorded { event, at: now });
    }

    /// Puts older events in front, which are those after `begun_at`. They count as old: a ring that
    /// is filled by them does not grow. Nothing happens once events were evicted.
    pub(crate) fn recall(&mut self, begun_at: u64, events: VecDeque<Arc<Event>>, now: Instant) {
        if self.evicted.is_some() {
            return;
        }
        let at = now.checked_sub(self.history).unwrap_or(now);
        for event in events.into_iter().rev() {
            self.events.push_front(Recorded { event, at });
        }
        while self.capacity < self.events.len() && self.capacity < self.capacity_max {
            self.capacity = self.capacity.saturating_mul(2).min(self.capacity_max);
        }
        self.begun_at = begun_at;
    }

    fn resize(&mut self, now: Instant) {
        if self.events.len() < self.capacity {
            return;
        }
        let age = |at: usize| {
            let recorded = self.events.get(at);
            recorded.map(|it| now.saturating_duration_since(it.at))
        };
        if age(0).is_some_and(|it| it < self.history) {
            self.capacity = self.capacity.saturating_mul(2).min(self.capacity_max);
            return;
        }
        let newest_quarter = self.events.len() - self.capacity / 4;
        if age(newest_quarter).is_some_and(|it| it > self.history) {
            self.capacity = (self.capacity / 2).max(CAPACITY_MIN);
        }
    }

    /// Returns the oldest revision after which a watch can resume. A revision of several events, of
    /// which some are evicted, is not complete here: a watch before it would miss those, and a past
    /// state would contain what was no state at all.
    pub(crate) fn oldest(&self) -> u64 {
        match (self.events.front(), self.evicted) {
            (Some(first), Some(evicted)) => evicted.max(first.event.revision.0 - 1),
            _ => self.begun_at,
        }
    }

    /// Returns at most `limit` events after `after` up to `until`, plus the rest of the last
    /// revision.
    pub(crate) fn after(
        &self,
        after: u64,
        until: u64,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, TooOld> {
        let oldest = self.oldest();
        if after < oldest {
            return Err(TooOld { oldest });
        }
        let start = self
            .events
            .partition_point(|it| it.event.revision.0 <= after);
        let mut found: Vec<Arc<Event>> = Vec::new();
        for recorded in self.events.range(start..) {
            let revision = recorded.event.revision;
            let full = found.len() >= limit;
            if revision.0 > until
                || (full && found.last().is_some_and(|it| it.revision != revision))
            {
                break;
            }
            found.push(Arc::clone(&recorded.event));
        }
        Ok(found)
    }
}

/// Returns the maximum capacity: a longer history time allows more events, by powers of two, as
/// upstream.
fn capacity_max(history: Duration) -> usize {
    let mut max = CAPACITY_MAX;
    let mut covered = DEFAULT_HISTORY;
    while covered < history {
        max = max.saturating_mul(2);
        covered = covered.saturating_mul(2);
    }
    max
}

/// Returns the buffer size of one watcher, as upstream: the events of a second, within bounds that
/// depend on the expected number of watchers.
pub(crate) fn buffer_size(
    capacity: usize,
    history: Duration,
    trigger_exists: bool,
    trigger_used: bool,
) -> usize {
    const MIN: usize = 10;
    let max = match (trigger_exists, trigger_used) {
        (true, true) => 10,
        (true, false) => 1000,
        (false, _) => 100,
    };
    let seconds = usize::try_from(history.as_secs()).unwrap_or(usize::MAX);
    capacity.div_ceil(seconds.max(1)).clamp(MIN, max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use kubist_storage::{EventKind, Revision};

    fn event(revision: u64) -> Arc<Event> {
        Arc::new(Event {
            revision: Revision(revision),
            key: Bytes::from_static(b"k"),
            kind: EventKind::Delete,
            previous: None,
        })
    }

    /// Returns a full ring of this capacity, with its first and last event this many seconds old.
    fn full(capacity: usize, ages: (u64, u64), now: Instant) -> Ring {
        let mut ring = Ring::new(0, DEFAULT_HISTORY);
        ring.capacity = capacity;
        for index in 0..capacity {
            let share = |from: u64, to: u64| {
                let last = capacity.max(2) as u64 - 1;
                from - (from - to) * index as u64 / last
            };
            let at = now - Duration::from_secs(share(ages.0, ages.1));
            let event = event(index as u64 + 1);
            ring.events.push_back(Recorded { event, at });
        }
        ring
    }

    #[tokio::test(start_paused = true)]
    async fn capacity_doubles_and_halves_within_its_bounds() {
        let now = Instant::now() + Duration::from_secs(100_000);
        for (capacity, ages, expected) in [
            // Filled within the time: it doubles, up to the bound.
            (100, (74, 0), 200),
            (1600, (10, 0), 3200),
            (CAPACITY_MAX, (10, 0), CAPACITY_MAX),
            (CAPACITY_MAX / 2 + 1, (10, 0), CAPACITY_MAX),
            // The oldest is older, the newest quarter is not: the capacity stays.
            (400, (80, 0), 400),
            (400, (75, 0), 400),
            // Even the newest quarter is older: it halves, down to the bound.
            (400, (1000, 200), 200),
            (100, (1000, 200), 100),
            (150, (1000, 200), 100),
        ] {
            let mut ring = full(capacity, ages, now);
            ring.push(event(capacity as u64 + 1), now);
            assert_eq!(ring.capacity(), expected, "{capacity} {ages:?}");
            assert!(ring.events.len() <= ring.capacity());
            let last = ring.events.back().expect("it was pushed").event.revision.0;
            assert_eq!(last, capacity as u64 + 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn recalled_events_are_in_front_and_the_first_to_go() {
        let now = Instant::now() + Duration::from_secs(100_000);
        let mut ring = Ring::new(200, DEFAULT_HISTORY);
        ring.push(event(201), now);
        ring.recall(40, (41..=190).map(event).collect(), now);
        assert_eq!(
            (ring.capacity(), ring.events.len(), ring.oldest()),
            (200, 151, 40)
        );
        let found = ring.after(100, 201, usize::MAX).expect("they are here");
        assert_eq!((found.len(), found[0].revision.0), (91, 101));
        for revision in 202..=251 {
            ring.push(event(revision), now);
        }
        // The time is over for the recalled only: they make room, and the ring does not grow.
        assert_eq!((ring.capacity(), ring.oldest()), (200, 41));
        ring.recall(7, VecDeque::from([event(8)]), now);
        assert_eq!(ring.oldest(), 41, "it is too late");
    }

    #[tokio::test(start_paused = true)]
    async fn a_ring_that_is_not_full_keeps_its_size() {
        let now = Instant::now() + Duration::from_secs(100_000);
        let mut ring = full(99, (1000, 1000), now);
        ring.capacity = 400;
        ring.push(event(100), now);
        assert_eq!((ring.capacity(), ring.events.len()), (400, 100));
    }

    #[tokio::test(start_paused = true)]
    async fn too_old_begins_where_the_list_was_until_something_is_dropped() {
        let mut ring = Ring::new(10, DEFAULT_HISTORY);
        let long_ago = Instant::now();
        let revisions = |ring: &Ring, after| {
            let found = ring.after(after, u64::MAX, usize::MAX);
            found.map(|it| it.iter().map(|it| it.revision.0).collect::<Vec<_>>())
        };
        assert_eq!(revisions(&ring, 10), Ok(vec![]));
        assert_eq!(revisions(&ring, 9), Err(TooOld { oldest: 10 }));
        for revision in 0..100 {
            ring.push(event(20 + revision * 2), long_ago);
        }
        assert_eq!(revisions(&ring, 10).map(|it| it.len()), Ok(100));
        ring.push(event(300), long_ago + DEFAULT_HISTORY * 2);
        assert_eq!(ring.capacity(), 100);
        assert_eq!(revisions(&ring, 20), Err(TooOld { oldest: 21 }));
        assert_eq!(revisions(&ring, 21).map(|it| it.len()), Ok(100));
        assert_eq!(revisions(&ring, 218), Ok(vec![300]));
        assert_eq!(revisions(&ring, 300), Ok(vec![]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_portion_holds_whole_revisions() {
        let mut ring = Ring::new(0, DEFAULT_HISTORY);
        for revision in [1, 2, 2, 2, 3] {
            ring.push(event(revision), Instant::now());
        }
        let count = |after, until, limit| ring.after(after, until, limit).map(|it| it.len());
        assert_eq!(count(0, 9, 1), Ok(1));
        assert_eq!(count(0, 9, 2), Ok(4));
        assert_eq!(count(1, 9, 1), Ok(3));
        assert_eq!(count(0, 2, 100), Ok(4));
    }

    #[tokio::test(start_paused = true)]
    async fn a_revision_of_which_a_part_was_evicted_is_too_old() {
        let mut ring = Ring::new(0, DEFAULT_HISTORY);
        let long_ago = Instant::now();
        for revision in std::iter::repeat_n(5, 60).chain(6..46) {
            ring.push(event(revision), long_ago);
        }
        let now = long_ago + DEFAULT_HISTORY * 2;
        (46..76).for_each(|revision| ring.push(event(revision), now));
        assert_eq!((ring.capacity(), ring.events.len()), (100, 100));
        let count = |after| ring.after(after, u64::MAX, usize::MAX).map(|it| it.len());
        assert_eq!(count(4), Err(TooOld { oldest: 5 }), "half of 5 is gone");
        assert_eq!(count(5), Ok(70));
    }

    #[test]
    fn a_longer_time_needs_more_room() {
        let max = |seconds| capacity_max(Duration::from_secs(seconds));
        assert_eq!([1, 75].map(max), [CAPACITY_MAX; 2]);
        assert_eq!(
            [76, 150, 151, 300].map(max),
            [2, 2, 4, 4].map(|it| CAPACITY_MAX * it)
        );
    }

    #[test]
    fn buffers_hold_what_comes_in_a_second() {
        for (capacity, exists, used, expected) in [
            (100, true, true, 10),
            (100, true, false, 10),
            (100, false, false, 10),
            (750, true, true, 10),
            (750, true, false, 10),
            (1000, true, false, 14),
            (1000, false, false, 14),
            (7500, false, false, 100),
            (7501, false, false, 100),
            (7501, true, false, 101),
            (102_400, true, true, 10),
            (102_400, true, false, 1000),
            (102_400, false, false, 100),
        ] {
            let size = buffer_size(capacity, DEFAULT_HISTORY, exists, used);
            assert_eq!(size, expected, "{capacity} {exists} {used}");
        }
    }
}
