//! Kubist's shared informer of all Pods, measured: until synced, until a marker appears, and until
//! another marker is found by a new list.
//!
//! Two indexes (namespace and node) and one handler, as a controller has them. Prints a line of
//! JSON after each phase. Its allocator counts, which costs it some time and nobody else.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Parser, ValueEnum};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Encoding, Ingest};
use kubist_cache::{Change, Encoded, FieldLookup, Index, Source as _};
use kubist_client::{Client, Config};
use kubist_informers::{InformerConfig, Problem, Registration, SharedInformer};
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_transport::Transport;
use meter::Usage;
use peak_alloc::PeakAlloc;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    kubeconfig: PathBuf,
    #[arg(long)]
    form: Form,
    /// Name of the Pod that ends the updates
    #[arg(long)]
    marker: String,
    /// Name of the Pod that only a new list shows
    #[arg(long)]
    relist_marker: String,
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

/// A handler's two marks, and how often it was called.
#[derive(Default)]
struct Marks {
    calls: AtomicU64,
    updated: Notify,
    relisted: Notify,
}

async fn follow<F: Ingest<Kind = Pod> + FieldLookup>(
    client: &Client,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let before = Usage::now();
    let heap_before = HEAP.current_usage();
    let problem = |problem: &Problem| eprintln!("{problem:?}");
    let config = InformerConfig {
        on_problem: Some(Arc::new(problem)),
        ..Default::default()
    };
    let informer = SharedInformer::<F>::new(client.lister_watcher(&Default::default()), config);
    informer.add_index(Index::namespace());
    informer.add_index(Index::field("spec.nodeName"));
    let marks = Arc::new(Marks::default());
    let handler = add_handler(&informer, arguments, &marks);
    let token = CancellationToken::new();
    let run = informer.run(token.clone());
    let measure = async {
        informer.synced().await?;
        handler.synced().await;
        print_sync(&informer, before, heap_before);
        measure_updates(&informer, &marks).await?;
        token.cancel();
        Ok::<(), Failure>(())
    };
    let (ran, measured) = tokio::join!(run, measure);
    ran?;
    measured
}

fn add_handler<F: Ingest<Kind = Pod>>(
    informer: &SharedInformer<F>,
    arguments: &Arguments,
    marks: &Arc<Marks>,
) -> Registration<F> {
    let marks = Arc::clone(marks);
    let (marker, relist) = (arguments.marker.clone(), arguments.relist_marker.clone());
    informer.add_handler(move |change: Change<F>| {
        marks.calls.fetch_add(1, Ordering::Relaxed);
        if let Change::Added { object, .. } = change {
            if object.name() == marker {
                marks.updated.notify_one();
            } else if object.name() == relist {
                marks.relisted.notify_one();
            }
        }
    })
}

fn print_sync<F: Ingest<Kind = Pod>>(
    informer: &SharedInformer<F>,
    before: Usage,
    heap_before: usize,
) {
    let (heap, heap_peak) = (HEAP.current_usage(), HEAP.peak_usage());
    let stats = informer.stats();
    let mut line = meter::phase("sync", stats.objects, before, Usage::now());
    line["heap_bytes"] = (heap - heap_before).into();
    line["heap_peak_bytes"] = (heap_peak - heap_before).into();
    line["full_decodes"] = stats.full_decodes.into();
    println!("{line}");
}

async fn measure_updates<F: Ingest<Kind = Pod>>(
    informer: &SharedInformer<F>,
    marks: &Marks,
) -> Result<(), Failure> {
    let (before, lists) = (Usage::now(), informer.stats().reflector.lists);
    marks.updated.notified().await;
    let stats = informer.stats();
    let mut line = meter::phase("updates", stats.objects, before, Usage::now());
    line["lists"] = (stats.reflector.lists - lists).into();
    settle().await;
    meter::reset_peak()?;
    HEAP.reset_peak_usage();
    let (heap, lists) = (HEAP.current_usage(), informer.stats().reflector.lists);
    let before = Usage::now();
    println!("{line}");
    marks.relisted.notified().await;
    settle().await;
    let stats = informer.stats();
    let mut line = meter::phase("relist", stats.objects, before, Usage::now());
    line["lists"] = (stats.reflector.lists - lists).into();
    line["unchanged"] = stats.reflector.unchanged.into();
    line["heap_before_bytes"] = heap.into();
    line["heap_bytes"] = HEAP.current_usage().into();
    line["heap_peak_bytes"] = HEAP.peak_usage().into();
    println!("{line}");
    let calls = marks.calls.load(Ordering::Relaxed);
    eprintln!("{stats:?}, {calls} changes handled");
    Ok(())
}

async fn settle() {
    loop {
        let before = Usage::now();
        tokio::time::sleep(meter::SETTLE_STEP).await;
        if meter::rests(before) {
            return;
        }
    }
}
