//! The client and shared informer on a recorded watch: the cost of the initial state, and of an
//! event from the bytes of the body to the handler, with two indexes.

use crate::{Failure, alone};
use clap::{Args, ValueEnum};
use http::Request;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_api::core::v1::{ConfigMap, Pod};
use kubist_apimachinery::KubeObject;
use kubist_apimachinery::wire::{Ingest, ScalarField};
use kubist_cache::{Encoded, FieldLookup, Index, ResourceEvent, Source as _};
use kubist_client::{Client, Config};
use kubist_informers::SharedInformer;
use kubist_peer::{Form, settle};
use kubist_transport::{Body, Transport};
use meter::Usage;
use pods::Workload;
use replay::Replay;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[derive(Args)]
pub struct Options {
    #[arg(long)]
    form: Form,
    /// What the handler reads of an updated object
    #[arg(long, default_value = "nothing")]
    reads: Reads,
    /// Follow the watch without an informer
    #[arg(long)]
    alone: bool,
    #[command(flatten)]
    replay: replay::Options,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reads {
    Nothing,
    /// Three fields.
    Fields,
    /// All of it: an encoded object is decoded.
    All,
}

/// What the handler reads where it reads fields.
const FIELDS_OF_PODS: [&str; 3] = ["spec.nodeName", "status.phase", "status.podIP"];
const FIELDS: [&str; 3] = ["metadata.name", "metadata.uid", "metadata.resourceVersion"];

pub fn run(options: &Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match options.replay.workload {
            Workload::Pods => in_form::<Pod>(options).await,
            Workload::ConfigMaps => in_form::<ConfigMap>(options).await,
            Workload::Definitions => in_form::<CustomResourceDefinition>(options).await,
        }
    })
}

async fn in_form<K: KubeObject>(options: &Options) -> Result<(), Failure> {
    match options.form {
        Form::Encoded | Form::EncodedJson => {
            let decode = |it: &Encoded<K>| it.decode().is_ok();
            follow::<Encoded<K>>(options, decode).await
        }
        Form::Decoded | Form::DecodedJson => follow::<K>(options, |_| true).await,
    }
}

/// A client that reads the recording.
fn client(options: &Options, replay: &Replay) -> Result<Client, Failure> {
    let replay = replay.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = replay.answer(&request);
        async move { Ok::<_, Infallible>(answer) }
    });
    let server = kubist_transport::Config::new("http://in-process".parse()?);
    let config = Config {
        encoding: options.form.encoding(),
        ..Config::default()
    };
    Ok(Client::new(
        Transport::with_service(server, service)?,
        config,
    ))
}

/// Returns what the handler does with an updated object; false if it is not readable.
fn reader<F: FieldLookup>(
    options: &Options,
    decode: fn(&F) -> bool,
) -> Result<Box<dyn Fn(&F) -> bool + Send + Sync>, Failure> {
    let fields = match options.replay.workload {
        Workload::Pods => FIELDS_OF_PODS,
        Workload::ConfigMaps | Workload::Definitions => FIELDS,
    };
    let fields: Vec<ScalarField> = fields
        .into_iter()
        .map(|path| ScalarField::new(F::schema(), path))
        .collect::<Result<_, _>>()?;
    Ok(match options.reads {
        Reads::Nothing => Box::new(|_| true),
        Reads::Fields => Box::new(move |it| fields.iter().all(|path| !it.field(path).is_empty())),
        Reads::All => Box::new(decode),
    })
}

async fn follow<F: Ingest + FieldLookup>(
    options: &Options,
    decode: fn(&F) -> bool,
) -> Result<(), Failure> {
    let replay = Replay::read(&options.replay)?;
    let client = client(options, &replay)?;
    let read = reader(options, decode)?;
    if options.alone {
        return alone::follow(client, &replay, read).await;
    }
    let started = Usage::now();
    let source = client.lister_watcher(&Default::default());
    let informer = SharedInformer::<F>::new(source, Default::default());
    informer.add_index(Index::namespace());
    informer.add_index(match options.replay.workload {
        Workload::Pods => Index::field("spec.nodeName"),
        Workload::ConfigMaps | Workload::Definitions => Index::label(pods::LABEL),
    });
    let (heard, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let handler = {
        let (replay, heard, ended) = (replay.clone(), Arc::clone(&heard), Arc::clone(&ended));
        informer.add_handler(move |change: ResourceEvent<F>| {
            heard.fetch_add(1, Ordering::Relaxed);
            match &change {
                ResourceEvent::Added { object, .. } if object.name() == pods::MARKER => {
                    ended.notify_one();
                }
                ResourceEvent::Updated { new, .. } => assert!(read(new)),
                _ => {}
            }
            replay.handled();
        })
    };
    let token = CancellationToken::new();
    let run = informer.run(token.clone());
    let measure = async {
        informer.synced().await?;
        handler.synced().await;
        let objects = informer.stats().objects;
        println!("{}", meter::phase("sync", objects, started, Usage::now()));
        settle().await;
        let (earlier, before) = (heard.load(Ordering::Relaxed), Usage::now());
        replay.open();
        ended.notified().await;
        let mut line = meter::phase("updates", informer.stats().objects, before, Usage::now());
        line["heard"] = (heard.load(Ordering::Relaxed) - earlier - 1).into();
        line["requests"] = replay.requests().into();
        println!("{line}");
        token.cancel();
        Ok::<(), Failure>(())
    };
    let (ran, measured) = tokio::join!(run, measure);
    ran?;
    measured
}
