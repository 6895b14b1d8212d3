//! Measures kube's reflector of all Pods: until it is synced, until a marker appears, and until a
//! relist finds another marker.
//!
//! Its store has no indexes; its stream is read to the end, as a controller does. Prints a line of
//! JSON after each phase.

use clap::{Parser, ValueEnum};
use futures::{Stream, StreamExt as _};
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::Store;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, reflector, watcher as watch};
use kube::{Api, Client, Config, ResourceExt as _, config};
use meter::Usage;
use std::path::PathBuf;
use std::pin::pin;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    kubeconfig: PathBuf,
    #[arg(long)]
    list: List,
    /// Drop managed fields as objects arrive
    #[arg(long)]
    strip: bool,
    /// Name of the Pod that marks the end of the updates
    #[arg(long)]
    marker: String,
    /// Name of the Pod that only a relist finds
    #[arg(long)]
    relist_marker: String,
}

/// How it gets the initial state.
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
    let events = watch(pods, options).default_backoff();
    if arguments.strip {
        let events = events.modify(|pod| pod.managed_fields_mut().clear());
        return follow(pin!(reflector(writer, events)), &reader, &arguments, before).await;
    }
    follow(pin!(reflector(writer, events)), &reader, &arguments, before).await
}

async fn follow<E: std::error::Error>(
    mut events: impl Stream<Item = Result<Event<Pod>, E>> + Unpin,
    reader: &Store<Pod>,
    arguments: &Arguments,
    mut before: Usage,
) -> Result<(), Failure> {
    let (mut lists, mut marked) = (0, false);
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::InitDone) if lists == 0 => {
                lists = 1;
                println!(
                    "{}",
                    meter::phase("sync", reader.len(), before, Usage::now())
                );
                before = Usage::now();
            }
            Ok(Event::InitDone) => {
                lists += 1;
                if marked {
                    break;
                }
            }
            Ok(Event::Apply(pod)) if pod.name_any() == arguments.marker => {
                let mut line = meter::phase("updates", reader.len(), before, Usage::now());
                line["lists"] = (lists - 1).into();
                lists = 1;
                meter::reset_peak()?;
                before = Usage::now();
                println!("{line}");
            }
            Ok(Event::InitApply(pod)) => marked |= pod.name_any() == arguments.relist_marker,
            Ok(_) => {}
            Err(error) => eprintln!("{error}"),
        }
    }
    let mut line = meter::phase("relist", reader.len(), before, Usage::now());
    line["lists"] = (lists - 1).into();
    println!("{line}");
    Ok(())
}
