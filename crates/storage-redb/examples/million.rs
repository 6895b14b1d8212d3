//! Measures many small objects in an engine: `cargo run --release -p kubist-storage-redb --example
//! million`.
//!
//! It stores config maps of about 300 bytes in memory, or in a folder, with the allocator of the
//! command and a counter around it, and prints the bytes that each costs beyond its own, the time
//! to start from the folder, and the longest writes: first without anything beside them, then
//! while all history is compacted.

#![expect(clippy::print_stdout, reason = "its results")]
#![expect(
    clippy::disallowed_methods,
    reason = "it measures, and tokio's clock is too coarse"
)]

use bytes::Bytes;
use cap::Cap;
use clap::Parser;
use kubist_api::core::v1::ConfigMap;
use kubist_codec::envelope;
use kubist_storage::memory::{Config, MemoryKv, TokioClock};
use kubist_storage::{Expected, Kv, PutRequest};
use kubist_storage_redb::Store;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tikv_jemallocator::Jemalloc;
use tokio::task::JoinSet;

/// Counts what the command's allocator has handed out.
#[global_allocator]
static LIVE: Cap<Jemalloc> = Cap::new(Jemalloc, usize::MAX);

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Debug, Parser)]
struct Arguments {
    /// The number of objects
    #[arg(long, default_value_t = 1_000_000)]
    count: usize,
    /// The folder to keep them in; by default they are in memory
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Writers at the same time
    #[arg(long, default_value_t = 256)]
    writers: usize,
    /// The number of updates before all history is compacted
    #[arg(long, default_value_t = 50_000)]
    updates: usize,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let begun = Instant::now();
    let before = LIVE.allocated();
    let kv = open(&arguments)?;
    println!("opened in {:.2} s", begun.elapsed().as_secs_f64());
    let found = kv.stats().await?;
    if found < arguments.count {
        let begun = Instant::now();
        all(&kv, &arguments, found..arguments.count).await?;
        println!("filled in {:.1} s", begun.elapsed().as_secs_f64());
    }
    memory(&kv, &arguments, before).await?;
    let quiet = updates(&kv, &arguments, 0).await?;
    println!("updates: {quiet}");
    all(&kv, &arguments, 0..arguments.updates.min(arguments.count)).await?;
    memory(&kv, &arguments, before).await?;
    let revision = kv.0.revision().await?;
    let other = kv.clone();
    let compacting = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let begun = Instant::now();
        other.0.compact(revision).await.map(|()| begun.elapsed())
    });
    let busy = updates(&kv, &arguments, 7).await?;
    println!("updates while compacting: {busy}");
    println!("compacted in {:.1} ms", millis(compacting.await??));
    tokio::time::sleep(Duration::from_secs(12)).await;
    memory(&kv, &arguments, before).await
}

/// An engine.
#[derive(Clone)]
struct Engine(Arc<dyn Kv>);

impl Engine {
    async fn stats(&self) -> Result<usize, Failure> {
        let all = kubist_storage::KeyRange::all();
        let request = kubist_storage::RangeRequest::new(all).limit(0);
        Ok(self.0.range(request).await?.count)
    }
}

fn open(arguments: &Arguments) -> Result<Engine, Failure> {
    let (config, clock) = (Config::default(), Arc::new(TokioClock::start()));
    let Some(folder) = &arguments.data_dir else {
        let kv = MemoryKv::new(config, clock);
        let running = kv.clone();
        drop(tokio::spawn(async move { running.run().await }));
        return Ok(Engine(Arc::new(kv)));
    };
    let begun = Instant::now();
    let store = Store::open(folder)?;
    println!("verified in {:.2} s", begun.elapsed().as_secs_f64());
    let kv = store.into_kv(config, clock)?;
    let running = kv.clone();
    drop(tokio::spawn(async move { running.run().await }));
    Ok(Engine(Arc::new(kv)))
}

/// Writes the objects of these numbers, several at the same time.
async fn all(
    kv: &Engine,
    arguments: &Arguments,
    numbers: std::ops::Range<usize>,
) -> Result<(), Failure> {
    let mut writers = JoinSet::new();
    for writer in 0..arguments.writers {
        let (kv, numbers) = (kv.clone(), numbers.clone());
        let step = arguments.writers;
        writers.spawn(async move {
            for number in numbers.skip(writer).step_by(step) {
                put(&kv, number, writer).await?;
                tokio::task::yield_now().await;
            }
            Ok::<(), Failure>(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done??;
    }
    Ok(())
}

/// Updates objects one after another for a while. Returns how long that took.
async fn updates(kv: &Engine, arguments: &Arguments, round: usize) -> Result<String, Failure> {
    let begun = Instant::now();
    let mut times = Vec::new();
    let mut number = round;
    while begun.elapsed() < Duration::from_secs(4) {
        number = (number + 7919) % arguments.count;
        let before = Instant::now();
        put(kv, number, round + 1).await?;
        times.push(before.elapsed());
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    times.sort_unstable();
    let at = |per_mille: usize| {
        let time = times.get(times.len() * per_mille / 1000);
        time.copied().map_or(0.0, millis)
    };
    Ok(format!(
        "{} in 4 s; p50 {:.3}, p99 {:.3}, p99.9 {:.3}, longest {:.3} ms",
        times.len(),
        at(500),
        at(990),
        at(999),
        times.last().copied().map_or(0.0, millis)
    ))
}

async fn put(kv: &Engine, number: usize, round: usize) -> Result<(), Failure> {
    let namespace = format!("group-{:03}", number % 100);
    let name = format!("settings-{number:07}");
    let key = format!("/registry/configmaps/{namespace}/{name}");
    let mut object = ConfigMap::default();
    object.metadata.name = name.into();
    object.metadata.namespace = namespace.into();
    object.metadata.uid = format!("00000000-0000-4000-9000-{number:012x}").into();
    object
        .data
        .insert("round".into(), format!("{round:0120}").into());
    let value = Bytes::from(envelope::encode(&object));
    let put = PutRequest::new(key, value, Expected::Any);
    kv.0.put(put).await?;
    Ok(())
}

async fn memory(kv: &Engine, arguments: &Arguments, before: usize) -> Result<(), Failure> {
    let all = kubist_storage::KeyRange::all();
    let found = kv.0.range(kubist_storage::RangeRequest::new(all)).await?;
    let bytes: usize = found
        .kvs
        .iter()
        .map(|it| it.key.len() + it.value.len())
        .sum();
    drop(found);
    let live = LIVE.allocated().saturating_sub(before);
    let status = std::fs::read_to_string("/proc/self/status")?;
    let resident = status.lines().find(|it| it.starts_with("VmRSS:"));
    println!(
        "{} bytes stored for each object, {} live beyond them; {}",
        bytes / arguments.count,
        live.saturating_sub(bytes) / arguments.count,
        resident.unwrap_or_default()
    );
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
