//! The etcd rows of the matrix: all tests share one etcd of each release, run one at a time, and
//! use separate key roots, so that revisions are as predictable as on an engine of their own.
//!
//! Tests run on virtual time, which advances as soon as no task runs. An etcd needs real time, so
//! here virtual time advances only after a moment without traffic to or from etcd.

use super::stack::Stack;
use crate::etcd::{Etcd, Release};
use futures_util::StreamExt as _;
use kubist_storage::{
    CompactError, DeleteRequest, GetResponse, Kv, KvFuture, KvWrapper, LeaseError, LeaseId,
    PutRequest, RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchError,
    WatchRangeRequest, WriteError, WriteOutcome,
};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use kubist_storage_etcd::{Config, EtcdKv};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};

/// The unit of the quiet time before virtual time advances.
const TICK: Duration = Duration::from_millis(10);
const QUIET_TICKS: usize = 10;
/// The quiet time for 3.4, which takes longer to start a watch on history.
const QUIET_TICKS_OF_3_4: usize = 25;
/// The etcds of the running tests: 3.4 and 3.6. Each stops with the last test that uses it.
static SHARED: [Mutex<Weak<Mutex<Etcd>>>; 2] = [Mutex::new(Weak::new()), Mutex::new(Weak::new())];
/// The number of assigned key roots.
static ROOTS: AtomicUsize = AtomicUsize::new(0);

fn shared(release: Release) -> Option<Arc<Mutex<Etcd>>> {
    let mut shared = SHARED[usize::from(release == Release::Current)].lock();
    if let Some(running) = shared.upgrade() {
        return Some(running);
    }
    let plain = Builder::new_current_thread().enable_all().build();
    let plain = plain.expect("a runtime");
    // Durability does not matter: the data folder is temporary. 3.4 has no such flag.
    let quick = ["--unsafe-no-fsync"];
    let flags = if release == Release::Current {
        &quick[..]
    } else {
        &[]
    };
    let etcd = plain.block_on(Etcd::start_with(release, flags))?;
    let etcd = Arc::new(Mutex::new(etcd));
    *shared = Arc::downgrade(&etcd);
    Some(etcd)
}

/// Runs a test on an etcd, or reports that none is installed.
pub(crate) fn on_etcd(release: Release, cached: bool, runner: impl AsyncFnOnce(&Stack)) {
    let Some(etcd) = shared(release) else {
        return;
    };
    let etcd = etcd.lock();
    let activity = Arc::new(Activity {
        quiet_ticks: match release {
            Release::Packaged => QUIET_TICKS_OF_3_4,
            Release::Current => QUIET_TICKS,
        },
        ..Activity::default()
    });
    let runtime = activity.runtime();
    let _end = End(Arc::clone(&activity));
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        tasks.spawn(keep_time(Arc::clone(&activity)));
        let mut config = Config::new([etcd.url()]);
        // No pings in virtual time.
        config.ping_every = Duration::from_secs(3600);
        let kv = EtcdKv::new(config).expect("a URL");
        let kv = Arc::new(Observed { kv, activity });
        kv.call(kv.kv.learn_versions()).await;
        assert_eq!(
            kv.kv.supports_progress_requests(),
            release == Release::Current
        );
        let root = format!("/root-{}", ROOTS.fetch_add(1, Ordering::Relaxed));
        let stack = Stack::on_etcd(kv, etcd.url(), &root, cached, tasks).await;
        runner(&stack).await;
    });
}

/// Waits in real time while virtual time stands still.
#[expect(clippy::disallowed_methods, reason = "etcd's time is the machine's")]
async fn pass(time: Duration) {
    let passed = spawn_blocking(move || std::thread::sleep(time));
    passed.await.expect("it does not panic");
}

impl Stack {
    /// Waits until the engine reaches a revision by itself, if it does not run on virtual time.
    pub(crate) async fn comes_to(&self, revision: u64) {
        const TRIES: usize = 200;
        for _ in 0..TRIES {
            if self.etcd.is_none() || self.head().await >= revision {
                return;
            }
            pass(Duration::from_millis(50)).await;
        }
        panic!("the engine does not come to {revision}");
    }

