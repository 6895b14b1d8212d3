//! Large numbers of watchers: which are woken, what they cost, and that none is missed.

use kubist_storage::WatchRangeRequest;
use kubist_storage::memory::{Config, MemoryKv};
use kubist_storage::{Expected, KeyRange, ManualClock, PutRequest, Revision, Watch};
use kubist_storage::{KvWatch, KvWrite};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;
use tokio::task::JoinSet;

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls a watch once; true if it returned something.
fn poll(watch: &mut Watch, waker: &Waker) -> bool {
    pin!(watch.next())
        .poll(&mut Context::from_waker(waker))
        .is_ready()
}

async fn put(kv: &MemoryKv, key: &str) -> Revision {
    let request = PutRequest::new(key.to_owned(), "1", Expected::Any);
    kv.put(request).await.unwrap().committed().unwrap()
}

async fn watch(kv: &MemoryKv, range: KeyRange) -> Watch {
    kv.watch(WatchRangeRequest::new(range)).await.unwrap()
}

#[tokio::test]
async fn write_wakes_only_those_whose_range_holds_the_key() {
    let kv = MemoryKv::default();
    let ranges = [
        (KeyRange::prefix("/pods/"), true),
        (KeyRange::prefix("/pods/ns/"), true),
        (KeyRange::key("/pods/ns/a"), true),
        (KeyRange::between("/pods/ns/a", "/pods/ns/b"), true),
        (KeyRange::all(), true),
        (KeyRange::prefix("/pods/other/"), false),
        (KeyRange::key("/pods/ns/b"), false),
        (KeyRange::between("/pods/ns/b", "/q"), false),
        (KeyRange::prefix("/nodes/"), false),
    ];
    let mut watches = Vec::new();
    for (range, expected) in ranges {
        let (mut watch, woken) = (watch(&kv, range).await, Arc::new(Woken::default()));
        assert!(!poll(&mut watch, &Waker::from(Arc::clone(&woken))));
        watches.push((watch, woken, expected));
    }
    assert_eq!(kv.stats().watched_ranges, 9);
    put(&kv, "/pods/ns/a").await;
    for (watch, woken, expected) in &mut watches {
        assert_eq!(woken.0.load(Ordering::SeqCst), usize::from(*expected));
        assert_eq!(poll(watch, Waker::noop()), *expected);
    }
    drop(watches);
    assert_eq!(
        kv.stats().watched_ranges,
        0,
        "nobody watches, nothing is kept"
    );
}

#[tokio::test]
async fn watcher_is_woken_once_for_many_writes_that_it_has_not_read() {
    let kv = MemoryKv::default();
    let (mut watch, woken) = (
        watch(&kv, KeyRange::all()).await,
        Arc::new(Woken::default()),
    );
    assert!(!poll(&mut watch, &Waker::from(Arc::clone(&woken))));
    for _ in 0..10 {
        put(&kv, "a").await;
    }
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    assert_eq!(watch.next().await.unwrap().unwrap().events.len(), 10);
}

