//! The redb engine against the memory engine: the same random operations, with restarts of the redb
//! engine.

use crate::disk::Disk;
use bytes::Bytes;
use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::{Config, MemoryKv, Stats};
use kubist_storage::{DeleteRequest, Event, Expected, KeyRange, Kv, LeaseId, ManualClock};
use kubist_storage::{KvMaintenance, KvRead, KvWrite};
use kubist_storage::{PutRequest, RangeRequest, Revision, WatchRangeRequest};
use kubist_storage_redb::Store;
use proptest::prelude::*;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

const HISTORY_EVENTS_MAX: usize = 25;
const TTL: Duration = Duration::from_secs(10);
/// Longer than a test: leases of the reference are ended explicitly, because only the other engine
/// restarts.
const NEVER: Duration = Duration::from_secs(1000 * 3600);

#[derive(Clone, Debug)]
enum Op {
    Put {
        key: u8,
        expected: u64,
        lease: u8,
    },
    Delete {
        key: u8,
        expected: u64,
    },
    Compact {
        back: u64,
    },
    Range {
        from: u8,
        back: u64,
        limit: Option<usize>,
    },
    Grant,
    Revoke {
        lease: i64,
    },
    Pass {
        seconds: u64,
    },
    Restart {
        cleanly: bool,
    },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let key = 0_u8..10;
    let op = prop_oneof![
        10 => (key.clone(), 0_u64..4, 0_u8..12)
            .prop_map(|(key, expected, lease)| Op::Put { key, expected, lease }),
        4 => (key.clone(), 0_u64..4).prop_map(|(key, expected)| Op::Delete { key, expected }),
        1 => (0_u64..30).prop_map(|back| Op::Compact { back }),
        3 => (key, 0_u64..40, prop::option::of(0_usize..8))
            .prop_map(|(from, back, limit)| Op::Range { from, back, limit }),
        1 => Just(Op::Grant),
        1 => (0_i64..6).prop_map(|lease| Op::Revoke { lease }),
        2 => (1_u64..8).prop_map(|seconds| Op::Pass { seconds }),
        2 => prop::bool::ANY.prop_map(|cleanly| Op::Restart { cleanly }),
    ];
    prop::collection::vec(op, 1..120)
}

fn config() -> Config {
    Config {
        history_events_max: HISTORY_EVENTS_MAX,
        history_age: Duration::MAX,
        checkpoint_every: NonZeroU64::new(8).unwrap(),
        ..Config::default()
    }
}

fn name(key: u8) -> Bytes {
    Bytes::from(format!("k/{key:02}"))
}

struct World {
    disk: Disk,
    kv: JournaledKv,
    reference: MemoryKv,
    clock: Arc<ManualClock>,
    now: Duration,
    /// Active leases, and when each expires.
    leases: Vec<(LeaseId, Duration)>,
}

impl World {
    fn new() -> Self {
        let (disk, clock) = (Disk::default(), Arc::new(ManualClock::default()));
        Self {
            kv: Self::open(&disk, &clock),
            reference: MemoryKv::new(config(), Arc::<ManualClock>::clone(&clock)),
            disk,
            clock,
            now: Duration::ZERO,
            leases: Vec::new(),
        }
    }

    fn open(disk: &Disk, clock: &Arc<ManualClock>) -> JournaledKv {
        let store = Store::on_backend(disk.clone()).unwrap();
        let clock = Arc::<ManualClock>::clone(clock);
        store.into_kv(config(), clock).unwrap()
    }

    fn revision(&self) -> u64 {
        self.reference.stats().revision.0
    }

    async fn apply(&mut self, at: usize, op: Op) {
        match op {
            Op::Put {
                key,
                expected,
                lease,
            } => self.put(at, name(key), expected, lease).await,
            Op::Delete { key, expected } => self.delete(name(key), expected).await,
            Op::Compact { back } => {
                let revision = Revision((self.revision() + 1).saturating_sub(back));
                let outcome = self.kv.compact(revision).await;
                same(&outcome, &self.reference.compact(revision).await);
            }
            Op::Range { from, back, limit } => self.range(from, back, limit).await,
            Op::Grant => {
                let lease = self.kv.grant(TTL).await.unwrap();
                assert_eq!(self.reference.grant(NEVER).await.unwrap(), lease);
                self.leases.push((lease, self.now + TTL));
            }
            Op::Revoke { lease } => {
                let lease = LeaseId(lease);
                let outcome = self.kv.revoke(lease).await;
                same(&outcome, &self.reference.revoke(lease).await);
                self.leases.retain(|(id, _)| *id != lease);
            }
            Op::Pass { seconds } => self.pass(Duration::from_secs(seconds)).await,
            Op::Restart { cleanly } => self.restart(cleanly).await,
        }
        assert_eq!(
            comparable(self.kv.stats()),
            comparable(self.reference.stats())
        );
    }

