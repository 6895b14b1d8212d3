//! kube's client, watcher and reflector on a recorded watch: the cost of the initial state, and of
//! an event from the bytes of the body to the handler. The store has no indexes; the handler reads
//! the stream.

use crate::Failure;
use clap::Args;
use futures::StreamExt as _;
use http::Request;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::client::Body;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, reflector, watcher as watch};
use kube::{Api, Client, Resource};
use meter::Usage;
use pods::Workload;
use replay::Replay;
use serde::de::DeserializeOwned;
use std::convert::Infallible;
use std::fmt::Debug;
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
    runtime.block_on(async {
        match options.replay.workload {
            Workload::Pods => measure::<Pod>(options).await,
            Workload::ConfigMaps => measure::<ConfigMap>(options).await,
            Workload::Definitions => measure::<CustomResourceDefinition>(options).await,
        }
    })
}

async fn measure<K>(options: &Options) -> Result<(), Failure>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Clone + Debug + Send + Sync + 'static,
{
    let replay = Replay::read(&options.replay)?;
    let server = replay.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = server.answer(&request);
        async move { Ok::<_, Infallible>(answer) }
    });
    let started = Usage::now();
    let objects: Api<K> = Api::all(Client::new(service, "default"));
    let (reader, writer) = reflector::store::<K>();
    let config = watcher::Config::default().streaming_lists();
    let mut events = pin!(reflector(writer, watch(objects, config).default_backoff()));
    let (mut before, mut heard) = (Usage::now(), 0_u64);
    while let Some(event) = events.next().await {
        match event? {
            Event::InitDone => {
                let line = meter::phase("sync", reader.len(), started, Usage::now());
                println!("{line}");
                settle().await;
                before = Usage::now();
                replay.open();
            }
            Event::Apply(it) if it.meta().name.as_deref() == Some(pods::MARKER) => break,
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
