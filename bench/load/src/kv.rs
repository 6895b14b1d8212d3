//! etcd without an API server: the writes as compare-and-set puts of values of the same size, which
//! is what an API server sends to etcd.

use crate::Failure;
use crate::lags::Lags;
use crate::process::Process;
use bytes::Bytes;
use clap::Args;
use futures::future::try_join_all;
use kubist_storage::{Expected, KvRead as _, KvWrite as _, PutRequest, WriteOutcome};
use kubist_storage_etcd::{Config, EtcdKv};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Args)]
pub struct Options {
    /// The URL of etcd
    #[arg(long)]
    etcd: String,
    #[arg(long)]
    clients: usize,
    /// Duration of each kind of write
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Bytes of a value
    #[arg(long)]
    bytes: usize,
}

pub async fn run(process: Process, options: &Options) -> Result<(), Failure> {
    for case in ["create", "update"] {
        // Each client has a connection: a single HTTP/2 stream is not what is measured.
        let kvs = (0..options.clients).map(|_| EtcdKv::new(Config::new([&options.etcd])));
        let kvs = kvs.collect::<Result<Vec<_>, _>>()?;
        for kv in &kvs {
            kv.revision().await?;
        }
        let (start, cpu) = (Instant::now(), process.cpu());
        let clients = kvs.iter().enumerate();
        let clients = clients.map(|(client, kv)| write(kv, options, client, case));
        let mut lags = Lags::default();
        for of_one in try_join_all(clients).await? {
            lags.extend(of_one);
        }
        let (count, seconds) = (lags.len(), start.elapsed().as_secs_f64());
        let mut line = json!({
            "case": format!("{case}, {}", options.clients),
            "writes": count,
            "per_second": count as f64 / seconds,
            "cpu_microseconds": (process.cpu() - cpu) * 1e6 / count as f64,
            "bytes": options.bytes,
        });
        line["latency"] = lags.json();
        println!("{line}");
    }
    Ok(())
}

async fn write(kv: &EtcdKv, options: &Options, client: usize, case: &str) -> Result<Lags, Failure> {
    let (start, mut lags) = (Instant::now(), Lags::default());
    let limit = Duration::from_secs_f64(options.seconds);
    let own = format!("/registry/configmaps/load/put-{}-{client}", options.clients);
    let mut last = None;
    while start.elapsed() < limit {
        let count = lags.len();
        let (key, expected) = match last {
            _ if case == "create" => (format!("{own}-{count}"), Expected::Absent),
            Some(revision) => (format!("{own}-updated"), Expected::Revision(revision)),
            None => (format!("{own}-updated"), Expected::Absent),
        };
        let value = Bytes::from(vec![b'a' + (count % 26) as u8; options.bytes]);
        let begun = Instant::now();
        match kv.put(PutRequest::new(key, value, expected)).await? {
            WriteOutcome::Committed { revision } => last = Some(revision),
            WriteOutcome::Conflict { .. } => {
                return Err("another client writes the same keys".into());
            }
        }
        lags.push(begun.elapsed());
    }
    Ok(lags)
}
