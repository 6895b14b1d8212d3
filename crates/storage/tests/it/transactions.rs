//! Transactions and the leases of clients, in memory and journaled: the same as a model of them.

use bytes::Bytes;
use kubist_storage::journal::{Batch, JournaledKv, Replay};
use kubist_storage::memory::{Config, MemoryKv};
use kubist_storage::{
    Comparison, Fault, Journal, KeyRange, Kv, KvLeases, KvTransact, LeaseError, LeaseId,
    ManualClock, Operand, Operation, OperationResult, PutLease, RangeRequest, Relation, Revision,
    Transaction, WatchRangeRequest, WriteError,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A journal that remembers how many writes each batch had.
#[derive(Clone, Debug, Default)]
struct Sizes(Arc<Mutex<Vec<usize>>>);

impl Journal for Sizes {
    fn commit(&mut self, batch: &Batch) -> Result<(), Fault> {
        self.0.lock().unwrap().push(batch.written.len());
        Ok(())
    }
}

trait Engine: Kv + KvTransact + KvLeases {}
impl<E: Kv + KvTransact + KvLeases> Engine for E {}

fn engines(clock: &Arc<ManualClock>) -> [Arc<dyn Engine>; 2] {
    let config = Config::default();
    let clock = || Arc::clone(clock) as Arc<dyn kubist_storage::Clock>;
    let replayed = Replay::new(config.clone(), Revision::ZERO, 0)
        .finish(Revision::EMPTY_STORE)
        .unwrap();
    [
        Arc::new(MemoryKv::new(config, clock())),
        Arc::new(JournaledKv::new(replayed, clock(), Sizes::default())),
    ]
}

fn put(key: &str, value: &str) -> Operation {
    Operation::Put {
        key: key.to_owned().into(),
        value: Some(value.to_owned().into()),
        lease: PutLease::Set(None),
    }
}

fn always(success: Vec<Operation>) -> Transaction {
    Transaction {
        success,
        ..Transaction::default()
    }
}

fn version_is(key: &str, version: u64) -> Comparison {
    Comparison {
        key: key.to_owned().into(),
        relation: Relation::Equal,
        operand: Operand::Version(version),
    }
}

async fn state(kv: &dyn Engine) -> (Vec<(Bytes, Bytes)>, Revision) {
    let all = kv.range(RangeRequest::new(KeyRange::all())).await.unwrap();
    let pairs = all.kvs.iter().map(|kv| (kv.key.clone(), kv.value.clone()));
    (pairs.collect(), all.revision)
}

#[tokio::test]
async fn writes_of_a_transaction_have_consecutive_revisions_and_are_watched_in_order() {
    for kv in engines(&Arc::default()) {
        let all = WatchRangeRequest::new(KeyRange::all());
        let mut watch = kv.watch(all).await.unwrap();
        let operations = vec![put("a", "1"), put("b", "2"), Operation::Read, put("c", "3")];
        let outcome = kv.transact(always(operations)).await.unwrap();
        assert!(outcome.held);
        assert_eq!(outcome.revision, Revision(4));
        let OperationResult::Read(tree) = &outcome.results[2].result else {
            panic!("the third operation is a read");
        };
        assert_eq!(tree.len(), 2, "a read sees what was written before it");
        let mut revisions = Vec::new();
        while revisions.len() < 3 {
            let batch = watch.next().await.unwrap().unwrap();
            revisions.extend(batch.events.iter().map(|event| event.revision.0));
        }
        assert_eq!(revisions, [2, 3, 4]);
    }
}

#[tokio::test]
async fn transaction_that_cannot_be_done_in_full_is_not_done_in_part() {
    for kv in engines(&Arc::default()) {
        kv.transact(always(vec![put("a", "1")])).await.unwrap();
        let before = state(&*kv).await;
        let keeps = |value: Option<&'static str>, lease| Operation::Put {
            key: Bytes::from("absent"),
            value: value.map(Bytes::from),
            lease,
        };
        let unknown = LeaseId(77);
        for (last, expected) in [
            (keeps(None, PutLease::Set(None)), "the key does not exist"),
            (keeps(Some("x"), PutLease::Keep), "the key does not exist"),
            (
                keeps(Some("x"), PutLease::Set(Some(unknown))),
                "lease 000000000000004d does not exist",
            ),
            (put("", "x"), "the key is empty"),
            (put("b", &"x".repeat(4 << 20)), "the request is too large"),
        ] {
            let operations = vec![put("a", "2"), Operation::Delete(KeyRange::key("a")), last];
            let error = kv.transact(always(operations)).await.unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
            assert_eq!(state(&*kv).await, before);
        }
    }
}

#[tokio::test]
async fn delete_of_too_many_keys_is_refused_by_their_number() {
    let kv = MemoryKv::default();
    for key in 0..100_001_u32 {
        let put = Operation::Put {
            key: Bytes::copy_from_slice(&key.to_be_bytes()),
            value: Some(Bytes::new()),
            lease: PutLease::Set(None),
        };
        kv.transact(always(vec![put])).await.unwrap();
    }
    let all = || always(vec![Operation::Delete(KeyRange::all())]);
    let error = kv.transact(all()).await.unwrap_err();
    assert!(
        matches!(error, WriteError::TooManyKeys { keys: 100_001, .. }),
        "{error}"
    );
    let one = Operation::Delete(KeyRange::key(0_u32.to_be_bytes().to_vec()));
    kv.transact(always(vec![one])).await.unwrap();
    let outcome = kv.transact(all()).await.unwrap();
    assert!(
        matches!(&outcome.results[0].result, OperationResult::Deleted(it) if it.len() == 100_000)
    );
    assert_eq!(kv.stats().keys, 0);
}

