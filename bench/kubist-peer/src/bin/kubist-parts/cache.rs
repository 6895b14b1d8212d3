//! The indexer, with an index by namespace and one by node.

use crate::{Failure, limits};
use clap::{Args, ValueEnum};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, Interner, Wire as _};
use kubist_apimachinery::{ObjectName, Selector};
use kubist_cache::{
    Arcs, Delta, Encoded, FieldLookup, Index, IndexHandle, Indexer, Lister, Replacement,
};
use meter::{ROUNDS, cpu, each, median};
use serde_json::json;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Look-ups by name in a round.
pub(crate) const GETS: usize = 400_000;
/// Look-ups go from an object to the one this many places on, in every system: callers take names
/// from a queue, in no order that the processor could guess.
pub(crate) const STRIDE: usize = 7919;
/// How often each value is looked up in a round.
pub(crate) const LOOKUPS: usize = 20;
/// Selector queries in a round.
const SELECTS: usize = 10;
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
    /// The label selector
    #[arg(long)]
    selector: String,
    #[arg(long)]
    form: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Encoded,
    Decoded,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    match options.form {
        Form::Encoded => measure(&objects::<Encoded<Pod>>(options)?, options),
        Form::Decoded => measure(&objects::<Pod>(options)?, options),
    }
}

/// The objects, in two versions each, with the queries that find them.
pub(crate) struct Objects<F> {
    pub(crate) first: Vec<Arc<F>>,
    pub(crate) second: Vec<Arc<F>>,
    pub(crate) names: Vec<ObjectName>,
    nodes: Vec<String>,
}

fn objects<F: Ingest<Kind = Pod>>(options: &Options) -> Result<Objects<F>, Failure> {
    let mut cx = DecodeContext::new().with_interner(Interner::default());
    let mut all = Objects {
        first: Vec::new(),
        second: Vec::new(),
        names: Vec::new(),
        nodes: Vec::new(),
    };
    // As an informer does: the second versions arrive after the first.
    let (mut first, mut second) = (Arcs::new(), Arcs::new());
    for number in 0..options.objects {
        let json = serde_json::to_vec(&pods::pod(options.seed, number))?;
        let mut pod = Pod::from_json(&json, &mut cx)?;
        let mut held = |pod: &Pod, arcs: &mut Arcs<F>| -> Result<Arc<F>, Failure> {
            let bytes = pod.to_protobuf().into();
            Ok(arcs.share(F::ingest(bytes, Encoding::Protobuf, &mut cx)?))
        };
        all.first.push(held(&pod, &mut first)?);
        pod.metadata.resource_version = format!("{}1", pod.metadata.resource_version).into();
        all.second.push(held(&pod, &mut second)?);
        all.names.push(ObjectName::new(
            pod.metadata.namespace.clone(),
            pod.metadata.name.clone(),
        ));
        all.nodes.push(pod.spec.node_name.to_string());
    }
    all.nodes.sort();
    all.nodes.dedup();
    Ok(all)
}

fn indexer<F: FieldLookup>() -> (Indexer<F>, IndexHandle<F>) {
    let mut indexer = Indexer::new();
    indexer.add_index(Index::namespace());
    let by_node = indexer.add_index(Index::field("spec.nodeName"));
    (indexer, by_node)
}

fn filled<F: FieldLookup>(objects: &[Arc<F>]) -> (Indexer<F>, IndexHandle<F>) {
    let (mut indexer, by_node) = indexer();
    replace(&mut indexer, objects.to_vec());
    (indexer, by_node)
}

/// Hands the objects over, as a reflector does.
fn replace<F: FieldLookup>(indexer: &mut Indexer<F>, objects: Vec<Arc<F>>) {
    let replacement = Replacement {
        resource_version: "1".into(),
        objects,
        unreadable: Vec::new(),
    };
    indexer.apply(Delta::ReplacedAll(replacement), &mut Vec::new());
    indexer.publish();
}