#[tokio::test(start_paused = true)]
async fn crowd_is_woken_by_the_driver_or_by_the_writer_if_there_is_none() {
    let kv = MemoryKv::default();
    let crowd = || async {
        let woken = Arc::new(Woken::default());
        let mut watches = Vec::new();
        for _ in 0..1000 {
            let mut watch = watch(&kv, KeyRange::prefix("a")).await;
            assert!(!poll(&mut watch, &Waker::from(Arc::clone(&woken))));
            watches.push(watch);
        }
        (watches, woken)
    };
    let (_watches, woken) = crowd().await;
    put(&kv, "a").await;
    assert_eq!(woken.0.load(Ordering::SeqCst), 1000, "by the writer");

    let mut tasks = JoinSet::new();
    let runner = kv.clone();
    tasks.spawn(async move { runner.run().await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (_watches, woken) = crowd().await;
    put(&kv, "a").await;
    assert_eq!(woken.0.load(Ordering::SeqCst), 0, "not by the writer");
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        woken.0.load(Ordering::SeqCst),
        1000,
        "by the driver, without waiting for a tick"
    );

    let (_watches, woken) = crowd().await;
    put(&kv, "a").await;
    tasks.abort_all();
    while tasks.join_next().await.is_some() {}
    assert_eq!(woken.0.load(Ordering::SeqCst), 1000, "by the driver's end");
}

#[tokio::test]
async fn progress_comes_unasked_to_those_who_want_it() {
    let clock = Arc::new(ManualClock::default());
    let config = Config {
        progress_every: Duration::from_secs(60),
        ..Config::default()
    };
    let kv = MemoryKv::new(config, Arc::<ManualClock>::clone(&clock));
    let request = WatchRangeRequest::new(KeyRange::key("quiet"));
    let mut wants = kv.watch(request.clone().progress()).await.unwrap();
    let mut other = kv.watch(request).await.unwrap();
    let reached = put(&kv, "loud").await;
    kv.tick();
    assert!(!poll(&mut wants, Waker::noop()), "not yet due");
    clock.advance(Duration::from_secs(60));
    kv.tick();
    let batch = wants.next().await.unwrap().unwrap();
    assert!(batch.is_progress());
    assert_eq!(batch.revision, reached);
    assert!(!poll(&mut wants, Waker::noop()), "once");
    assert!(!poll(&mut other, Waker::noop()));
}

#[tokio::test]
async fn progress_of_a_watch_ahead_of_the_store_is_not_answered() {
    let kv = MemoryKv::default();
    let request = WatchRangeRequest::new(KeyRange::all()).from(Revision(100));
    let mut watch = kv.watch(request).await.unwrap();
    watch.request_progress();
    assert!(!poll(&mut watch, Waker::noop()));
}

#[test]
fn dropping_a_waker_that_owns_another_watch_does_not_deadlock() {
    struct Owner {
        _owned: std::sync::Mutex<Watch>,
    }
    impl Wake for Owner {
        fn wake(self: Arc<Self>) {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let kv = MemoryKv::default();
        let mut outer = watch(&kv, KeyRange::all()).await;
        for replaced_by_poll in [true, false] {
            let inner = watch(&kv, KeyRange::all()).await;
            let owner = Arc::new(Owner {
                _owned: std::sync::Mutex::new(inner),
            });
            assert!(!poll(&mut outer, &Waker::from(owner)));
            if replaced_by_poll {
                assert!(!poll(&mut outer, Waker::noop()));
            }
        }
        drop(outer);
        assert_eq!(kv.stats().watched_ranges, 0);
    });
}

#[test]
fn watchers_on_other_threads_miss_nothing() {
    const WATCHERS: usize = 20;
    const WRITES: u64 = 4000;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(async {
        let kv = MemoryKv::default();
        let mut watchers = JoinSet::new();
        for _ in 0..WATCHERS {
            let mut watch = watch(&kv, KeyRange::prefix("even/")).await;
            watchers.spawn(async move {
                let mut next = Revision(2);
                while next.0 < WRITES {
                    watch.request_progress();
                    let batch = watch.next().await.unwrap().unwrap();
                    for event in &batch.events {
                        assert_eq!(event.revision, next);
                        next = Revision(next.0 + 2);
                    }
                    assert!(batch.revision < next);
                    // Progress is always ready; otherwise the writer would not run.
                    tokio::task::yield_now().await;
                }
            });
        }
        let writer = kv.clone();
        watchers.spawn(async move {
            for at in 0..WRITES {
                put(&writer, if at % 2 == 0 { "even/a" } else { "odd/a" }).await;
                if at % 64 == 0 {
                    tokio::task::yield_now().await;
                }
            }
        });
        let all = async {
            while let Some(done) = watchers.join_next().await {
                done.unwrap();
            }
        };
        tokio::time::timeout(Duration::from_secs(60), all)
            .await
            .unwrap();
    });
}
