//! Kubist's shared informer of all Pods, measured: until synced, then until a marker appears.
//!
//! Two indexes (namespace and node) and one handler, as a controller has them. Prints a line of
//! JSON after each phase.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Parser, ValueEnum};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Encoding, Ingest};
use kubist_cache::{Change, Encoded, FieldLookup, Index, Source as _};
use kubist_client::{Client, Config};
use kubist_informers::{InformerConfig, Problem, SharedInformer};
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_transport::Transport;
use meter::Usage;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    kubeconfig: PathBuf,
    #[arg(long)]
    form: Form,
    /// Name of the Pod that ends the updates
    #[arg(long)]
    marker: String,
}

/// What the cache holds, and what comes over the wire.
#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Encoded,
    Decoded,
    EncodedJson,
    DecodedJson,
}

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let encoding = match arguments.form {
        Form::Encoded | Form::Decoded => Encoding::Protobuf,
        Form::EncodedJson | Form::DecodedJson => Encoding::Json,
    };
    let options = Options {
        file: Some(arguments.kubeconfig.clone()),
        ..Options::default()
    };
    let config = infer(&options, &Environment::current())?;
    let transport = Transport::new(config.transport)?;
    let client = Client::new(
        transport,
        Config {
            encoding,
            ..Config::default()
        },
    );
    match arguments.form {
        Form::Encoded | Form::EncodedJson => follow::<Encoded<Pod>>(&client, &arguments).await,
        Form::Decoded | Form::DecodedJson => follow::<Pod>(&client, &arguments).await,
    }
}

async fn follow<F: Ingest<Kind = Pod> + FieldLookup>(
    client: &Client,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let before = Usage::now();
    let problem = |problem: &Problem| eprintln!("{problem:?}");
    let config = InformerConfig {
        on_problem: Some(Arc::new(problem)),
        ..Default::default()
    };
    let informer = SharedInformer::<F>::new(client.lister_watcher(&Default::default()), config);
    informer.add_index(Index::namespace());
    informer.add_index(Index::field("spec.nodeName"));
    let changes = Arc::new(AtomicU64::new(0));
    let marked = Arc::new(Notify::new());
    let (counted, found) = (Arc::clone(&changes), Arc::clone(&marked));
    let marker = arguments.marker.clone();
    let handler = informer.add_handler(move |change: Change<F>| {
        counted.fetch_add(1, Ordering::Relaxed);
        if let Change::Added { object, .. } = change
            && object.name() == marker
        {
            found.notify_one();
        }
    });
    let token = CancellationToken::new();
    let run = informer.run(token.clone());
    let measure = async {
        let lister = informer.synced().await?;
        handler.synced().await;
        let synced = Usage::now();
        println!("{}", meter::phase("sync", lister.len(), before, synced));
        marked.notified().await;
        let updated = Usage::now();
        println!("{}", meter::phase("updates", lister.len(), synced, updated));
        eprintln!(
            "{:?}, {} changes handled",
            informer.stats(),
            changes.load(Ordering::Relaxed)
        );
        token.cancel();
        Ok::<(), Failure>(())
    };
    let (ran, measured) = tokio::join!(run, measure);
    ran?;
    measured
}
