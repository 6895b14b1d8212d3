//! Watchers: many follow one object, and each update holds the time when it was sent.
//!
//! Updates are sent at a rate or without a pause. Without a pause the server falls behind, and must
//! not cut off a watcher that reads.

use crate::Failure;
use crate::lags::Lags;
use crate::server::{NAMESPACE, Server, config_map, config_maps};
use clap::Args;
use futures::future::try_join_all;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::Method;
use kubist_transport::ResponseBody;
use serde_json::json;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, timeout};

/// Watches that are opened concurrently.
const OPENING: usize = 64;

/// How long a watcher waits for the next event before it counts the rest as lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// The text before the time in an event.
pub const MARK: &str = "sent-at-";

#[derive(Args)]
pub struct Options {
    #[arg(long)]
    watchers: usize,
    /// Updates a second; 0 for no pause
    #[arg(long)]
    rate: f64,
    #[arg(long)]
    events: usize,
    /// Give each watcher a connection, instead of up to 90 watchers sharing one
    #[arg(long)]
    apart: bool,
}

/// Concurrent updates when there is no pause.
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

/// Changes the object this many times.
async fn update(
    server: &Server,
    name: &str,
    start: Instant,
    options: &Options,
) -> Result<(), Failure> {
    let object = format!("{}/{name}", config_maps());
    // The number makes updates differ: an update without a change causes no event.
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
    // The initial object: from here on the watch is established.
    body.chunk().await?.ok_or("the watch ended at once")?;
    Ok(body)
}

/// Returns the lag of each event. Events are found by their text; a part at the end of a chunk is
/// kept for the next chunk.
async fn follow(mut watch: ResponseBody, start: Instant, events: usize) -> Result<Lags, Failure> {
    let (mut lags, mut rest) = (Lags::default(), Vec::new());
    while lags.len() < events {
        let Ok(chunk) = timeout(PATIENCE, watch.chunk()).await else {
            break;
        };
        let Some(chunk) = chunk? else { break };
        count(&mut lags, &mut rest, &chunk, start)?;
    }
    Ok(lags)
}

/// Returns the lag of each event that arrives until this future is ready.
pub async fn follow_until(
    mut watch: ResponseBody,
    start: Instant,
    until: impl Future<Output = ()>,
) -> Result<Lags, Failure> {
    let (mut lags, mut rest) = (Lags::default(), Vec::new());
    let mut until = pin!(until);
    loop {
        let chunk = tokio::select! {
            biased;
            chunk = watch.chunk() => chunk?.ok_or("a watch ended")?,
            () = &mut until => return Ok(lags),
        };
        count(&mut lags, &mut rest, &chunk, start)?;
    }
}

/// Adds the lags of the events that end in a chunk.
fn count(lags: &mut Lags, rest: &mut Vec<u8>, chunk: &[u8], start: Instant) -> Result<(), Failure> {
    let now = start.elapsed();
    rest.extend_from_slice(chunk);
    let Some(end) = rest.iter().rposition(|&byte| byte == b'\n') else {
        return Ok(());
    };
    for line in rest[..end].split(|&byte| byte == b'\n') {
        let sent = sent_at(line).ok_or_else(|| format!("an event of {NAMESPACE}: no time"))?;
        lags.push(now.saturating_sub(Duration::from_micros(sent)));
    }
    rest.drain(..=end);
    Ok(())
}

fn sent_at(event: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(event).ok()?;
    let (_, after) = text.split_once(MARK)?;
    after.split_once(';')?.0.parse().ok()
}
