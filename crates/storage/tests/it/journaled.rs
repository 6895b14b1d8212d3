//! The journaled engine: the conformance suite, and that nothing is visible before it is durable.

use bytes::Bytes;
use kubist_storage::conformance::Subject;
use kubist_storage::conformance_suite;
use kubist_storage::journal::{Batch, JournaledKv, Replay, ReplayError};
use kubist_storage::memory::{Config, TokioClock};
use kubist_storage::{
    Clock, DeleteRequest, EventKind, Expected, Fault, FaultKind, Journal, KeyRange, KeyValue,
    LeaseError, LeaseId, ManualClock, PutRequest, ReadError, Revision, WatchError,
    WatchRangeRequest, WriteError, WriteOutcome,
};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use std::collections::BTreeMap;
use std::future::{Future, Ready, ready};
use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::task::JoinSet;

/// The contents of a journal, as a table of versions.
#[derive(Debug, Default)]
struct Table {
    versions: BTreeMap<Revision, (Bytes, Option<Arc<KeyValue>>)>,
    leases: BTreeMap<LeaseId, Duration>,
    granted: i64,
    compacted: Revision,
    batches: Vec<usize>,
}

impl Table {
    fn store(&mut self, batch: &Batch) {
        assert!(!batch.is_empty());
        self.batches.push(batch.written.len());
        for (lease, ttl) in &batch.granted {
            self.granted = self.granted.max(lease.0);
            self.leases.insert(*lease, *ttl);
        }
        for lease in &batch.ended {
            self.leases.remove(lease).unwrap();
        }
        for event in &batch.written {
            let row = (event.key.clone(), event.current().cloned());
            assert!(self.versions.insert(event.revision, row).is_none());
        }
        self.compacted = batch.compacted.unwrap_or(self.compacted);
        for event in &batch.dropped {
            assert!(event.revision < self.compacted);
            if let Some(previous) = &event.previous {
                self.versions.remove(&previous.mod_revision).unwrap();
            }
            if event.kind == EventKind::Delete {
                self.versions.remove(&event.revision).unwrap();
            }
        }
    }

    fn replay(&self) -> Replay {
        let mut replay = Replay::new(Config::default(), self.compacted, self.granted);
        for (revision, (key, kv)) in &self.versions {
            match kv {
                Some(kv) => replay.put(KeyValue::clone(kv)).unwrap(),
                None => replay.delete(*revision, key).unwrap(),
            }
        }
        for (lease, ttl) in &self.leases {
            replay.lease(*lease, *ttl).unwrap();
        }
        replay
    }

    fn revision(&self) -> Revision {
        let last = self.versions.last_key_value();
        last.map_or(Revision::EMPTY_STORE, |(revision, _)| *revision)
    }
}

/// A journal that can be made to wait, fail or panic.
#[derive(Clone, Debug, Default)]
struct TestJournal {
    table: Arc<Mutex<Table>>,
    gate: Option<Arc<Mutex<mpsc::Receiver<Act>>>>,
}

#[derive(Debug)]
enum Act {
    Store,
    Fail,
    Panic,
}

impl Journal for TestJournal {
    fn commit(&mut self, batch: &Batch) -> Result<(), Fault> {
        let gate = self.gate.as_ref();
        // It stores unless a test intervenes.
        let act = gate.map_or(Act::Store, |it| {
            it.lock().unwrap().recv().unwrap_or(Act::Store)
        });
        match act {
            Act::Store => self.table.lock().unwrap().store(batch),
            Act::Fail => return Err(Fault::new(FaultKind::NoSpace, "no space")),
            Act::Panic => panic!("a journal with a defect"),
        }
        Ok(())
    }
}

fn open(journal: TestJournal, clock: Arc<dyn Clock>) -> JournaledKv {
    let replayed = {
        let table = journal.table.lock().unwrap();
        table.replay().finish(table.revision()).unwrap()
    };
    JournaledKv::new(replayed, clock, journal)
}