#[tokio::test]
async fn transaction_is_durable_in_one_batch() {
    let journal = Sizes::default();
    let replayed = Replay::new(Config::default(), Revision::ZERO, 0);
    let replayed = replayed.finish(Revision::EMPTY_STORE).unwrap();
    let kv = JournaledKv::new(replayed, Arc::new(ManualClock::default()), journal.clone());
    let operations = (0..50).map(|key| put(&format!("k{key}"), "v")).collect();
    kv.transact(always(operations)).await.unwrap();
    kv.transact(always(vec![Operation::Delete(KeyRange::prefix("k1"))]))
        .await
        .unwrap();
    assert_eq!(*journal.0.lock().unwrap(), [50, 11]);
}

#[tokio::test]
async fn lease_lives_as_long_as_it_is_kept_alive() {
    let clock = Arc::new(ManualClock::default());
    for kv in engines(&clock) {
        let ttl = Duration::from_secs(10);
        let lease = LeaseId(1000);
        kv.grant_as(lease, ttl).await.unwrap();
        let again = kv.grant_as(lease, ttl).await;
        assert!(matches!(again, Err(LeaseError::Exists { .. })), "{again:?}");
        for id in [LeaseId(0), LeaseId(-1), LeaseId(i64::MAX)] {
            let refused = kv.grant_as(id, ttl).await;
            assert!(matches!(refused, Err(LeaseError::IdOutOfRange { .. })));
        }
        assert_eq!(kv.grant(ttl * 10).await.unwrap(), LeaseId(1001), "above it");
        let attached = Operation::Put {
            key: Bytes::from("a"),
            value: Some(Bytes::new()),
            lease: PutLease::Set(Some(lease)),
        };
        kv.transact(always(vec![attached])).await.unwrap();
        clock.advance(Duration::from_secs(6));
        let status = kv.lease(lease).await.unwrap();
        assert_eq!(status.remaining, Duration::from_secs(4));
        assert_eq!((status.ttl, status.keys), (ttl, vec![Bytes::from("a")]));
        assert_eq!(kv.keep_alive(lease).await.unwrap(), ttl);
        clock.advance(Duration::from_secs(6));
        assert_eq!(kv.lease(lease).await.unwrap().remaining.as_secs(), 4);
        assert!(kv.leases().await.unwrap().contains(&lease));
        kv.revoke(lease).await.unwrap();
        assert!(kv.get(b"a", None).await.unwrap().kv.is_none());
        let gone = kv.keep_alive(lease).await;
        assert!(matches!(gone, Err(LeaseError::NotFound { .. })), "{gone:?}");
        assert_eq!(kv.leases().await.unwrap(), [LeaseId(1001)]);
    }
}

/// A key in the model: value, creation, modification and version.
type Model = BTreeMap<&'static str, (&'static str, u64, u64, u64)>;

const KEYS: [&str; 3] = ["a", "b", "c"];

fn operation() -> impl Strategy<Value = (usize, Option<&'static str>)> {
    (
        0..KEYS.len(),
        prop::option::of(prop::sample::select(vec!["x", "y"])),
    )
}

fn apply(model: &mut Model, revision: &mut u64, key: &'static str, value: Option<&'static str>) {
    let before = model.get(key).copied();
    match value {
        Some(value) => {
            *revision += 1;
            let (created, version) = before.map_or((*revision, 0), |it| (it.1, it.3));
            model.insert(key, (value, created, *revision, version + 1));
        }
        None if before.is_some() => {
            *revision += 1;
            model.remove(key);
        }
        None => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn transactions_do_what_a_map_of_keys_does(
        steps in prop::collection::vec(
            (
                (0..KEYS.len(), 0..4_u64, 0..4_usize),
                prop::collection::vec(operation(), 0..3),
                prop::collection::vec(operation(), 0..3),
            ),
            1..30,
        ),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for kv in runtime.block_on(async { engines(&Arc::default()) }) {
            let (mut model, mut revision) = (Model::new(), 1);
            for ((key, operand, relation), success, failure) in &steps {
                let key = KEYS[*key];
                let version = model.get(key).map_or(0, |it| it.3);
                let (relation, expected) = match relation {
                    0 => (Relation::Equal, version == *operand),
                    1 => (Relation::NotEqual, version != *operand),
                    2 => (Relation::Greater, version > *operand),
                    _ => (Relation::Less, version < *operand),
                };
                let operations = |of: &[(usize, Option<&'static str>)]| {
                    of.iter().map(|(key, value)| match value {
                        Some(value) => put(KEYS[*key], value),
                        None => Operation::Delete(KeyRange::key(KEYS[*key])),
                    }).collect()
                };
                let transaction = Transaction {
                    compare: vec![Comparison { relation, ..version_is(key, *operand) }],
                    success: operations(success),
                    failure: operations(failure),
                };
                for (key, value) in if expected { success } else { failure } {
                    apply(&mut model, &mut revision, KEYS[*key], *value);
                }
                let outcome = runtime.block_on(kv.transact(transaction)).unwrap();
                prop_assert_eq!(outcome.held, expected);
                prop_assert_eq!(outcome.revision, Revision(revision));
                let all = runtime.block_on(kv.range(RangeRequest::new(KeyRange::all()))).unwrap();
                let found: Vec<_> = all.kvs.iter().map(|kv| {
                    let numbers = (kv.create_revision.0, kv.mod_revision.0, kv.version);
                    (kv.key.clone(), kv.value.clone(), numbers)
                }).collect();
                let expected: Vec<_> = model.iter().map(|(key, it)| {
                    (Bytes::from(*key), Bytes::from(it.0), (it.1, it.2, it.3))
                }).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
