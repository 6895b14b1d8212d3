//! The scheduler of delayed requests, which is the public part of kube's work queue.

use crate::Failure;
use clap::Args;
use futures::{StreamExt as _, stream};
use kube::runtime::scheduler::{ScheduleRequest, scheduler};
use meter::Usage;
use serde_json::json;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Args)]
pub struct Options {
    /// Items with a delay
    #[arg(long, default_value_t = 100_000)]
    delayed: usize,
}

/// Items that are due at different times within a second, received as they become due.
pub fn run(options: &Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let names: Vec<Arc<str>> = (0..options.delayed)
            .map(|it| Arc::from(format!("group-{:02}/pod-{it:07}", it % 50)))
            .collect();
        let before = Usage::now();
        let mut due = HashMap::with_capacity(names.len());
        let mut requests = Vec::with_capacity(names.len());
        for (number, name) in names.iter().enumerate() {
            let wait = Duration::from_micros(number as u64 * 7919 % 1_000_000);
            let run_at = Instant::now() + wait;
            due.insert(Arc::clone(name), run_at);
            let message = Arc::clone(name);
            requests.push(ScheduleRequest { message, run_at });
        }
        // The end of this stream would end the scheduler.
        let requests = stream::iter(requests).chain(stream::pending());
        let mut scheduled = pin!(scheduler(requests));
        let mut late = Duration::ZERO;
        for _ in &names {
            if let Some(name) = scheduled.next().await {
                late += due[&name].elapsed();
            }
        }
        let after = Usage::now();
        println!(
            "{}",
            json!({
                "case": "delayed",
                "wall_seconds": (after.at - before.at).as_secs_f64(),
                "cpu_seconds": after.cpu - before.cpu,
                "late_microseconds": late.as_secs_f64() * 1e6 / names.len() as f64,
            })
        );
    });
    Ok(())
}