fn gated() -> (JournaledKv, TestJournal, mpsc::Sender<Act>) {
    let (acts, gate) = mpsc::channel();
    let journal = TestJournal {
        gate: Some(Arc::new(Mutex::new(gate))),
        ..TestJournal::default()
    };
    let kv = open(journal.clone(), Arc::new(TokioClock::start()));
    (kv, journal, acts)
}

fn subject() -> Ready<Subject> {
    let kv = open(TestJournal::default(), Arc::new(TokioClock::start()));
    let mut tasks = JoinSet::new();
    let runner = kv.clone();
    tasks.spawn(async move { runner.run().await });
    ready(Subject::new(Arc::new(kv), "/check/", tasks))
}

conformance_suite!(#[tokio::test(start_paused = true)] => subject());

fn put(
    kv: &JournaledKv,
    key: &str,
) -> impl Future<Output = Result<WriteOutcome, WriteError>> + use<> {
    let (kv, request) = (
        kv.clone(),
        PutRequest::new(key.to_owned(), "1", Expected::Any),
    );
    async move { kv.put(request).await }
}

/// Polls a future once; it must be pending.
async fn started<T>(future: impl Future<Output = T> + Unpin) {
    let mut future = future;
    let polled = pin!(&mut future).poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    tokio::task::yield_now().await;
}

#[tokio::test]
async fn nothing_is_seen_before_it_is_durable() {
    let (kv, _, acts) = gated();
    let mut watch = kv
        .watch(WatchRangeRequest::new(KeyRange::all()))
        .await
        .unwrap();
    let mut write = Box::pin(put(&kv, "a"));
    started(&mut write).await;
    assert_eq!(kv.get(b"a", None).await.unwrap().kv, None);
    assert_eq!(kv.revision().await.unwrap(), Revision(1));
    let next = Box::pin(watch.next());
    started(next).await;
    acts.send(Act::Store).unwrap();
    assert_eq!(write.await.unwrap().committed(), Some(Revision(2)));
    assert!(kv.get(b"a", None).await.unwrap().kv.is_some());
    assert_eq!(watch.next().await.unwrap().unwrap().revision, Revision(2));
}

#[tokio::test]
async fn writes_that_come_meanwhile_become_one_batch_and_see_each_other() {
    let mut writes = JoinSet::new();
    let (kv, journal, acts) = gated();
    writes.spawn(put(&kv, "first"));
    tokio::time::sleep(Duration::from_millis(50)).await;
    let creates = (0..9).map(|_| PutRequest::new("a", "1", Expected::Absent));
    for create in creates {
        let kv = kv.clone();
        writes.spawn(async move { kv.put(create).await });
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(acts);
    let mut won = 0;
    while let Some(written) = writes.join_next().await {
        won += usize::from(written.unwrap().unwrap().committed() == Some(Revision(3)));
    }
    assert_eq!(won, 1, "of nine that create the same key");
    assert_eq!(journal.table.lock().unwrap().batches, [1, 1]);
    assert_eq!(kv.stats().revision, Revision(3));
}

#[tokio::test]
async fn failed_commit_closes_the_store_and_tells_all_who_wait_why() {
    let (kv, journal, acts) = gated();
    let mut watch = kv
        .watch(WatchRangeRequest::new(KeyRange::all()))
        .await
        .unwrap();
    acts.send(Act::Store).unwrap();
    put(&kv, "a").await.unwrap();
    let mut writes = JoinSet::new();
    for at in 0..20 {
        writes.spawn(put(&kv, &format!("b{at}")));
        tokio::task::yield_now().await;
    }
    acts.send(Act::Fail).unwrap();
    while let Some(written) = writes.join_next().await {
        let error = written.unwrap().unwrap_err();
        let fault = matches!(&error, WriteError::Fault(it) if it.kind() == FaultKind::NoSpace);
        assert!(fault, "{error:?}");
    }
    assert!(kv.is_closed());
    assert_eq!(kv.failure().unwrap().kind(), FaultKind::NoSpace);
    assert!(matches!(kv.get(b"a", None).await, Err(ReadError::Closed)));
    let granted = kv.grant(Duration::from_secs(1)).await;
    assert!(matches!(granted, Err(LeaseError::Fault(_))), "{granted:?}");
    assert_eq!(journal.table.lock().unwrap().versions.len(), 1);
    let last = loop {
        match watch.next().await.unwrap() {
            Ok(batch) => assert_eq!(batch.revision, Revision(2)),
            Err(error) => break error,
        }
    };
    assert!(matches!(last, WatchError::Closed), "{last:?}");
    kv.close().await;
}

#[tokio::test]
async fn journal_that_panics_closes_the_store_and_nobody_waits_for_ever() {
    let (kv, _, acts) = gated();
    acts.send(Act::Panic).unwrap();
    let error = put(&kv, "a").await.unwrap_err();
    assert!(matches!(error, WriteError::Fault(_)), "{error:?}");
    assert!(kv.is_closed());
    kv.close().await;
}

#[tokio::test]
async fn close_writes_what_waits_and_lets_go_of_the_journal() {
    let (kv, journal, acts) = gated();
    let mut write = Box::pin(put(&kv, "a"));
    started(&mut write).await;
    let mut close = Box::pin(kv.close());
    started(&mut close).await;
    let late = put(&kv, "b").await.unwrap_err();
    assert!(matches!(late, WriteError::Closed), "{late:?}");
    drop(acts);
    close.await;
    write.await.unwrap();
    assert_eq!(journal.table.lock().unwrap().versions.len(), 1);
    assert_eq!(Arc::strong_count(&journal.table), 1, "the engine's is gone");
    assert!(kv.failure().is_none());
    kv.close().await;
}

#[test]
fn runtime_that_ends_leaves_no_writer_waiting() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
    };
    let (kv, _, acts) = gated();
    let first = runtime();
    first.block_on(async {
        started(&mut Box::pin(put(&kv, "a"))).await;
    });
    drop(acts);
    drop(first);
    let written = runtime().block_on(put(&kv, "b"));
    assert!(written.is_ok(), "the next runtime goes on: {written:?}");
}

