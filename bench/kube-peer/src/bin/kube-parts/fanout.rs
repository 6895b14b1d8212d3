//! A shared reflector with several subscribers, on events from within the process. A slow
//! subscriber delays the reflector; none misses an event.

use crate::Failure;
use clap::Args;
use futures::{StreamExt as _, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::store::Writer;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, reflector::ReflectHandle};
use meter::Usage;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;

/// Objects in the events.
const FOLLOWED: usize = 1000;
/// The most objects that wait for the slowest subscriber.
const WAITING: usize = 256;

#[derive(Args)]
pub struct Options {
    #[arg(long, default_value_t = 1)]
    handlers: usize,
    #[arg(long, default_value_t = 100_000)]
    events: usize,
}

fn pod(number: usize) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.namespace = Some("default".to_owned());
    pod.metadata.name = Some(format!("pod-{:04}", number % FOLLOWED));
    pod.metadata.resource_version = Some((number + 1).to_string());
    pod
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(options))
}

async fn measure(options: &Options) -> Result<(), Failure> {
    let mut writer = Writer::<Pod>::new_shared(WAITING, ());
    writer.apply_watcher_event(&Event::Init);
    (0..FOLLOWED).for_each(|it| writer.apply_watcher_event(&Event::InitApply(pod(it))));
    writer.apply_watcher_event(&Event::InitDone);
    let calls = Arc::new(AtomicUsize::new(0));
    let last = (FOLLOWED + options.events).to_string();
    let mut subscribers = JoinSet::new();
    for _ in 0..options.handlers {
        let handle = writer
            .subscribe()
            .ok_or("a shared writer has subscribers")?;
        subscribers.spawn(listen(handle, last.clone(), Arc::clone(&calls)));
    }
    let event = |number| Ok::<_, watcher::Error>(Event::Apply(pod(FOLLOWED + number)));
    let events: Vec<_> = (0..options.events).map(event).collect();
    let before = Usage::now();
    let events = stream::iter(events).reflect_shared(writer);
    tokio::spawn(events.for_each(|_| async {})).await?;
    while subscribers.join_next().await.is_some() {}
    let delivered = calls.load(Ordering::Relaxed);
    let line = meter::delivery(options.handlers, options.events, delivered, before);
    println!("{line}");
    Ok(())
}

async fn listen(mut handle: ReflectHandle<Pod>, last: String, calls: Arc<AtomicUsize>) {
    while let Some(pod) = handle.next().await {
        calls.fetch_add(1, Ordering::Relaxed);
        if pod.metadata.resource_version.as_ref() == Some(&last) {
            return;
        }
    }
}
