//! Scale: the leases of many nodes renewed as fast as the machine can, with many Pods stored and
//! many kubelets watching theirs.
//!
//! Each node renews its lease as a kubelet does: a PUT with the version of its last answer. One
//! request in [`RENEWALS`] is instead a change of a Pod's status, with the time of its sending,
//! which one kubelet's watch delivers: its lag is that of the whole way, under this load.

use crate::Failure;
use crate::lags::Lags;
use crate::process::Process;
use crate::server::{NAMESPACE, Server};
use crate::watch::follow_until;
use bytes::Bytes;
use clap::Args;
use futures::future::try_join_all;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::Method;
use kubist_transport::ResponseBody;
use serde_json::{Value, json};
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Requests that are leases' renewals for one that changes a Pod.
const RENEWALS: usize = 20;
/// Concurrent requests while objects are created and watches opened.
const CONCURRENCY: usize = 64;
/// How long deliveries may be late when the last request was answered.
const PATIENCE: Duration = Duration::from_secs(20);
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

#[derive(Args)]
pub struct Options {
    #[arg(long)]
    nodes: usize,
    #[arg(long)]
    pods: usize,
    /// Kubelets that watch the Pods of their node
    #[arg(long)]
    watchers: usize,
    #[arg(long)]
    seconds: f64,
    /// Concurrent requests, each of which waits for its answer
    #[arg(long, default_value_t = 64)]
    clients: usize,
}

/// The nodes: the version of each lease, and whose turn it is.
struct Nodes {
    versions: Vec<AtomicU64>,
    next: AtomicUsize,
}

/// What clients have done.
#[derive(Default)]
struct Done {
    renewals: Lags,
    changes: usize,
}

impl AddAssign for Done {
    fn add_assign(&mut self, other: Self) {
        self.renewals.extend(other.renewals);
        self.changes += other.changes;
    }
}

pub async fn run(server: &Server, options: &Options) -> Result<(), Failure> {
    let begun = Instant::now();
    server.make_namespace().await?;
    let empty = server.rss();
    let nodes = create_leases(server, options.nodes).await?;
    let with_leases = server.rss();
    create_pods(server, options).await?;
    let filled = server.rss();
    let opening = Arc::new(Semaphore::new(CONCURRENCY));
    let opened = (0..options.watchers).map(|node| open(server, node, &opening));
    let watches = try_join_all(opened).await?;
    let watched = server.rss();
    let setup = begun.elapsed().as_secs_f64();
    eprintln!("set up in {setup:.0} s");

    let (start, own) = (Instant::now(), Process(std::process::id()));
    let (cpu, beside, own_cpu) = (server.cpu(), server.beside.cpu(), own.cpu());
    let (end, ended) = watch::channel(false);
    let mut following = JoinSet::new();
    for watch in watches {
        let mut ended = ended.clone();
        let until = async move {
            // The sender lives until all have ended.
            ended.wait_for(|it| *it).await.ok();
        };
        following.spawn(follow_until(watch, start, until));
    }
    let limit = Duration::from_secs_f64(options.seconds);
    let clients = (0..options.clients).map(|_| client(server, options, &nodes, start, limit));
    let mut done = Done::default();
    for of_one in try_join_all(clients).await? {
        done += of_one;
    }
    let seconds = start.elapsed().as_secs_f64();
    let (cpu, beside) = (server.cpu() - cpu, server.beside.cpu() - beside);
    let own_cpu = own.cpu() - own_cpu;
    tokio::time::sleep(Duration::from_millis(500)).await;
    end.send_replace(true);
    let (mut lags, late) = (Lags::default(), Instant::now() + PATIENCE);
    while let Ok(Some(of_one)) = tokio::time::timeout_at(late, following.join_next()).await {
        lags.extend(of_one??);
    }
    let requests = done.renewals.len() + done.changes;
    let mut line = json!({
        "case": "scale",
        "nodes": options.nodes,
        "pods": options.pods,
        "watchers": options.watchers,
        "setup_seconds": setup,
        "per_second": requests as f64 / seconds,
        "renewals_per_second": done.renewals.len() as f64 / seconds,
        "cpu_microseconds": cpu * 1e6 / requests as f64,
        "beside_microseconds": beside * 1e6 / requests as f64,
        "cores": cpu / seconds,
        "load_cores": own_cpu / seconds,
        "deliveries": lags.len(),
        "lost": done.changes.saturating_sub(lags.len()),
        "rss_kb": server.rss(),
        "lease_bytes": each(empty, with_leases, options.nodes),
        "pod_bytes": each(with_leases, filled, options.pods),
        "watcher_bytes": each(filled, watched, options.watchers),
    });
    line["latency"] = done.renewals.json();
    line["lag"] = lags.json();
    println!("{line}");
    Ok(())
}

