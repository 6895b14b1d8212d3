//! The memory engine against a list of versions: random writes, compactions, reads of every
//! revision, and watches from any revision.

mod op;
mod specification;

use self::op::{Op, ops};
use self::specification::{Model, Version};
use bytes::Bytes;
use kubist_storage::memory::{Config, MemoryKv};
use kubist_storage::{CompactError, PutRequest, RangeRequest, ReadError, Revision, Watch};
use kubist_storage::{DeleteRequest, Event, Expected, KeyRange, ManualClock};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use kubist_storage::{WatchError, WatchRangeRequest, WriteOutcome};
use proptest::prelude::*;
use std::future::Future;
use std::num::NonZeroU64;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const HISTORY_EVENTS_MAX: usize = 40;
const TTL: Duration = Duration::from_secs(10);

/// A watch, and what it must deliver.
struct Watching {
    watch: Watch,
    range: KeyRange,
    /// The next revision: where it started, or after the last one delivered.
    next: u64,
    /// Whether it still reads history from before its start. The log cannot tell it that compacted
    /// events did not concern it.
    in_the_past: bool,
    ended: bool,
}

struct World {
    kv: MemoryKv,
    clock: Arc<ManualClock>,
    now: Duration,
    model: Model,
    watching: Vec<Watching>,
}

fn name(key: u8) -> Bytes {
    Bytes::from(format!("k/{key:02}"))
}