/// Hands the objects over one after another, each visible before the next.
fn put<F: FieldLookup>(indexer: &mut Indexer<F>, objects: Vec<Arc<F>>) -> f64 {
    let (start, count) = (cpu(), objects.len());
    for object in objects {
        indexer.upsert(object);
        indexer.publish();
    }
    each(start, count)
}

/// References to hand over, for each round. They are counted long before that: counting brings
/// objects into the processor's caches, where client-go's are not.
pub(crate) fn handed<F>(objects: &[Arc<F>]) -> impl FnMut() -> Vec<Arc<F>> + use<F> {
    let mut rounds: Vec<_> = (0..ROUNDS).map(|_| objects.to_vec()).collect();
    move || rounds.pop().unwrap_or_default()
}

fn measure<F: Ingest<Kind = Pod> + FieldLookup>(
    all: &Objects<F>,
    options: &Options,
) -> Result<(), Failure> {
    let count = all.first.len();
    let (mut replacing, mut adding) = (handed(&all.first), handed(&all.first));
    let (mut updating, plain_writes) = (handed(&all.second), limits::plain_writes(all));
    print("replace", || {
        let ((mut indexer, _), objects) = (indexer(), replacing());
        let start = cpu();
        replace(&mut indexer, objects);
        each(start, count)
    });
    print("add", || put(&mut indexer().0, adding()));
    print("update", || put(&mut filled(&all.first).0, updating()));
    plain_writes();
    let (mut indexer, by_node) = filled(&all.first);
    let lister = indexer.lister();
    names(&lister, all);
    limits::print(all);
    print("by-index", || look_up(&lister, &by_node, all));
    print("by-index of 40", || look_up_groups(all, count));
    print("by-index of 40, a quarter", || {
        look_up_groups(all, count / 4)
    });
    let groups = all.nodes.iter().map(|it| lister.by_index(&by_node, it));
    limits::print_lists("known, by index", &groups.collect::<Vec<_>>());
    let selector: Selector = options.selector.parse()?;
    limits::print_lists("known, select", &[lister.select(&selector)]);
    print("select", || select(&lister, &selector));
    let key = options.selector.split('=').next().unwrap_or_default();
    indexer.add_index(Index::label(key));
    indexer.publish();
    print("select with an index", || select(&lister, &selector));
    let limit = Duration::from_secs_f64(options.seconds);
    readers(all, limit, "readers", |lister, name| {
        lister.get(name).is_some()
    });
    readers(all, limit, "readers in place", |lister, name| {
        lister
            .view(name, |object| std::ptr::from_ref(object).addr() != 0)
            .is_some()
    });
    limits::print_readers(all, limit);
    Ok(())
}

/// Look-ups by name.
fn names<F: FieldLookup>(lister: &Lister<F>, all: &Objects<F>) {
    let name = |number: usize| &all.names[number * STRIDE % all.names.len()];
    print("get", || {
        let start = cpu();
        for number in 0..GETS {
            assert!(black_box(lister.get(name(number))).is_some());
        }
        each(start, GETS)
    });
    print("find in place", || {
        let start = cpu();
        for number in 0..GETS {
            let found = lister.view(name(number), |it| black_box(it as *const F).is_null());
            assert_eq!(found, Some(false));
        }
        each(start, GETS)
    });
    print("get and read", || {
        let (start, mut read) = (cpu(), 0);
        for number in 0..GETS {
            let found = lister.get(name(number));
            read += found.map_or(0, |it| it.resource_version().len());
        }
        assert!(black_box(read) > 0);
        each(start, GETS)
    });
    print("read in place", || {
        let (start, mut read) = (cpu(), 0);
        for number in 0..GETS {
            read += lister
                .view(name(number), |it| it.resource_version().len())
                .unwrap_or(0);
        }
        assert!(black_box(read) > 0);
        each(start, GETS)
    });
}

pub(crate) fn print(case: &str, measure: impl FnMut() -> f64) {
    let nanoseconds = median(ROUNDS, measure);
    println!("{}", json!({"case": case, "nanoseconds": nanoseconds}));
}

