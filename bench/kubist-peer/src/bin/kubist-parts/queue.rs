//! The work queue, with names as strings.

use crate::{Failure, queue_limits, runtime};
use clap::Args;
use kubist_apimachinery::Str;
use kubist_workqueue::WorkQueue;
use meter::{Usage, cpu, median};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Producing tasks and worker tasks.
const FEW: Crowd = (1, 4);
const MANY: Crowd = (8, 8);
const ROUNDS: usize = 3;
/// How many items a producer adds before it lets other tasks run, as one that reads a watch does
/// now and then; goroutines, which client-go's are, can be interrupted anywhere.
pub(crate) const BETWEEN_YIELDS: usize = 1024;

pub(crate) type Crowd = (usize, usize);

#[derive(Args)]
pub struct Options {
    /// Items that pass through
    #[arg(long, default_value_t = 1_000_000)]
    items: usize,
    /// Items with a delay
    #[arg(long, default_value_t = 100_000)]
    delayed: usize,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let items = options.items;
    let distinct: Vec<Str> = (0..items)
        .map(|it| Str::from(format!("group-{:02}/pod-{it:07}", it % 50)))
        .collect();
    let repeated: Arc<[Str]> = distinct[..(items / 20).max(1)].into();
    let distinct: Arc<[Str]> = distinct.into();
    print("one thread", || one_thread(&repeated, items))?;
    print("limit, one thread", || {
        Ok(queue_limits::one_thread(&repeated, items))
    })?;
    for (case, names, crowd) in [
        ("1 producer, 4 workers, all different", &distinct, FEW),
        ("1 producer, 4 workers, names repeat", &repeated, FEW),
        ("8 producers, 8 workers, all different", &distinct, MANY),
    ] {
        print(case, || produce(names, items, crowd))?;
        print(&format!("limit, {case}"), || {
            Ok(runtime()?.block_on(queue_limits::produce(names, items, crowd)))
        })?;
    }
    delays(&distinct[..options.delayed])
}

fn print(case: &str, mut measure: impl FnMut() -> Result<f64, Failure>) -> Result<(), Failure> {
    let mut failed = None;
    let rate = median(ROUNDS, || {
        measure().unwrap_or_else(|error| {
            failed = Some(error);
            f64::NAN
        })
    });
    println!("{}", json!({"case": case, "items_per_second": rate}));
    failed.map_or(Ok(()), Err)
}

fn on_one_thread<R>(future: impl Future<Output = R>) -> Result<R, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(future))
}

/// Adds, takes and finishes one item after another.
fn one_thread(names: &[Str], items: usize) -> Result<f64, Failure> {
    on_one_thread(async {
        let (queue, start) = (WorkQueue::default(), cpu());
        for number in 0..items {
            queue.add(names[number % names.len()].clone());
            if let Some(work) = queue.next().await {
                work.succeed();
            }
        }
        items as f64 / (cpu() - start)
    })
}

/// Adds items while workers take them, until all are finished.
fn produce(names: &Arc<[Str]>, items: usize, (producers, workers): Crowd) -> Result<f64, Failure> {
    Ok(runtime()?.block_on(async {
        let (queue, start) = (WorkQueue::<Str>::default(), Instant::now());
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..workers {
            let queue = queue.clone();
            tasks.spawn(async move {
                while let Some(work) = queue.next().await {
                    work.succeed();
                }
            });
        }
        let mut adding = tokio::task::JoinSet::new();
        for producer in 0..producers {
            let numbers = (0..items).skip(producer).step_by(producers);
            let (queue, names) = (queue.clone(), Arc::clone(names));
            adding.spawn(async move {
                for (at, number) in numbers.enumerate() {
                    queue.add(names[number % names.len()].clone());
                    if (at + 1) % BETWEEN_YIELDS == 0 {
                        tokio::task::yield_now().await;
                    }
                }
            });
        }
        while adding.join_next().await.is_some() {}
        queue.shut_down_with_drain().await;
        while tasks.join_next().await.is_some() {}
        items as f64 / start.elapsed().as_secs_f64()
    }))
}

/// How late items come that are due at different times within a second, and what that costs.
pub(crate) struct Lateness {
    begun: Usage,
    added: Option<Usage>,
    items: usize,
    late: Duration,
}

impl Lateness {
    fn begin() -> Self {
        Self {
            begun: Usage::now(),
            added: None,
            items: 0,
            late: Duration::ZERO,
        }
    }

    /// All items are in the queue.
    pub(crate) fn added(&mut self) {
        self.added = Some(Usage::now());
    }

    /// An item that is due then has come.
    pub(crate) fn late(&mut self, due: Instant) {
        self.items += 1;
        self.late += due.elapsed();
    }

    fn print(&self, case: &str) {
        let after = Usage::now();
        let added = self.added.unwrap_or(self.begun);
        println!(
            "{}",
            json!({
                "case": case,
                "add_seconds": (added.at - self.begun.at).as_secs_f64(),
                "wall_seconds": (after.at - self.begun.at).as_secs_f64(),
                "cpu_seconds": after.cpu - self.begun.cpu,
                "late_microseconds": self.late.as_secs_f64() * 1e6 / self.items as f64,
            })
        );
    }
}

/// Passes names on that wait for different times within a second; returns when they are due.
pub(crate) fn due_times(
    names: &[Str],
    mut add: impl FnMut(Str, Duration),
) -> HashMap<Str, Instant> {
    let mut due = HashMap::with_capacity(names.len());
    for (number, name) in names.iter().enumerate() {
        let wait = Duration::from_micros(number as u64 * 7919 % 1_000_000);
        due.insert(name.clone(), Instant::now() + wait);
        add(name.clone(), wait);
    }
    due
}

/// Takes delayed items as they become due.
fn delays(names: &[Str]) -> Result<(), Failure> {
    on_one_thread(async {
        let mut lateness = Lateness::begin();
        let queue = WorkQueue::default();
        let due = due_times(names, |name, wait| queue.add_after(name, wait));
        lateness.added();
        for _ in names {
            if let Some(work) = queue.next().await {
                lateness.late(due[work.item()]);
                work.succeed();
            }
        }
        lateness.print("delayed");
        let mut lateness = Lateness::begin();
        queue_limits::delays(names, &mut lateness).await;
        lateness.print("limit, delayed");
    })
}
