//! The memory cost of ten thousand watchers of one resource, half of which never read.

use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{ListOptions, PostOptions};
use kubist_registry::storage::WatchCacheConfig;
use kubist_registry::{Created, EventStream, Registry, RegistryConfig, Rest, User, WatchEvent};
use kubist_storage::memory::MemoryKv;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const WATCHERS: usize = 10_000;
/// The number of writes during the watches. It exceeds the buffer of a watcher.
const WRITES: usize = 200;
/// The size of the written object in bytes.
const VALUE_BYTES: usize = 4_000;
/// The maximum cost of a watcher without events, in bytes.
const IDLE_BYTES_MAX: i64 = 3_000;
/// The maximum cost of a watcher after all writes, whether it reads or not, in bytes. It is less
/// than one event.
const BUSY_BYTES_MAX: i64 = 3_500;

struct Crowd {
    runtime: Runtime,
    registry: Registry,
    maps: Arc<Rest>,
    tasks: JoinSet<()>,
}

impl Crowd {
    fn new(cached: bool) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("it builds");
        let mut tasks = JoinSet::new();
        let (registry, maps) = runtime.block_on(async {
            let kv = MemoryKv::default();
            let engine = kv.clone();
            tasks.spawn(async move { engine.run().await });
            let mut config = RegistryConfig::new(Arc::new(kv), kubist_kinds::BuiltIn::shared());
            if cached {
                config.watch_cache = WatchCacheConfig::everywhere();
            }
            let registry = Registry::new(config);
            registry.start().await.expect("the store is empty");
            let maps = registry.resource("", "v1", "configmaps");
            (registry, maps.expect("it is built in"))
        });
        Self {
            runtime,
            registry,
            maps,
            tasks,
        }
    }

    /// Starts watches, half of them in one namespace and half across all namespaces, and reads the
    /// initial events.
    fn watch(&self, count: usize, watches: &mut Vec<EventStream>) {
        let cx = self.registry.request(User::default());
        let options = ListOptions::default();
        self.runtime.block_on(async {
            for number in 0..count {
                let namespace = ["default", ""][number / 2 % 2];
                let watch = self.maps.watch(&cx, namespace, None, &options, None).await;
                let mut watch = watch.expect("it begins");
                assert_eq!(read(&mut watch).await, (0, false));
                watches.push(watch);
            }
        });
    }

    /// Writes objects and reads from every second watcher. Returns the number of events.
    fn write(&self, writes: usize, watches: &mut [EventStream]) -> usize {
        let cx = self.registry.request(User::default());
        self.runtime.block_on(async {
            let mut got = 0;
            for number in 0..writes {
                let mut map = ConfigMap::default();
                map.metadata.name = format!("c{number}").into();
                map.data.insert("a".into(), "x".repeat(VALUE_BYTES).into());
                let options = PostOptions::default();
                let made = self
                    .maps
                    .create(&cx, "default", "", Box::new(map), &options);
                assert!(matches!(made.await, Ok(Created::Object(_))));
                // Gives all followers time to process it.
                tokio::time::sleep(Duration::from_secs(1)).await;
                if number % 5 == 4 {
                    for watch in watches.iter_mut().step_by(2) {
                        got += read(watch).await.0;
                    }
                }
            }
            got
        })
    }
}

/// Reads the available events. Returns their number, and whether the watch has ended.
async fn read(watch: &mut EventStream) -> (usize, bool) {
    let mut got = 0;
    loop {
        tokio::select! {
            biased;
            events = watch.next() => match events {
                None => return (got, true),
                Some(events) => {
                    let error = |it: &WatchEvent| matches!(it, WatchEvent::Error(_));
                    assert!(!events.iter().any(error), "{events:?}");
                    got += events.len();
                }
            },
            () = std::future::ready(()) => return (got, false),
        }
    }
}

/// Returns the number of bytes that `done` allocates and keeps.
fn held(done: impl FnOnce()) -> i64 {
    allocation_counter::measure(done).bytes_current
}

/// Returns the cost of a watcher at rest and after the writes.
fn cost(crowd: &Crowd, watches: &mut Vec<EventStream>) -> (i64, i64) {
    let watchers = i64::try_from(WATCHERS).expect("it is small");
    let idle = held(|| {
        watches.reserve_exact(WATCHERS);
        crowd.watch(WATCHERS, watches);
    });
    let mut got = 0;
    let written = held(|| got = crowd.write(WRITES, watches));
    assert_eq!(got, WATCHERS / 2 * WRITES, "those who read miss nothing");
    (idle / watchers, (idle + written) / watchers)
}

#[test]
fn watchers_of_an_engine_cost_little_and_those_who_do_not_read_no_more() {
    let crowd = Crowd::new(false);
    let mut watches = Vec::new();
    let (idle, busy) = cost(&crowd, &mut watches);
    println!("raw: {idle} bytes a watcher at rest, {busy} with all that was written");
    assert!(idle <= IDLE_BYTES_MAX, "{idle} bytes at rest");
    assert!(busy <= BUSY_BYTES_MAX, "{busy} bytes");
    // These watchers hold a position. They receive all events, however late they read.
    let late = crowd.runtime.block_on(async {
        let mut late = 0;
        for watch in watches.iter_mut().skip(1).step_by(2).take(20) {
            late += read(watch).await.0;
        }
        late
    });
    assert_eq!(late, 20 * WRITES);
    drop(crowd.tasks);
}

#[test]
fn watchers_of_a_cache_have_bounded_buffers_and_slow_ones_are_ended() {
    let crowd = Crowd::new(true);
    let mut watches = Vec::new();
    let (idle, busy) = cost(&crowd, &mut watches);
    println!("cached: {idle} bytes a watcher at rest, {busy} with all that was written");
    assert!(idle <= IDLE_BYTES_MAX, "{idle} bytes at rest");
    assert!(busy <= BUSY_BYTES_MAX, "{busy} bytes");
    let slow = crowd.runtime.block_on(async {
        let mut ended = 0;
        for watch in watches.iter_mut().skip(1).step_by(2) {
            // Its buffered events in order, and then the end.
            let (got, over) = read(watch).await;
            assert!(got < WRITES, "{got} events were kept for one watcher");
            ended += usize::from(over);
        }
        ended
    });
    assert_eq!(slow, WATCHERS / 2);
    let counted = crowd.registry.metrics();
    let maps = counted.iter().find(|it| &*it.resource == "configmaps");
    let terminated = maps.map(|it| it.cache.watchers_terminated.value());
    assert_eq!(terminated, Some(WATCHERS as u64 / 2));
    drop(crowd.tasks);
}
