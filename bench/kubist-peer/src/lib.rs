//! Measures Kubist's shared informer of all Pods: until it is synced, until a marker appears, and
//! until a relist finds another marker.
//!
//! It has two indexes (namespace and node) and one handler, as controllers do. Prints a line of
//! JSON after each phase. With a counting allocator it stops after the first phase: counting takes
//! time, and only the count is of interest.

use clap::{Parser, ValueEnum};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{Encoding, Ingest};
use kubist_cache::{Encoded, FieldLookup, Index, ResourceEvent, Source as _, drop_managed_fields};
use kubist_client::{Client, Config};
use kubist_informers::{InformerConfig, Problem, Registration, SharedInformer, Transform};
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_transport::Transport;
use meter::Usage;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    kubeconfig: PathBuf,
    #[arg(long)]
    form: Form,
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

/// The form of cached objects and the wire format.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[expect(missing_docs, reason = "they say it")]
pub enum Form {
    Encoded,
    Decoded,
    EncodedJson,
    DecodedJson,
}

impl Form {
    /// The kind of requests.
    pub fn encoding(self) -> Encoding {
        match self {
            Self::Encoded | Self::Decoded => Encoding::Protobuf,
            Self::EncodedJson | Self::DecodedJson => Encoding::Json,
        }
    }
}

/// Any failure.
pub type Failure = Box<dyn std::error::Error>;

/// Returns the live bytes of an allocator.
pub type Heap = fn() -> usize;

/// Runs with the arguments of the program.
///
/// # Errors
/// The arguments or the server are wrong.
#[tokio::main(flavor = "current_thread")]
pub async fn run(heap: Option<Heap>) -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let options = Options {
        file: Some(arguments.kubeconfig.clone()),
        ..Options::default()
    };
    let config = infer(&options, &Environment::current())?;
    let transport = Transport::new(config.transport)?;
    let client = Client::new(
        transport,
        Config {
            encoding: arguments.form.encoding(),
            ..Config::default()
        },
    );
    match arguments.form {
        Form::Encoded | Form::EncodedJson => {
            follow::<Encoded<Pod>>(&client, &arguments, heap).await
        }
        Form::Decoded | Form::DecodedJson => follow::<Pod>(&client, &arguments, heap).await,
    }
}

/// The two marks of a handler, and its number of calls.
#[derive(Default)]
struct Marks {
    calls: AtomicU64,
    updated: Notify,
    relisted: Notify,
}

async fn follow<F: Ingest<Kind = Pod> + FieldLookup>(
    client: &Client,
    arguments: &Arguments,
    heap: Option<Heap>,
) -> Result<(), Failure> {
    let before = Usage::now();
    let heap = heap.map(|heap| (heap, heap()));
    let problem = |problem: &Problem| eprintln!("{problem:?}");
    let config = InformerConfig {
        on_problem: Some(Arc::new(problem)),
        transform: arguments
            .strip
            .then(|| Arc::new(drop_managed_fields::<F>) as Transform<F>),
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
        print_sync(&informer, before, heap);
        if heap.is_none() {
            measure_updates(&informer, &marks).await?;
        }
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
    informer.add_handler(move |change: ResourceEvent<F>| {
        marks.calls.fetch_add(1, Ordering::Relaxed);
        if let ResourceEvent::Added { object, .. } = change {
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
    heap: Option<(Heap, usize)>,
) {
    let stats = informer.stats();
    let mut line = meter::phase("sync", stats.objects, before, Usage::now());
    if let Some((heap, before)) = heap {
        line["heap_bytes"] = (heap() - before).into();
    }
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
    let lists = informer.stats().reflector.lists;
    let before = Usage::now();
    println!("{line}");
    marks.relisted.notified().await;
    settle().await;
    let stats = informer.stats();
    let mut line = meter::phase("relist", stats.objects, before, Usage::now());
    line["lists"] = (stats.reflector.lists - lists).into();
    line["unchanged"] = stats.reflector.unchanged.into();
    println!("{line}");
    let calls = marks.calls.load(Ordering::Relaxed);
    eprintln!("{stats:?}, {calls} changes handled");
    Ok(())
}

/// Waits until the process is idle.
pub async fn settle() {
    loop {
        let before = Usage::now();
        tokio::time::sleep(meter::SETTLE_STEP).await;
        if meter::rests(before) {
            return;
        }
    }
}
