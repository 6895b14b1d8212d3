//! Writes to a server: creates Pods, and updates them while peers watch. Also prints Pods for peers
//! that cannot generate them, and records the body of a watch.

mod record;

use clap::{Parser, Subcommand};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kubist_api::core::v1::{Namespace, Pod};
use kubist_apimachinery::wire::{DecodeContext, Wire as _};
use kubist_client::{Api, Client, Config, Patch};
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_transport::Transport;
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

/// Concurrent requests.
const CONCURRENCY: usize = 16;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    #[arg(long, global = true, default_value_t = 20_000)]
    objects: u64,
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
}

#[derive(Subcommand)]
enum Command {
    /// Create the namespaces and the Pods, with their status; the server writes the managed fields
    Fill,
    /// Remove the managed fields of the Pods
    Reset,
    /// Change Pods one after another, then create the marker
    Update {
        #[arg(long, default_value_t = 20_000)]
        updates: u64,
        /// Name of the Pod that marks the end of the updates
        #[arg(long)]
        marker: String,
    },
    /// Print the Pods as JSON, one on each line
    Print,
    /// Write the body of a watch of all Pods: the initial state, updates, the marker
    Record(record::Options),
}

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    if let Command::Print = arguments.command {
        return print(&arguments);
    }
    if let Command::Record(options) = &arguments.command {
        return record::run(options, arguments.seed, arguments.objects);
    }
    let options = Options {
        file: arguments.kubeconfig.clone(),
        ..Options::default()
    };
    let config = infer(&options, &Environment::current())?;
    let client = Client::new(Transport::new(config.transport)?, Config::default());
    let start = Instant::now();
    let writes = match &arguments.command {
        Command::Fill => fill(&client, &arguments).await?,
        Command::Reset => reset(&client, &arguments).await?,
        Command::Update { updates, marker } => {
            update(&client, &arguments, *updates, marker).await?
        }
        Command::Print | Command::Record(_) => 0,
    };
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", json!({"writes": writes, "seconds": seconds}));
    Ok(())
}

fn print(arguments: &Arguments) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for number in 0..arguments.objects {
        serde_json::to_writer(&mut out, &pods::pod(arguments.seed, number))?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

async fn fill(client: &Client, arguments: &Arguments) -> Result<u64, Failure> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for number in 0..pods::NAMESPACES {
        let mut namespace = Namespace::default();
        namespace.metadata.name = pods::namespace(number).into();
        match namespaces.create(&namespace).await {
            Err(error) if !error.is_already_exists() => return Err(error.into()),
            _ => {}
        }
    }
    stream::iter(0..arguments.objects)
        .map(|number| create(client, arguments.seed, number))
        .buffer_unordered(CONCURRENCY)
        .try_for_each(|()| async { Ok(()) })
        .await?;
    Ok(arguments.objects * 2)
}

/// Creates a Pod, then writes its status, which a server drops on creation.
async fn create(client: &Client, seed: u64, number: u64) -> Result<(), Failure> {
    let api: Api<Pod> = Api::namespaced(client.clone(), pods::namespace(number));
    let json = serde_json::to_vec(&pods::pod(seed, number))?;
    let mut pod = Pod::from_json(&json, &mut DecodeContext::new())?;
    pod.metadata.resource_version = Default::default();
    pod.metadata.uid = Default::default();
    pod.metadata.managed_fields = Default::default();
    let created = api.create(&pod).await?;
    pod.metadata = created.metadata;
    api.replace_status(&pod).await?;
    Ok(())
}

/// Replaces the managed fields of all Pods by an empty list, which ends their tracking.
async fn reset(client: &Client, arguments: &Arguments) -> Result<u64, Failure> {
    stream::iter(0..arguments.objects)
        .map(|number| async move {
            let pod = pods::pod(arguments.seed, number);
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            let api: Api<Pod> = Api::namespaced(client.clone(), pods::namespace(number));
            let patch = Patch::Merge(json!({"metadata": {"managedFields": [{}]}}));
            api.patch(name, &patch).await.map(drop)
        })
        .buffer_unordered(CONCURRENCY)
        .try_for_each(|()| async { Ok(()) })
        .await?;
    Ok(arguments.objects)
}

async fn update(
    client: &Client,
    arguments: &Arguments,
    updates: u64,
    marker: &str,
) -> Result<u64, Failure> {
    stream::iter(0..updates)
        .map(|update| touch(client, arguments, update, marker))
        .buffer_unordered(CONCURRENCY)
        .try_for_each(|()| async { Ok(()) })
        .await?;
    let json = json!({"metadata": {"name": marker},
        "spec": {"containers": [{"name": "none", "image": "registry.example.com/none:1"}]}});
    let marker = Pod::from_json(json.to_string().as_bytes(), &mut DecodeContext::new())?;
    Api::<Pod>::namespaced(client.clone(), "default")
        .create(&marker)
        .await?;
    Ok(updates)
}

/// Changes one annotation of a Pod.
async fn touch(
    client: &Client,
    arguments: &Arguments,
    update: u64,
    round: &str,
) -> Result<(), Failure> {
    let number = update % arguments.objects;
    let pod = pods::pod(arguments.seed, number);
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let api: Api<Pod> = Api::namespaced(client.clone(), pods::namespace(number));
    let patch = Patch::Merge(json!({"metadata": {"annotations": {
        "kubectl.kubernetes.io/restartedAt": format!("{round}-{update}"),
    }}}));
    api.patch(name, &patch).await?;
    Ok(())
}
