//! Growth: the cost of a write, a read, a page and a byte as the number of objects grows tenfold.

use crate::Failure;
use crate::server::{Server, config_map, config_maps};
use clap::Args;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::Method;
use serde_json::json;
use tokio::time::Instant;

/// Concurrent requests.
const CONCURRENCY: usize = 32;

/// Reads of each kind, over which their CPU time is averaged.
const READS: usize = 2_000;

/// Objects in a page.
const PAGE: usize = 500;

/// The kernel counts CPU time in hundredths of a second; a measurement has to take many of them.
const CREATES: usize = 2_000;

#[derive(Args)]
pub struct Options {
    /// Numbers of objects at which costs are measured
    #[arg(long, value_delimiter = ',')]
    steps: Vec<usize>,
    /// No step starts that would end later than this, judged by the previous step
    #[arg(long, default_value_t = 600.0)]
    seconds_max: f64,
}

pub async fn run(server: &Server, options: &Options) -> Result<(), Failure> {
    server.make_namespace().await?;
    let (empty, mut count) = (server.rss(), 0);
    let start = Instant::now();
    for &step in &options.steps {
        let elapsed = start.elapsed().as_secs_f64();
        // Filling takes most of the time, and the same time for each object.
        if count > 0 && elapsed * step as f64 / count as f64 > options.seconds_max {
            eprintln!("no time for {step} objects: {count} took {elapsed:.0} s");
            break;
        }
        create(server, count..step.saturating_sub(CREATES).max(count)).await?;
        count = step.saturating_sub(CREATES).max(count);
        let (cpu, created) = (server.cpu(), step.saturating_sub(count));
        create(server, count..step).await?;
        count = count.max(step);
        let create_cpu = server.cpu() - cpu;
        let get = read(server, READS, |number| {
            format!("{}/{}", config_maps(), name(number * 7919 % step))
        });
        let get = get.await?;
        let page = read(server, READS / 10, |_| {
            format!("{}?limit={PAGE}", config_maps())
        });
        let page = page.await?;
        let line = json!({
            "case": "grow",
            "objects": step,
            "create_microseconds": create_cpu * 1e6 / created as f64,
            "get_microseconds": get * 1e6,
            "page_microseconds": page * 1e6,
            "bytes_per_object": server.rss().saturating_sub(empty) as f64 * 1024.0 / step as f64,
            "rss_kb": server.rss(),
        });
        println!("{line}");
    }
    Ok(())
}

fn name(number: usize) -> String {
    format!("grow-{number:07}")
}

async fn create(server: &Server, numbers: std::ops::Range<usize>) -> Result<(), Failure> {
    let (start, all) = (Instant::now(), numbers.len());
    let path = config_maps();
    let one = async |number: usize| {
        let object = config_map(&name(number), "small");
        server.send(Method::POST, &path, &object).await
    };
    stream::iter(numbers)
        .map(one)
        .buffer_unordered(CONCURRENCY)
        .try_for_each(async |()| Ok(()))
        .await?;
    eprintln!("{all} objects in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Returns the server's CPU seconds for one of this many sequential reads.
async fn read(
    server: &Server,
    count: usize,
    path: impl Fn(usize) -> String,
) -> Result<f64, Failure> {
    let cpu = server.cpu();
    for number in 0..count {
        let mut body = server
            .get(&path(number), "application/json")
            .await?
            .into_body();
        while body.chunk().await?.is_some() {}
    }
    Ok((server.cpu() - cpu) / count as f64)
}