    fn expected(&self, which: u64) -> Expected {
        match which {
            0 => Expected::Any,
            1 => Expected::Absent,
            back => Expected::Revision(Revision((self.revision() + 2).saturating_sub(back))),
        }
    }

    async fn put(&self, at: usize, key: Bytes, expected: u64, lease: u8) {
        let mut request = PutRequest::new(key, format!("v{at}"), self.expected(expected));
        request.lease = (lease > 8).then(|| LeaseId(i64::from(lease) - 8));
        let outcome = self.kv.put(request.clone()).await;
        same(&outcome, &self.reference.put(request).await);
    }

    async fn delete(&self, key: Bytes, expected: u64) {
        let request = DeleteRequest::new(key, self.expected(expected));
        let outcome = self.kv.delete(request.clone()).await;
        same(&outcome, &self.reference.delete(request).await);
    }

    async fn range(&self, from: u8, back: u64, limit: Option<usize>) {
        let at = Revision((self.revision() + 1).saturating_sub(back));
        let range = KeyRange::starting_at(name(from));
        let request = RangeRequest {
            limit,
            ..RangeRequest::new(range).at(at)
        };
        let response = self.kv.range(request.clone()).await;
        same(&response, &self.reference.range(request).await);
    }

    async fn pass(&mut self, time: Duration) {
        self.clock.advance(time);
        self.now += time;
        let now = self.now;
        let mut over: Vec<_> = self.leases.extract_if(.., |(_, end)| *end <= now).collect();
        over.sort_by_key(|(lease, _)| *lease);
        for (lease, _) in over {
            self.reference.revoke(lease).await.unwrap();
        }
        self.kv.tick();
        // Processed after the tick, without effect.
        let barrier = DeleteRequest::new("no such key", Expected::Any);
        self.kv.delete(barrier).await.unwrap();
    }

    /// Ends the engine, in order or abruptly, and verifies what is left.
    async fn restart(&mut self, cleanly: bool) {
        if cleanly {
            self.kv.close().await;
        } else {
            let image = self
                .disk
                .after_power_loss(&mut crate::random::Random::new(self.revision()));
            self.disk = Disk::holding(image);
        }
        self.kv = Self::open(&self.disk, &self.clock);
        for (_, end) in &mut self.leases {
            *end = self.now + TTL;
        }
        let from = self.reference.compacted().max(Revision(2));
        assert_eq!(
            events(&self.kv, from).await,
            events(&self.reference, from).await
        );
        for at in from.0..=self.revision() {
            let request = RangeRequest::new(KeyRange::all()).at(Revision(at));
            let response = self.kv.range(request.clone()).await;
            same(&response, &self.reference.range(request).await);
        }
    }
}

/// Returns all events from a revision on.
async fn events(kv: &dyn Kv, from: Revision) -> Vec<Arc<Event>> {
    let request = WatchRangeRequest::new(KeyRange::all())
        .from(from)
        .previous();
    let mut watch = kv.watch(request).await.unwrap();
    let head = kv.revision().await.unwrap();
    let mut events = Vec::new();
    let mut reached = from.previous();
    while reached < head {
        let batch = watch.next().await.unwrap().unwrap();
        reached = batch.revision;
        events.extend(batch.events);
    }
    events
}

/// Compares results, including the texts of errors.
fn same<T: std::fmt::Debug, E: std::fmt::Debug>(left: &Result<T, E>, right: &Result<T, E>) {
    assert_eq!(format!("{left:?}"), format!("{right:?}"));
}

fn comparable(stats: Stats) -> [u64; 5] {
    let sizes = [stats.keys, stats.history_events, stats.leases].map(|it| it as u64);
    [
        stats.revision.0,
        stats.compacted.0,
        sizes[0],
        sizes[1],
        sizes[2],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn redb_engine_with_restarts_agrees_with_a_memory_engine_that_has_none(ops in ops()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut world = World::new();
            for (at, op) in ops.into_iter().enumerate() {
                world.apply(at, op).await;
            }
            world.restart(true).await;
        });
    }
}