/// Returns the bytes that each object added to the resident memory.
fn each(before_kb: u64, after_kb: u64, count: usize) -> f64 {
    after_kb.saturating_sub(before_kb) as f64 * 1024.0 / count.max(1) as f64
}

fn lease(node: usize, version: u64, renewed: u64) -> Value {
    let mut lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name(node), "namespace": "kube-node-lease"},
        "spec": {
            "holderIdentity": name(node),
            "leaseDurationSeconds": 40,
            "renewTime": format!("2026-01-01T{:02}:{:02}:{:02}.{:06}Z",
                renewed / 3_600_000_000 % 24, renewed / 60_000_000 % 60,
                renewed / 1_000_000 % 60, renewed % 1_000_000),
        },
    });
    if version > 0 {
        lease["metadata"]["resourceVersion"] = version.to_string().into();
    }
    lease
}

fn name(node: usize) -> String {
    format!("node-{node:06}")
}

async fn create_leases(server: &Server, count: usize) -> Result<Nodes, Failure> {
    let one = async |node: usize| {
        let body = Bytes::from(lease(node, 0, 0).to_string());
        let answer = server.exchange(Method::POST, LEASES, "application/json", body);
        version(&answer.await?).map(AtomicU64::new)
    };
    let versions = stream::iter(0..count).map(one).buffered(CONCURRENCY);
    Ok(Nodes {
        versions: versions.try_collect().await?,
        next: AtomicUsize::new(0),
    })
}

async fn create_pods(server: &Server, options: &Options) -> Result<(), Failure> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let one = async |number: usize| {
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": pod_name(number), "labels": {"app": format!("app-{}", number % 1000)}},
            "spec": {
                "nodeName": name(number % options.nodes.max(1)),
                "containers": [{"name": "main", "image": "registry.example/app:1"}],
            },
        });
        server.send(Method::POST, &path, &pod).await
    };
    let all = stream::iter(0..options.pods).map(one);
    let all = all.buffer_unordered(CONCURRENCY);
    all.try_for_each(async |()| Ok(())).await
}

fn pod_name(number: usize) -> String {
    format!("pod-{number:07}")
}

/// Opens the watch of a kubelet, from now on.
async fn open(server: &Server, node: usize, opening: &Semaphore) -> Result<ResponseBody, Failure> {
    let _permit = opening.acquire().await?;
    let selector = format!("fieldSelector=spec.nodeName={}", name(node));
    let list = format!("/api/v1/pods?{selector}&limit=1&resourceVersion=0");
    let from = version(&server.read(&list, "application/json").await?)?;
    let path = format!("/api/v1/pods?watch=1&{selector}&resourceVersion={from}");
    Ok(server.get(&path, "application/json").await?.into_body())
}

/// Returns the first resource version in a text.
fn version(body: &[u8]) -> Result<u64, Failure> {
    let text = std::str::from_utf8(body)?;
    let (_, after) = text
        .split_once("\"resourceVersion\":\"")
        .ok_or("an answer without a version")?;
    let (version, _) = after.split_once('"').ok_or("a version without an end")?;
    Ok(version.parse()?)
}

/// Sends requests one after another until the time is over.
async fn client(
    server: &Server,
    options: &Options,
    nodes: &Nodes,
    start: Instant,
    limit: Duration,
) -> Result<Done, Failure> {
    let mut done = Done::default();
    let watched_pods = options.watchers.min(options.pods).min(options.nodes).max(1);
    while start.elapsed() < limit {
        let turn = nodes.next.fetch_add(1, Ordering::Relaxed);
        if turn % RENEWALS == 0 && options.watchers > 0 {
            change(server, turn / RENEWALS % watched_pods, start).await?;
            done.changes += 1;
            continue;
        }
        // Two clients have one node only if all others were renewed in between.
        let node = turn % nodes.versions.len();
        let begun = Instant::now();
        let at = u64::try_from(start.elapsed().as_micros())?;
        let body = lease(node, nodes.versions[node].load(Ordering::Relaxed), at);
        let path = format!("{LEASES}/{}", name(node));
        let body = Bytes::from(body.to_string());
        let answer = server.exchange(Method::PUT, &path, "application/json", body);
        nodes.versions[node].store(version(&answer.await?)?, Ordering::Relaxed);
        done.renewals.push(begun.elapsed());
    }
    Ok(done)
}

/// Changes the status of a Pod, with the time of sending.
async fn change(server: &Server, number: usize, start: Instant) -> Result<(), Failure> {
    let path = format!(
        "/api/v1/namespaces/{NAMESPACE}/pods/{}/status",
        pod_name(number)
    );
    let message = format!("{}{};", crate::watch::MARK, start.elapsed().as_micros());
    let body = json!({"status": {"message": message}}).to_string();
    let kind = "application/merge-patch+json";
    server
        .send_as(Method::PATCH, &path, kind, Bytes::from(body))
        .await
}
