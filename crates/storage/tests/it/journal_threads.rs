//! Where the journal of a store works: with a caller, or on a thread of the store's own.

use kubist_storage::journal::{Batch, JournaledKv, Replay};
use kubist_storage::memory::{Config, TokioClock};
use kubist_storage::{DeleteRequest, Expected, Fault, FaultKind, Journal, KvRead, KvWrite};
use kubist_storage::{PutRequest, Revision, WriteError, WriteOutcome};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tokio::task::JoinSet;

/// What a journal does with a batch.
#[derive(Debug, PartialEq)]
enum Act {
    Store,
    Fail,
    Panic,
}

/// A journal that notes the thread and the size of each batch.
#[derive(Clone, Debug, Default)]
struct Noted {
    commits: Arc<Mutex<Vec<(ThreadId, usize)>>>,
    is_quick: Arc<AtomicBool>,
    /// Batches that it has received.
    begun: Arc<AtomicUsize>,
    /// It waits for each of these; without, it stores.
    acts: Option<Arc<Mutex<mpsc::Receiver<Act>>>>,
}

impl Journal for Noted {
    fn commit(&mut self, batch: &Batch) -> Result<(), Fault> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let acts = self.acts.as_ref();
        let act = acts.and_then(|it| it.lock().unwrap().recv().ok());
        assert_ne!(act, Some(Act::Panic), "a journal with a defect");
        if act == Some(Act::Fail) {
            return Err(Fault::new(FaultKind::Unknown, "a disk with a defect"));
        }
        let commit = (thread::current().id(), batch.written.len());
        self.commits.lock().unwrap().push(commit);
        Ok(())
    }

    fn is_quick(&self) -> bool {
        self.is_quick.load(Ordering::Relaxed)
    }
}

impl Noted {
    fn quick() -> Self {
        Self {
            is_quick: Arc::new(AtomicBool::new(true)),
            ..Self::default()
        }
    }

    fn waiting() -> (Self, mpsc::Sender<Act>) {
        let (acts, gate) = mpsc::channel();
        let journal = Self {
            acts: Some(Arc::new(Mutex::new(gate))),
            ..Self::default()
        };
        (journal, acts)
    }

    fn open(&self) -> JournaledKv {
        let replay = Replay::new(Config::default(), Revision(0), 0);
        let replayed = replay.finish(Revision::EMPTY_STORE).unwrap();
        JournaledKv::new(replayed, Arc::new(TokioClock::start()), self.clone())
    }

    fn last_is_here(&self) -> bool {
        let last = self.commits.lock().unwrap().last().copied();
        last.is_some_and(|it| it.0 == thread::current().id())
    }

    fn commits(&self) -> Vec<(ThreadId, usize)> {
        self.commits.lock().unwrap().clone()
    }
}

fn put(
    kv: &JournaledKv,
    key: &str,
    bytes: usize,
) -> impl Future<Output = Result<WriteOutcome, WriteError>> + Send + use<> {
    let request = PutRequest::new(key.to_owned(), vec![0; bytes], Expected::Any);
    let kv = kv.clone();
    async move { kv.put(request).await }
}

/// Polls a future once.
fn once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn what_a_quick_journal_stores_is_stored_by_its_caller() {
    let journal = Noted::quick();
    let kv = journal.open();
    for revision in 2..10 {
        let written = once(put(&kv, "a", 100)).expect("at once").unwrap();
        assert_eq!(written.committed(), Some(Revision(revision)));
    }
    let deleted = once(kv.delete(DeleteRequest::new("a", Expected::Any)));
    assert!(deleted.expect("at once").is_ok());
    let here = thread::current().id();
    assert!(journal.commits().iter().all(|it| *it == (here, 1)));
    kv.close().await;
    assert_eq!(Arc::strong_count(&journal.commits), 1, "it is released");
}

