//! The kube crate's reflector of all Pods, measured: until synced, then until a marker appears.
//!
//! Its store has no indexes; its stream is read to the end, as a controller would. Prints a line
//! of JSON after each phase.

use std::path::PathBuf;
use std::pin::pin;

use clap::{Parser, ValueEnum};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, reflector, watcher as watch};
use kube::{Api, Client, Config, ResourceExt as _, config};
use meter::Usage;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    kubeconfig: PathBuf,
    #[arg(long)]
    list: List,
    /// Name of the Pod that ends the updates
    #[arg(long)]
    marker: String,
}

/// How it gets the first state.
#[derive(Clone, Copy, ValueEnum)]
enum List {
    Paged,
    Streaming,
}

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let kubeconfig = config::Kubeconfig::read_from(&arguments.kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &Default::default()).await?;
    let client = Client::try_from(config)?;
    let before = Usage::now();
    let options = match arguments.list {
        List::Paged => watcher::Config::default(),
        List::Streaming => watcher::Config::default().streaming_lists(),
    };
    let (reader, writer) = reflector::store::<Pod>();
    let pods: Api<Pod> = Api::all(client);
    let events = reflector(writer, watch(pods, options).default_backoff());
    let mut events = pin!(events);
    let mut synced = None;
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::InitDone) if synced.is_none() => {
                let usage = Usage::now();
                println!("{}", meter::phase("sync", reader.len(), before, usage));
                synced = Some(usage);
            }
            Ok(Event::Apply(pod)) if pod.name_any() == arguments.marker => {
                let start = synced.ok_or("the marker came before the first list was complete")?;
                println!(
                    "{}",
                    meter::phase("updates", reader.len(), start, Usage::now())
                );
                return Ok(());
            }
            Ok(_) => {}
            Err(error) => eprintln!("{error}"),
        }
    }
    Err("the stream of events ended".into())
}