/// Returns the immediate result of the memory engine.
fn now<T>(answer: impl Future<Output = T>) -> T {
    match pin!(answer).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the memory engine answers at once"),
    }
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let config = Config {
            history_events_max: HISTORY_EVENTS_MAX,
            history_age: Duration::MAX,
            checkpoint_every: NonZeroU64::new(8).unwrap(),
            batch_events_max: 5,
            ..Config::default()
        };
        let kv = MemoryKv::new(config, Arc::<ManualClock>::clone(&clock));
        let (model, watching) = (Model::default(), Vec::new());
        Self {
            kv,
            clock,
            now: Duration::ZERO,
            model,
            watching,
        }
    }

    fn apply(&mut self, at: usize, op: Op) {
        match op {
            Op::Put {
                key,
                expected,
                leased,
            } => self.put(at, name(key), expected, leased),
            Op::Delete { key, expected } => self.delete(name(key), expected),
            Op::Compact { back } => self.compact(back),
            Op::Range {
                from,
                to,
                back,
                limit,
            } => self.range(from, to, back, limit),
            Op::Watch { from, to, back } => self.watch(from, to, back),
            Op::Read { watch } => self.read(watch),
            Op::Progress { watch } => {
                if let Some(it) = self.watching.get(watch) {
                    it.watch.request_progress();
                }
            }
            Op::Pass { seconds } => self.pass(Duration::from_secs(seconds)),
        }
        let stats = self.kv.stats();
        assert_eq!(stats.revision.0, self.model.revision());
        assert_eq!(stats.compacted.0, self.model.compacted);
        assert_eq!(stats.keys, self.model.state(u64::MAX).len());
    }

    /// A random precondition, and whether it holds.
    fn expected(&self, key: &Bytes, which: u8) -> (Expected, bool, u64) {
        let found = self
            .model
            .state(u64::MAX)
            .get(key)
            .map_or(0, |it| it.revision);
        let expected = match which {
            0 => Expected::Any,
            1 => Expected::Absent,
            2 => Expected::Revision(Revision(found)),
            _ => Expected::Revision(Revision(found + 1)),
        };
        (
            expected,
            which == 0 || which == 2 || (which == 1 && found == 0),
            found,
        )
    }

    fn check(&self, outcome: WriteOutcome, happens: bool, found: u64) {
        match outcome {
            WriteOutcome::Committed { revision } => {
                assert!(happens);
                assert_eq!(revision.0, self.model.revision() + 1);
            }
            WriteOutcome::Conflict { revision, current } => {
                assert!(!happens);
                assert_eq!(revision.0, self.model.revision());
                assert_eq!(current.map_or(0, |kv| kv.mod_revision.0), found);
            }
        }
    }

    fn put(&mut self, at: usize, key: Bytes, which: u8, leased: bool) {
        let value = Bytes::from(format!("value {at}"));
        let (expected, happens, found) = self.expected(&key, which);
        let mut request = PutRequest::new(key.clone(), value.clone(), expected);
        if leased {
            let lease = now(self.kv.grant(TTL)).unwrap();
            self.model.leases.push((lease, self.now + TTL));
            request = request.lease(lease);
        }
        let lease = request.lease;
        self.check(now(self.kv.put(request)).unwrap(), happens, found);
        if happens {
            self.model.write(key, Some(value), lease);
        }
    }

    fn delete(&mut self, key: Bytes, which: u8) {
        let (expected, happens, found) = self.expected(&key, which);
        let happens = happens && found != 0;
        let outcome = now(self.kv.delete(DeleteRequest::new(key.clone(), expected))).unwrap();
        self.check(outcome, happens, found);
        if happens {
            self.model.write(key, None, None);
        }
    }

    fn compact(&mut self, back: u64) {
        let revision = (self.model.revision() + 1).saturating_sub(back);
        match now(self.kv.compact(Revision(revision))) {
            Ok(()) => {
                assert!(revision > self.model.compacted && revision <= self.model.revision());
                self.model.compacted = revision;
            }
            Err(CompactError::Compacted { .. }) => assert!(revision <= self.model.compacted),
            Err(CompactError::FutureRevision { .. }) => assert!(revision > self.model.revision()),
            Err(error) => panic!("{error:?}"),
        }
    }

    fn range(&self, from: u8, to: u8, back: u64, limit: Option<usize>) {
        let at = (self.model.revision() + 1).saturating_sub(back);
        let range = KeyRange::between(name(from), name(to));
        let request = RangeRequest {
            range: range.clone(),
            at: Some(Revision(at)),
            limit,
        };
        let response = match now(self.kv.range(request)) {
            Ok(response) => response,
            Err(ReadError::Compacted { .. }) => return assert!(at < self.model.compacted),
            Err(ReadError::FutureRevision { .. }) => return assert!(at > self.model.revision()),
            Err(error) => panic!("{error:?}"),
        };
        assert!(at >= self.model.compacted && at <= self.model.revision());
        let state = self.model.state(at);
        let expected: Vec<_> = state
            .values()
            .filter(|it| range.contains(&it.key))
            .collect();
        assert_eq!(response.revision.0, self.model.revision());
        assert_eq!(response.count, expected.len());
        let shown = expected.len().min(limit.unwrap_or(usize::MAX));
        assert_eq!(response.more, shown < expected.len());
        assert_eq!(response.kvs.len(), shown);
        for (kv, version) in response.kvs.iter().zip(expected) {
            assert_eq!(
                (&kv.key, kv.mod_revision.0),
                (&version.key, version.revision)
            );
            assert_eq!(Some(&kv.value), version.value.as_ref());
            let got = now(self.kv.get(&kv.key, Some(Revision(at)))).unwrap();
            assert_eq!(got.kv.as_ref(), Some(kv));
        }
    }

    fn watch(&mut self, from: u8, to: u8, back: u64) {
        let range = match to {
            12 => KeyRange::prefix("k/"),
            13 => KeyRange::key(name(from)),
            _ => KeyRange::between(name(from), name(to)),
        };
        let next = (self.model.revision() + 3).saturating_sub(back);
        let request = WatchRangeRequest::new(range.clone()).from(Revision(next));
        let mut watch = now(self.kv.watch(request)).unwrap();
        if next < self.model.compacted {
            let first = now(watch.next());
            assert!(
                matches!(first, Some(Err(WatchError::Compacted { .. }))),
                "{first:?}"
            );
            return;
        }
        self.watching.truncate(7);
        let in_the_past = next <= self.model.revision();
        self.watching.insert(
            0,
            Watching {
                watch,
                range,
                next,
                in_the_past,
                ended: false,
            },
        );
    }

    fn read(&mut self, which: usize) {
        let Some(it) = self.watching.get_mut(which).filter(|it| !it.ended) else {
            return;
        };
        let versions = self.model.versions.iter();
        let mut due = versions.filter(|v| v.revision >= it.next && it.range.contains(&v.key));
        let polled = pin!(it.watch.next()).poll(&mut Context::from_waker(Waker::noop()));
        match polled {
            Poll::Pending => {
                assert!(due.next().is_none(), "an event is not delivered");
                it.in_the_past = false;
            }
            Poll::Ready(None) => panic!("the watch ended without an error"),
            Poll::Ready(Some(Err(WatchError::Compacted { .. }))) => {
                let lost = due
                    .next()
                    .is_some_and(|v| v.revision < self.model.compacted);
                assert!(
                    lost || it.in_the_past,
                    "nothing that the watch had to deliver is gone"
                );
                it.ended = true;
            }
            Poll::Ready(Some(Err(error))) => panic!("{error:?}"),
            Poll::Ready(Some(Ok(batch))) => {
                assert!(batch.events.len() <= 5);
                for event in &batch.events {
                    check_event(
                        event,
                        due.next().expect("the event was written"),
                        &self.model,
                    );
                }
                assert!(due.next().is_none_or(|v| v.revision > batch.revision.0));
                assert!(batch.revision.0 <= self.model.revision());
                it.next = it.next.max(batch.revision.0 + 1);
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        self.clock.advance(time);
        self.now += time;
        let mut over = self.model.leases.clone();
        over.retain(|(_, deadline)| *deadline <= self.now);
        over.sort_by_key(|(lease, _)| *lease);
        self.model
            .leases
            .retain(|(_, deadline)| *deadline > self.now);
        for (lease, _) in over {
            let state = self.model.state(u64::MAX);
            let keys = state.values().filter(|it| it.lease == Some(lease));
            let keys: Vec<_> = keys.map(|it| it.key.clone()).collect();
            for key in keys {
                self.model.write(key, None, None);
            }
        }
        self.kv.tick();
    }
}

fn check_event(event: &Event, version: &Version, model: &Model) {
    assert_eq!(
        (event.revision.0, &event.key),
        (version.revision, &version.key)
    );
    assert_eq!(event.current().map(|kv| &kv.value), version.value.as_ref());
    let before = model.state(version.revision - 1);
    let before = before.get(&version.key);
    let previous = event.previous.as_ref().map(|kv| kv.mod_revision.0);
    assert_eq!(previous, before.map(|it| it.revision));
    assert_eq!(
        event.is_create(),
        version.value.is_some() && before.is_none()
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn memory_engine_agrees_with_a_list_of_versions(ops in ops()) {
        let mut world = World::new();
        for (at, op) in ops.into_iter().enumerate() {
            world.apply(at, op);
        }
        for which in 0..world.watching.len() {
            for _ in 0..60 {
                world.read(which);
            }
        }
    }
}
