//! Watchers: many follow a few objects, and each update says when it was sent.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use futures::future::try_join_all;
use http::Method;
use kubist_transport::ResponseBody;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, timeout};

use crate::Failure;
use crate::lags::Lags;
use crate::server::{NAMESPACE, Server, config_map, config_maps};

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
    /// Updates a second
    #[arg(long)]
    rate: f64,
    #[arg(long)]
    events: usize,
}

pub async fn run(server: &Server, options: &Options) -> Result<(), Failure> {
    server.make_namespace().await?;
    let name = format!("beat-{}", options.watchers);
    let object = format!("{}/{name}", config_maps());
    server
        .send(Method::POST, &config_maps(), &config_map(&name, "first"))
        .await?;
    let opening = Arc::new(Semaphore::new(OPENING));
    let opened = (0..options.watchers).map(|_| open(server, &name, &opening));
    let watches = try_join_all(opened).await?;
    let (start, cpu, events) = (Instant::now(), server.cpu(), options.events);
    let mut following = JoinSet::new();
    for watch in watches {
        following.spawn(follow(watch, start, events));
    }
    let mut pace = interval(Duration::from_secs_f64(1.0 / options.rate));
    for _ in 0..events {
        pace.tick().await;
        let note = format!("{MARK}{};", start.elapsed().as_micros());
        server
            .send(Method::PUT, &object, &config_map(&name, &note))
            .await?;
    }
    let mut lags = Lags::default();
    while let Some(of_one) = following.join_next().await {
        lags.extend(of_one??);
    }
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), server.cpu() - cpu);
    let mut line = json!({
        "case": format!("{} watchers", options.watchers),
        "deliveries": lags.len(),
        "lost": (options.watchers * events).saturating_sub(lags.len()),
        "seconds": seconds,
        "cpu_seconds": cpu,
        "rss_kb": server.rss(),
    });
    line["lag"] = lags.json();
    println!("{line}");
    Ok(())
}

async fn open(server: &Server, name: &str, opening: &Semaphore) -> Result<ResponseBody, Failure> {
    let _permit = opening.acquire().await?;
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