#[tokio::test]
async fn replay_brings_back_keys_history_and_leases() {
    let clock = Arc::new(ManualClock::default());
    let journal = TestJournal::default();
    let kv = open(journal.clone(), Arc::<ManualClock>::clone(&clock));
    let lease = kv.grant(Duration::from_secs(10)).await.unwrap();
    let ended = kv.grant(Duration::from_secs(10)).await.unwrap();
    kv.put(PutRequest::new("leased", "1", Expected::Any).lease(lease))
        .await
        .unwrap();
    for _ in 0..10 {
        put(&kv, "a").await.unwrap();
        put(&kv, "b").await.unwrap();
        let delete = DeleteRequest::new("b", Expected::Any);
        kv.delete(delete).await.unwrap();
    }
    kv.compact(Revision(20)).await.unwrap();
    kv.revoke(ended).await.unwrap();
    clock.advance(Duration::from_secs(9));
    kv.close().await;

    let kv = open(journal.clone(), Arc::<ManualClock>::clone(&clock));
    let stats = kv.stats();
    assert_eq!(
        (stats.revision, stats.compacted),
        (Revision(32), Revision(20))
    );
    assert_eq!((stats.keys, stats.leases, stats.history_events), (2, 1, 13));
    let range = |at| kv.get(b"b", Some(Revision(at)));
    assert!(matches!(range(19).await, Err(ReadError::Compacted { .. })));
    assert!(range(20).await.unwrap().kv.is_none());
    assert!(range(22).await.unwrap().kv.is_some());
    let request = WatchRangeRequest::new(KeyRange::all()).from(Revision(20));
    let mut watch = kv.watch(request).await.unwrap();
    assert_eq!(watch.next().await.unwrap().unwrap().events.len(), 13);
    clock.advance(Duration::from_secs(9));
    kv.tick();
    put(&kv, "a").await.unwrap();
    let leased = kv.get(b"leased", None).await.unwrap().kv;
    assert!(leased.is_some(), "a restart gives a lease all of its time");
    clock.advance(Duration::from_secs(1));
    kv.tick();
    put(&kv, "a").await.unwrap();
    assert!(kv.get(b"leased", None).await.unwrap().kv.is_none());
    let next = kv.grant(Duration::from_secs(1)).await.unwrap();
    assert!(next > ended, "numbers of leases are not used twice");
}

