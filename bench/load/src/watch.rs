//! Watchers: many follow one object, and each update says when it was sent.
//!
//! Updates come at a rate, or as fast as they are written; then the server is behind for as long
//! as it takes, and must not cut off anybody who reads.

use crate::Failure;
use crate::lags::Lags;
use crate::server::{NAMESPACE, Server, config_map, config_maps};
use clap::Args;
use futures::future::try_join_all;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::Method;
use kubist_transport::ResponseBody;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, timeout};

/// Watches that are opened at a time.
const OPENING: usize = 64;

/// How long a watcher waits for the next event before the rest counts as lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// What stands before the time in an event.
const MARK: &str = "sent-at-";

#[derive(Args)]
pub struct Options {
    #[arg(long)]
    watchers: usize,
    /// Updates a second; 0 for as fast as they are written
    #[arg(long)]
    rate: f64,
    #[arg(long)]
    events: usize,
    /// A connection for each watcher, in place of up to 90 watchers on one
    #[arg(long)]
    apart: bool,
}

/// Updates under way at a time when they come as fast as they are written.
const WRITERS: usize = 16;

pub async fn run(server: &Server, options: &Options) -> Result<(), Failure> {
    server.make_namespace().await?;
    let case = name(options);
    let name = case.replace([' ', ','], "-");
    server
        .send(Method::POST, &config_maps(), &config_map(&name, "first"))
        .await?;
    let empty = server.rss();
    let opening = Arc::new(Semaphore::new(OPENING));
    let opened = (0..options.watchers).map(|_| open(server, &name, &opening, options.apart));
    let watches = try_join_all(opened).await?;
    let (start, cpu, events) = (Instant::now(), server.cpu(), options.events);
    let mut following = JoinSet::new();
    for watch in watches {
        following.spawn(follow(watch, start, events));
    }
    update(server, &name, start, options).await?;
    let written = start.elapsed().as_secs_f64();
    let mut lags = Lags::default();
    while let Some(of_one) = following.join_next().await {
        lags.extend(of_one??);
    }
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), server.cpu() - cpu);
    let mut line = json!({
        "case": case,
        "deliveries": lags.len(),
        "lost": (options.watchers * events).saturating_sub(lags.len()),
        "seconds": seconds,
        "writing_seconds": written,
        "cpu_seconds": cpu,
        "rss_kb": server.rss(),
        "rss_growth_kb": server.rss().saturating_sub(empty),
    });
    line["lag"] = lags.json();
    println!("{line}");
    Ok(())
}

fn name(options: &Options) -> String {
    let apart = if options.apart { ", apart" } else { "" };
    let flood = if options.rate > 0.0 { "" } else { ", flood" };
    format!("{} watchers{apart}{flood}", options.watchers)
}

/// Changes the object so many times.
async fn update(
    server: &Server,
    name: &str,
    start: Instant,
    options: &Options,
) -> Result<(), Failure> {
    let object = format!("{}/{name}", config_maps());
    // With its number, so that no two are the same: what changes nothing is no event.
    let one = async |number: usize| {
        let note = format!("{MARK}{};{number}", start.elapsed().as_micros());
        let body = config_map(name, &note);
        server.send(Method::PUT, &object, &body).await
    };
    if options.rate > 0.0 {
        let mut pace = interval(Duration::from_secs_f64(1.0 / options.rate));
        for number in 0..options.events {
            pace.tick().await;
            one(number).await?;
        }
        return Ok(());
    }
    stream::iter(0..options.events)
        .map(one)
        .buffer_unordered(WRITERS)
        .try_for_each(|()| async { Ok(()) })
        .await
}

async fn open(
    server: &Server,
    name: &str,
    opening: &Semaphore,
    apart: bool,
) -> Result<ResponseBody, Failure> {
    let _permit = opening.acquire().await?;
    let own = if apart { Some(server.apart()?) } else { None };
    let server = own.as_ref().unwrap_or(server);
    let path = format!(
        "{}?watch=1&fieldSelector=metadata.name={name}",
        config_maps()
    );
    let mut body = server.get(&path, "application/json").await?.into_body();
    // The object as it is now: from here on the watch is under way.
    body.chunk().await?.ok_or("the watch ended at once")?;
    Ok(body)
}

/// The lag of each event. Events are found by what they say; a part of one that a chunk ends with
/// is kept for the next.
async fn follow(mut watch: ResponseBody, start: Instant, events: usize) -> Result<Lags, Failure> {
    let (mut lags, mut rest) = (Lags::default(), Vec::new());
    while lags.len() < events {
        let Ok(chunk) = timeout(PATIENCE, watch.chunk()).await else {
            break;
        };
        let Some(chunk) = chunk? else { break };
        let now = start.elapsed();
        rest.extend_from_slice(&chunk);
        let Some(end) = rest.iter().rposition(|&byte| byte == b'\n') else {
            continue;
        };
        for line in rest[..end].split(|&byte| byte == b'\n') {
            let sent = sent_at(line).ok_or_else(|| format!("an event of {NAMESPACE}: no time"))?;
            lags.push(now.saturating_sub(Duration::from_micros(sent)));
        }
        rest.drain(..=end);
    }
    Ok(lags)
}

fn sent_at(event: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(event).ok()?;
    let (_, after) = text.split_once(MARK)?;
    after.split_once(';')?.0.parse().ok()
}
