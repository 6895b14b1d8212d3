//! One informer with several handlers, on events from within the process.

use crate::{Failure, runtime};
use clap::{Args, ValueEnum};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{Object as _, ObjectName, Str};
use kubist_cache::{
    FetchError, ListBatch, ListEnd, ListItem, ListRequest, ListStream, ListerWatcher,
    ResourceEvent, WatchItem, WatchRequest, WatchStream,
};
use kubist_informers::{Delivery, HandlerConfig, SharedInformer};
use meter::Usage;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Objects in the events.
const FOLLOWED: usize = 1000;

#[derive(Args)]
pub struct Options {
    #[arg(long, default_value_t = 1)]
    handlers: usize,
    #[arg(long, default_value_t = 100_000)]
    events: usize,
    #[arg(long)]
    delivery: Way,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    Coalesced,
    EveryEvent,
    /// No informer: a map of the standard library keeps the objects, and the handlers are called
    /// one after another. It is what delivery cannot cost less than.
    Alone,
}

/// A list of Pods and then, after a signal, one event after another, which exist already.
struct Script {
    names: Arc<Vec<Str>>,
    events: Mutex<Vec<WatchItem<Pod>>>,
    begin: Arc<Semaphore>,
}

fn pod(names: &[Str], number: usize) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.namespace = "default".into();
    pod.metadata.name = names[number % FOLLOWED].clone();
    pod.metadata.resource_version = (number + 1).to_string().into();
    pod
}

impl ListerWatcher<Pod> for Script {
    fn list(&self, _request: ListRequest) -> BoxFuture<'_, Result<ListStream<Pod>, FetchError>> {
        let items = (0..FOLLOWED).map(|it| ListItem::Object(pod(&self.names, it)));
        let end = ListEnd {
            resource_version: FOLLOWED.to_string().as_str().into(),
            ..ListEnd::default()
        };
        let batches = [ListBatch::Items(items.collect()), ListBatch::End(end)];
        let list = stream::iter(batches.map(Ok)).boxed();
        async { Ok(list) }.boxed()
    }

    fn watch(&self, _request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<Pod>, FetchError>> {
        let begin = Arc::clone(&self.begin);
        let begun = async move { begin.acquire().await.map(|it| it.forget()) };
        // A panic elsewhere leaves whole events behind.
        let events = std::mem::take(&mut *self.events.lock().unwrap_or_else(|it| it.into_inner()));
        let events = stream::iter(events.into_iter().map(|it| Ok(vec![it])));
        let events = begun.map(|_| events).flatten_stream();
        async { Ok(events.chain(stream::pending()).boxed()) }.boxed()
    }

    fn supports_streaming_list(&self) -> bool {
        false
    }
}

pub fn run(options: &Options) -> Result<(), Failure> {
    match options.delivery {
        Way::Coalesced => runtime()?.block_on(measure(options, Delivery::Coalesced)),
        Way::EveryEvent => {
            let pending_max = options.events + FOLLOWED;
            runtime()?.block_on(measure(options, Delivery::EveryEvent { pending_max }))
        }
        Way::Alone => alone(options),
    }
}

fn names() -> Vec<Str> {
    let names = (0..FOLLOWED).map(|it| Str::from(format!("pod-{it:04}")));
    names.collect()
}

/// What each handler does: counts, and looks whether the event is the last.
fn handler(
    options: &Options,
    calls: &Arc<AtomicUsize>,
    ended: &Arc<Semaphore>,
) -> impl Fn(ResourceEvent<Pod>) + Send + Sync + use<> {
    let (calls, ended) = (Arc::clone(calls), Arc::clone(ended));
    let last = (FOLLOWED + options.events).to_string();
    move |change| {
        calls.fetch_add(1, Ordering::Relaxed);
        if let ResourceEvent::Updated { new, .. } = change
            && new.metadata.resource_version == *last
        {
            ended.add_permits(1);
        }
    }
}

fn print(options: &Options, delivered: usize, before: Usage) {
    let line = meter::delivery(options.handlers, options.events, delivered, before);
    println!("{line}");
}

fn alone(options: &Options) -> Result<(), Failure> {
    let names = names();
    let object = |number| Arc::new(pod(&names, number));
    let mut objects: HashMap<ObjectName, Arc<Pod>> = (0..FOLLOWED)
        .map(|number| object(number))
        .map(|it| (it.object_name(), it))
        .collect();
    let events: Vec<Pod> = (0..options.events)
        .map(|number| pod(&names, FOLLOWED + number))
        .collect();
    let (calls, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let handlers: Vec<Box<dyn Fn(ResourceEvent<Pod>)>> = (0..options.handlers)
        .map(|_| Box::new(handler(options, &calls, &ended)) as Box<_>)
        .collect();
    let before = Usage::now();
    for pod in events {
        let new = Arc::new(pod);
        let known = objects
            .get_mut(&new.object_name())
            .ok_or("it is not known")?;
        let old = std::mem::replace(known, Arc::clone(&new));
        for handler in &handlers {
            let (old, new) = (Arc::clone(&old), Arc::clone(&new));
            handler(ResourceEvent::Updated { old, new });
        }
    }
    print(options, calls.load(Ordering::Relaxed), before);
    Ok(())
}

async fn measure(options: &Options, delivery: Delivery) -> Result<(), Failure> {
    let names = names();
    let begin = Arc::new(Semaphore::new(0));
    let event = |number| WatchItem::Modified(pod(&names, FOLLOWED + number));
    let script = Script {
        events: Mutex::new((0..options.events).map(event).collect()),
        names: Arc::new(names),
        begin: Arc::clone(&begin),
    };
    let informer = SharedInformer::<Pod>::new(Arc::new(script), Default::default());
    let (calls, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let mut handlers = Vec::new();
    for _ in 0..options.handlers {
        let config = HandlerConfig {
            delivery,
            ..HandlerConfig::default()
        };
        let handler = handler(options, &calls, &ended);
        handlers.push(informer.add_handler_with(handler, config));
    }
    let (token, running) = (CancellationToken::new(), informer.clone());
    let stop = token.clone();
    let run = tokio::spawn(async move { running.run(stop).await });
    for handler in &handlers {
        handler.synced().await;
    }
    let (earlier, before) = (calls.load(Ordering::Relaxed), Usage::now());
    begin.add_permits(1);
    let all = ended.acquire_many(u32::try_from(options.handlers)?).await?;
    all.forget();
    print(options, calls.load(Ordering::Relaxed) - earlier, before);
    token.cancel();
    run.await??;
    Ok(())
}