/// Writes until a caller stores what it writes: no other thread works any more.
async fn until_here(kv: &JournaledKv, journal: &Noted) {
    for _ in 0..1_000 {
        put(kv, "a", 1).await.unwrap();
        if journal.last_is_here() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("another thread never ends");
}

#[tokio::test]
async fn what_may_take_long_is_stored_elsewhere() {
    let journal = Noted::quick();
    let kv = journal.open();
    // Its size.
    put(&kv, "large", 100_000).await.unwrap();
    assert!(!journal.last_is_here());
    until_here(&kv, &journal).await;
    // The keys of a lease.
    let lease = kv.grant(Duration::from_secs(10)).await.unwrap();
    assert!(journal.last_is_here());
    kv.revoke(lease).await.unwrap();
    assert!(!journal.last_is_here());
    until_here(&kv, &journal).await;
    // A journal that is no longer quick, which it says after a write.
    journal.is_quick.store(false, Ordering::Relaxed);
    put(&kv, "a", 1).await.unwrap();
    assert!(journal.last_is_here());
    put(&kv, "a", 1).await.unwrap();
    assert!(!journal.last_is_here());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_of_a_quick_journal_at_once_each_get_a_revision_of_their_own() {
    const EACH: u64 = 500;
    let journal = Noted::quick();
    let kv = journal.open();
    let mut writers = JoinSet::new();
    for at in 0..8 {
        let kv = kv.clone();
        writers.spawn(async move {
            for _ in 0..EACH {
                put(&kv, &at.to_string(), 10).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
    }
    while let Some(written) = writers.join_next().await {
        written.unwrap();
    }
    assert_eq!(kv.revision().await.unwrap(), Revision(1 + 8 * EACH));
    let stored: usize = journal.commits().iter().map(|it| it.1).sum();
    assert_eq!(stored as u64, 8 * EACH);
}

#[tokio::test]
async fn quick_journal_that_panics_closes_the_store_and_tells_its_caller() {
    let (mut journal, acts) = Noted::waiting();
    journal.is_quick = Arc::new(AtomicBool::new(true));
    let kv = journal.open();
    acts.send(Act::Panic).unwrap();
    let error = put(&kv, "a", 1).await.unwrap_err();
    assert!(matches!(error, WriteError::Fault(_)), "{error:?}");
    assert!(kv.is_closed());
    kv.close().await;
}

#[tokio::test]
async fn own_thread_stores_everything_and_groups_what_comes_meanwhile() {
    let (journal, acts) = Noted::waiting();
    let kv = journal.open();
    kv.on_own_thread().unwrap();
    kv.on_own_thread().expect("the second has no effect");
    let mut writes = JoinSet::new();
    writes.spawn(put(&kv, "first", 1));
    // The thread is in the first commit once it has the request.
    acts.send(Act::Store).unwrap();
    writes.join_next().await.unwrap().unwrap().unwrap();
    let mut second = Box::pin(put(&kv, "second", 1));
    assert!(once(&mut second).is_none());
    while journal.begun.load(Ordering::Relaxed) < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    for at in 0..9 {
        writes.spawn(put(&kv, &at.to_string(), 1));
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(acts);
    second.await.unwrap();
    while let Some(written) = writes.join_next().await {
        written.unwrap().unwrap();
    }
    let commits = journal.commits();
    let (own, _) = commits[0];
    assert_eq!(commits, [(own, 1), (own, 1), (own, 9)]);
    assert_ne!(own, thread::current().id());
    kv.close().await;
    assert_eq!(Arc::strong_count(&journal.commits), 1, "it is released");
}

#[tokio::test]
async fn own_thread_answers_after_its_journal_panicked_or_failed() {
    for act in [Act::Panic, Act::Fail] {
        let (journal, acts) = Noted::waiting();
        let kv = journal.open();
        kv.on_own_thread().unwrap();
        acts.send(act).unwrap();
        let error = put(&kv, "a", 1).await.unwrap_err();
        assert!(matches!(error, WriteError::Fault(_)), "{error:?}");
        assert!(put(&kv, "a", 1).await.is_err());
        kv.close().await;
        kv.close().await;
    }
}

#[test]
fn own_thread_needs_no_runtime_and_ends_with_the_store() {
    let journal = Noted::default();
    let kv = journal.open();
    kv.on_own_thread().unwrap();
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().build().unwrap()
    };
    // Each runtime ends while the store stays.
    for revision in 2..5 {
        let written = runtime().block_on(put(&kv, "a", 1)).unwrap();
        assert_eq!(written.committed(), Some(Revision(revision)));
    }
    drop(kv);
    let released = async {
        while Arc::strong_count(&journal.commits) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let ended = async { tokio::time::timeout(Duration::from_secs(60), released).await };
    runtime().block_on(ended).expect("the journal is released");
}
