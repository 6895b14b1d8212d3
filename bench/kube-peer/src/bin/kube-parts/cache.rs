//! The reflector's store. It has no indexes: an index look-up of the others is a scan here.

use crate::Failure;
use clap::Args;
use k8s_openapi::api::core::v1::Pod;
use kube::core::Selector;
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::watcher::Event;
use meter::{ROUNDS, cpu, each, median};
use serde_json::json;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Look-ups by name in a round.
const GETS: usize = 400_000;
/// Look-ups go from an object to the one this many places on, in every system.
const STRIDE: usize = 7919;
/// Scans and selector queries in a round.
const SCANS: usize = 10;
/// Threads that read during writes.
const READERS: usize = 2;

#[derive(Args)]
pub struct Options {
    #[arg(long, default_value_t = 20_000)]
    objects: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long readers run during writes
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// The value of the label `app.kubernetes.io/name` to select
    #[arg(long)]
    app: String,
}

/// The objects as events, in two versions each, with the queries that find them.
struct Objects {
    first: Vec<Event<Pod>>,
    second: Vec<Event<Pod>>,
    names: Vec<ObjectRef<Pod>>,
    nodes: BTreeSet<String>,
}

fn objects(options: &Options) -> Result<Objects, Failure> {
    let mut all = Objects {
        first: Vec::new(),
        second: Vec::new(),
        names: Vec::new(),
        nodes: BTreeSet::new(),
    };
    for number in 0..options.objects {
        let mut pod: Pod = serde_json::from_value(pods::pod(options.seed, number))?;
        all.names.push(ObjectRef::from_obj(&pod));
        all.nodes.extend(node(&pod).map(str::to_owned));
        all.first.push(Event::Apply(pod.clone()));
        if let Some(version) = &mut pod.metadata.resource_version {
            version.push('1');
        }
        all.second.push(Event::Apply(pod));
    }
    Ok(all)
}

fn node(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref()
}

/// One after another, each visible before the next. The store clones its input.
fn put(writer: &mut Writer<Pod>, events: &[Event<Pod>]) -> f64 {
    let start = cpu();
    for event in events {
        writer.apply_watcher_event(event);
    }
    each(start, events.len())
}

fn filled(events: &[Event<Pod>]) -> Writer<Pod> {
    let mut writer = Writer::default();
    put(&mut writer, events);
    writer
}

/// As one list.
fn replace(events: &[Event<Pod>]) -> f64 {
    let initial = events.iter().filter_map(|event| match event {
        Event::Apply(pod) => Some(Event::InitApply(pod.clone())),
        _ => None,
    });
    let initial: Vec<_> = initial.collect();
    let mut writer = Writer::default();
    let start = cpu();
    writer.apply_watcher_event(&Event::Init);
    for event in &initial {
        writer.apply_watcher_event(event);
    }
    writer.apply_watcher_event(&Event::InitDone);
    each(start, events.len())
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let all = objects(options)?;
    let count = all.names.len();
    print("replace", || replace(&all.first));
    print("add", || put(&mut Writer::default(), &all.first));
    print("update", || put(&mut filled(&all.first), &all.second));
    let writer = filled(&all.first);
    let store = writer.as_reader();
    print("get", || {
        let start = cpu();
        for number in 0..GETS {
            assert!(black_box(store.get(&all.names[number * STRIDE % count])).is_some());
        }
        each(start, GETS)
    });
    print("get and read", || {
        let (start, mut read) = (cpu(), 0);
        for number in 0..GETS {
            let found = store.get(&all.names[number * STRIDE % count]);
            let version = found
                .as_ref()
                .and_then(|it| it.metadata.resource_version.as_ref());
            read += version.map_or(0, String::len);
        }
        assert!(black_box(read) > 0);
        each(start, GETS)
    });
    print("by-index", || scan(&store, &all));
    let selector: Selector = Selector::from_iter([kube::core::Expression::Equal(
        "app.kubernetes.io/name".to_owned(),
        options.app.clone(),
    )]);
    print("select", || select(&store, &selector));
    drop(writer);
    readers_beside_writer(&all, Duration::from_secs_f64(options.seconds));
    Ok(())
}

fn print(case: &str, measure: impl FnMut() -> f64) {
    let nanoseconds = median(ROUNDS, measure);
    println!("{}", json!({"case": case, "nanoseconds": nanoseconds}));
}

fn scan(store: &Store<Pod>, all: &Objects) -> f64 {
    let start = cpu();
    for wanted in all.nodes.iter().take(SCANS) {
        let pods = store.state_filter(|pod| node(pod) == Some(wanted.as_str()));
        assert!(!pods.is_empty());
    }
    each(start, SCANS.min(all.nodes.len()))
}

fn select(store: &Store<Pod>, selector: &Selector) -> f64 {
    let start = cpu();
    for _ in 0..SCANS {
        let pods = store.state_filter_selector(selector);
        assert!(!pods.is_empty());
    }
    each(start, SCANS)
}

fn readers_beside_writer(all: &Objects, limit: Duration) {
    let mut writer = filled(&all.first);
    let store = writer.as_reader();
    let stop = AtomicBool::new(false);
    let count = all.names.len();
    let (reads, writes, seconds) = thread::scope(|scope| {
        let read = |reader: usize| {
            let (store, stop) = (store.clone(), &stop);
            move || {
                let mut reads = 0;
                while !stop.load(Ordering::Relaxed) {
                    let name = &all.names[(reader * count / READERS + reads) % count];
                    black_box(store.get(name));
                    reads += 1;
                }
                reads
            }
        };
        let readers: Vec<_> = (0..READERS).map(|it| scope.spawn(read(it))).collect();
        let (start, mut writes) = (Instant::now(), 0);
        while start.elapsed() < limit {
            let events = if writes / count % 2 == 0 {
                &all.second
            } else {
                &all.first
            };
            writer.apply_watcher_event(&events[writes % count]);
            writes += 1;
        }
        stop.store(true, Ordering::Relaxed);
        let joined = readers.into_iter().map(|it| it.join().unwrap_or_default());
        (joined.sum::<usize>(), writes, start.elapsed().as_secs_f64())
    });
    println!(
        "{}",
        json!({
            "case": "readers",
            "reads_per_second": reads as f64 / seconds,
            "writes_per_second": writes as f64 / seconds,
        })
    );
}
