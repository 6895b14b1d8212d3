//! The client and shared informer on a recorded watch: the cost of an event from the bytes of the
//! body to the handler, with two indexes.

use crate::Failure;
use clap::Args;
use http::Request;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::Ingest;
use kubist_cache::{Encoded, FieldLookup, Index, ResourceEvent, Source as _};
use kubist_client::{Client, Config};
use kubist_informers::SharedInformer;
use kubist_peer::{Form, settle};
use kubist_transport::{Body, Transport};
use meter::Usage;
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
    #[command(flatten)]
    replay: replay::Options,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match options.form {
            Form::Encoded | Form::EncodedJson => follow::<Encoded<Pod>>(options).await,
            Form::Decoded | Form::DecodedJson => follow::<Pod>(options).await,
        }
    })
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

async fn follow<F: Ingest<Kind = Pod> + FieldLookup>(options: &Options) -> Result<(), Failure> {
    let replay = Replay::read(&options.replay)?;
    let client = client(options, &replay)?;
    let source = client.lister_watcher(&Default::default());
    let informer = SharedInformer::<F>::new(source, Default::default());
    informer.add_index(Index::namespace());
    informer.add_index(Index::field("spec.nodeName"));
    let (heard, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let handler = {
        let (replay, heard, ended) = (replay.clone(), Arc::clone(&heard), Arc::clone(&ended));
        informer.add_handler(move |change: ResourceEvent<F>| {
            heard.fetch_add(1, Ordering::Relaxed);
            if let ResourceEvent::Added { object, .. } = change
                && object.name() == pods::MARKER
            {
                ended.notify_one();
            }
            replay.handled();
        })
    };
    let token = CancellationToken::new();
    let run = informer.run(token.clone());
    let measure = async {
        informer.synced().await?;
        handler.synced().await;
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
