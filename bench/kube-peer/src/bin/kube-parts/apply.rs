//! kube's client, watcher and reflector on a recorded watch: the cost of an event from the bytes of
//! the body to the handler. The store has no indexes; the handler reads the stream.

use crate::Failure;
use clap::Args;
use futures::StreamExt as _;
use http::Request;
use k8s_openapi::api::core::v1::Pod;
use kube::client::Body;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, reflector, watcher as watch};
use kube::{Api, Client};
use meter::Usage;
use replay::Replay;
use std::convert::Infallible;
use std::pin::pin;

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    replay: replay::Options,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(options))
}

async fn measure(options: &Options) -> Result<(), Failure> {
    let replay = Replay::read(&options.replay)?;
    let server = replay.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = server.answer(&request);
        async move { Ok::<_, Infallible>(answer) }
    });
    let pods: Api<Pod> = Api::all(Client::new(service, "default"));
    let (reader, writer) = reflector::store::<Pod>();
    let config = watcher::Config::default().streaming_lists();
    let mut events = pin!(reflector(writer, watch(pods, config).default_backoff()));
    let (mut before, mut heard) = (Usage::now(), 0_u64);
    while let Some(event) = events.next().await {
        match event? {
            Event::InitDone => {
                settle().await;
                before = Usage::now();
                replay.open();
            }
            Event::Apply(pod) if pod.metadata.name.as_deref() == Some(pods::MARKER) => break,
            Event::Apply(_) | Event::Delete(_) => {
                heard += 1;
                replay.handled();
            }
            Event::Init | Event::InitApply(_) => {}
        }
    }
    let mut line = meter::phase("updates", reader.len(), before, Usage::now());
    line["heard"] = heard.into();
    line["requests"] = replay.requests().into();
    println!("{line}");
    Ok(())
}

/// Waits until the process is idle.
async fn settle() {
    loop {
        let before = Usage::now();
        tokio::time::sleep(meter::SETTLE_STEP).await;
        if meter::rests(before) {
            return;
        }
    }
}