    /// Returns a function that writes to the engine like another process, while this one waits for
    /// it.
    pub(crate) fn other_writer(&self) -> impl Fn(PutRequest) + Send + Sync + 'static {
        let (kv, etcd) = (Arc::clone(&self.kv), self.etcd.clone());
        move |put| {
            let (kv, etcd) = (Arc::clone(&kv), etcd.clone());
            let written = std::thread::spawn(move || {
                let mut runtime = Builder::new_current_thread();
                let runtime = runtime.enable_all().build();
                runtime.expect("a runtime").block_on(async {
                    // The connections of the other client belong to the waiting runtime.
                    let kv: Arc<dyn Kv> = match etcd {
                        Some(url) => {
                            let config = Config::new([url]);
                            Arc::new(EtcdKv::new(config).expect("a URL"))
                        }
                        None => kv,
                    };
                    kv.put(put).await.expect("it is open");
                });
            });
            written.join().expect("it is written");
        }
    }
}

/// The traffic to and from etcd.
#[derive(Debug, Default)]
struct Activity {
    /// The quiet time in ticks.
    quiet_ticks: usize,
    calls: AtomicUsize,
    /// The number of started and ended calls and of watch batches.
    events: watch::Sender<usize>,
    parked: AtomicBool,
    ended: AtomicBool,
}

impl Activity {
    fn runtime(self: &Arc<Self>) -> Runtime {
        let (parking, waking) = (Arc::clone(self), Arc::clone(self));
        let built = Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .on_thread_park(move || parking.parked.store(true, Ordering::Release))
            .on_thread_unpark(move || waking.parked.store(false, Ordering::Release))
            .build();
        built.expect("a runtime")
    }

    fn note(&self) {
        self.events.send_modify(|it| *it = it.wrapping_add(1));
    }

    /// Blocks until a moment has passed without traffic. Returns the number of events so far.
    #[expect(clippy::disallowed_methods, reason = "etcd's time is the machine's")]
    fn wait_for_quiet(&self) -> usize {
        let (mut quiet, mut last) = (0, *self.events.borrow());
        while quiet < self.quiet_ticks && !self.ended.load(Ordering::Acquire) {
            std::thread::sleep(TICK);
            let events = *self.events.borrow();
            let idle = self.calls.load(Ordering::Acquire) == 0;
            quiet = if events == last && idle && self.parked.load(Ordering::Acquire) {
                quiet + 1
            } else {
                0
            };
            last = events;
        }
        last
    }
}

/// Ends the blocking task on drop, so that the runtime can shut down.
struct End(Arc<Activity>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
    }
}

/// Stops virtual time from the first use of etcd until a quiet moment after the last: tokio does
/// not advance it while a blocking task runs.
async fn keep_time(activity: Arc<Activity>) {
    let mut events = activity.events.subscribe();
    while !activity.ended.load(Ordering::Acquire) {
        let waiting = Arc::clone(&activity);
        let quiet = spawn_blocking(move || waiting.wait_for_quiet());
        let since = quiet.await.expect("it does not panic");
        let moved = events.wait_for(|it| *it != since).await;
        drop(moved.expect("it is held here"));
    }
}

/// An engine that records its traffic.
#[derive(Debug)]
struct Observed {
    kv: EtcdKv,
    activity: Arc<Activity>,
}

struct Call<'a>(&'a Activity);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.note();
        self.0.calls.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Observed {
    fn call<'a, T>(&'a self, answer: impl Future<Output = T> + Send + 'a) -> KvFuture<'a, T> {
        KvFuture::boxed(async move {
            self.activity.calls.fetch_add(1, Ordering::AcqRel);
            self.activity.note();
            let _call = Call(&self.activity);
            answer.await
        })
    }
}

impl KvWrapper for Observed {
    fn inner(&self) -> &dyn Kv {
        &self.kv
    }

    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        self.call(self.kv.get(key, at))
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        self.call(self.kv.range(request))
    }

    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        self.call(self.kv.put(request))
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        self.call(self.kv.delete(request))
    }

    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>> {
        self.call(async move {
            let inner = self.kv.watch(request).await?;
            let requester = inner.progress_requester();
            let (coming, asking) = (Arc::clone(&self.activity), Arc::clone(&self.activity));
            let batches = inner.inspect(move |_| coming.note());
            Ok(Watch::new(batches, move || {
                asking.note();
                requester.request();
            }))
        })
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        self.call(self.kv.revision())
    }

    fn grant(&self, ttl: Duration) -> KvFuture<'_, Result<LeaseId, LeaseError>> {
        self.call(self.kv.grant(ttl))
    }

    fn revoke(&self, lease: LeaseId) -> KvFuture<'_, Result<(), LeaseError>> {
        self.call(self.kv.revoke(lease))
    }

    fn compact(&self, revision: Revision) -> KvFuture<'_, Result<(), CompactError>> {
        self.call(self.kv.compact(revision))
    }

    fn size_bytes(&self) -> KvFuture<'_, Result<Option<u64>, ReadError>> {
        self.call(self.kv.size_bytes())
    }
}