fn look_up<F: FieldLookup>(lister: &Lister<F>, by_node: &IndexHandle<F>, all: &Objects<F>) -> f64 {
    let (start, mut found) = (cpu(), 0);
    for _ in 0..LOOKUPS {
        for node in &all.nodes {
            found += lister.by_index(by_node, node).len();
        }
    }
    assert_eq!(found, LOOKUPS * all.first.len(), "every Pod is on a node");
    each(start, LOOKUPS * all.nodes.len())
}

/// Objects under each value of the group index.
const GROUP: usize = 40;

/// Values that are looked up: their number does not depend on that of the objects, so that the
/// processor's caches hold the same share.
const VALUES: usize = 100;

/// Look-ups in an index whose groups have the same size for any number of objects.
fn look_up_groups<F: FieldLookup>(all: &Objects<F>, count: usize) -> f64 {
    // The last part of a name is the number of the object.
    let group = |object: &F| {
        let number = object.name().rsplit('-').next().unwrap_or_default();
        usize::from_str_radix(number, 16).unwrap_or_default() / GROUP
    };
    let mut indexer = Indexer::new();
    let by_group = indexer.add_index(Index::new("group", move |object, values| {
        values.push(&group(object).to_string());
    }));
    replace(&mut indexer, all.first[..count].to_vec());
    let lister = indexer.lister();
    let values: Vec<String> = (0..VALUES.min(count / GROUP))
        .map(|it| it.to_string())
        .collect();
    let start = cpu();
    for number in 0..LOOKUPS * all.nodes.len() {
        let found = lister.by_index(&by_group, &values[number * 7 % values.len()]);
        assert_eq!(found.len(), GROUP);
    }
    each(start, LOOKUPS * all.nodes.len())
}

fn select<F: FieldLookup>(lister: &Lister<F>, selector: &Selector) -> f64 {
    let start = cpu();
    for _ in 0..SELECTS {
        assert!(!lister.select(selector).is_empty());
    }
    each(start, SELECTS)
}

/// The indexer is written while readers look objects up, each with a lister of its own.
fn readers<F: FieldLookup>(
    all: &Objects<F>,
    limit: Duration,
    case: &str,
    look: impl Fn(&Lister<F>, &ObjectName) -> bool + Clone + Send,
) {
    let (mut indexer, _) = filled(&all.first);
    let lister = indexer.lister();
    let reader = || {
        let (lister, look) = (lister.clone(), look.clone());
        move |name: &ObjectName| look(&lister, name)
    };
    readers_beside_writer(case, all, limit, reader, |object| {
        indexer.upsert(object);
        indexer.publish();
    });
}

/// Runs readers, and a writer that is given one object after another.
pub(crate) fn readers_beside_writer<F: FieldLookup, L>(
    case: &str,
    all: &Objects<F>,
    limit: Duration,
    reader: impl Fn() -> L,
    mut write: impl FnMut(Arc<F>),
) where
    L: Fn(&ObjectName) -> bool + Send,
{
    let stop = AtomicBool::new(false);
    let count = all.names.len();
    let (reads, writes, seconds) = thread::scope(|scope| {
        let read = |number: usize| {
            let (look, stop) = (reader(), &stop);
            move || {
                let mut reads = 0;
                while !stop.load(Ordering::Relaxed) {
                    let name = &all.names[(number * count / READERS + reads) % count];
                    assert!(black_box(look(name)));
                    reads += 1;
                }
                reads
            }
        };
        let readers: Vec<_> = (0..READERS).map(|it| scope.spawn(read(it))).collect();
        let (start, mut writes) = (Instant::now(), 0);
        while start.elapsed() < limit {
            let objects = if writes / count % 2 == 0 {
                &all.second
            } else {
                &all.first
            };
            write(Arc::clone(&objects[writes % count]));
            writes += 1;
        }
        stop.store(true, Ordering::Relaxed);
        let joined = readers.into_iter().map(|it| it.join().unwrap_or_default());
        (joined.sum::<usize>(), writes, start.elapsed().as_secs_f64())
    });
    println!(
        "{}",
        json!({
            "case": case,
            "reads_per_second": reads as f64 / seconds,
            "writes_per_second": writes as f64 / seconds,
        })
    );
}