#[tokio::test]
async fn keys_of_a_lease_that_had_ended_are_deleted_after_the_restart() {
    let journal = TestJournal::default();
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::default());
    let kv = open(journal.clone(), Arc::clone(&clock));
    let lease = kv.grant(Duration::from_secs(10)).await.unwrap();
    let request = PutRequest::new("leased", "1", Expected::Any).lease(lease);
    kv.put(request.clone()).await.unwrap();
    kv.close().await;
    // As if the process had been killed between the expiry of the lease and the deletion of its
    // key.
    journal.table.lock().unwrap().leases.clear();
    let kv = open(journal, clock);
    let refused = kv.put(request).await;
    assert!(matches!(refused, Err(WriteError::LeaseNotFound { .. })));
    kv.tick();
    put(&kv, "a").await.unwrap();
    assert!(kv.get(b"leased", None).await.unwrap().kv.is_none());
}

#[test]
fn replay_refuses_what_is_no_history() {
    let kv = |key: &'static str, create: u64, revision: u64| KeyValue {
        key: Bytes::from(key),
        value: Bytes::new(),
        create_revision: Revision(create),
        mod_revision: Revision(revision),
        version: 1,
        lease: None,
        note: kubist_storage::Note::default(),
    };
    let replay = || Replay::new(Config::default(), Revision(5), 3);
    let contradiction = |revision| ReplayError::Contradiction {
        revision: Revision(revision),
    };
    let out_of_order = |found, expected| ReplayError::OutOfOrder {
        found: Revision(found),
        expected: Revision(expected),
    };
    let check = |rows: &[(&'static str, u64, u64)], error| {
        let mut replay = replay();
        let (last, before) = rows.split_last().unwrap();
        for (key, create, revision) in before {
            replay.put(kv(key, *create, *revision)).unwrap();
        }
        assert_eq!(replay.put(kv(last.0, last.1, last.2)), Err(error));
    };
    check(&[("", 5, 5)], contradiction(5));
    check(&[("a", 6, 5)], contradiction(5));
    check(
        &[("a", 2, 1)].map(|(key, _, at)| (key, 1, at)),
        out_of_order(1, 2),
    );
    check(&[("a", 3, 3), ("b", 3, 3)], out_of_order(3, 4));
    check(&[("a", 3, 3), ("a", 3, 4)], contradiction(4));
    check(&[("a", 6, 6)], out_of_order(6, 5));
    check(&[("a", 5, 5), ("b", 7, 7)], out_of_order(7, 6));
    check(&[("a", 5, 5), ("b", 4, 4)], out_of_order(4, 6));
    check(&[("a", 5, 5), ("a", 6, 6)], contradiction(6));
    check(&[("a", 3, 3), ("a", 2, 5)], contradiction(5));

    assert_eq!(replay().delete(Revision(5), b"a"), Err(contradiction(5)));
    assert_eq!(replay().delete(Revision(4), b"a"), Err(contradiction(4)));
    for lease in [LeaseId(0), LeaseId(4), LeaseId(-1)] {
        let unknown = replay().lease(lease, Duration::from_secs(1));
        assert_eq!(unknown, Err(ReplayError::UnknownLease { lease }));
    }
    let end = replay().finish(Revision(5)).unwrap_err();
    let (found, expected) = (Revision(4), Revision(5));
    assert_eq!(end, ReplayError::WrongEnd { found, expected });
}
