//! kube's reflector and controller, fed by Kubist's informer.

use crate::held::until;
use crate::{Both, Failure, expect};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::{WatchStreamExt as _, reflector};
use kubist_cache::Selection;
use kubist_client::Api;
use kubist_informers::{HandlerConfig, SharedInformer, SharedInformerFactory};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// Starts an informer over the config maps `0` and `1`.
async fn informer(
    both: &Both,
) -> Result<
    (
        SharedInformer<ConfigMap>,
        SharedInformerFactory<kubist_client::Client>,
        Api<ConfigMap>,
    ),
    Failure,
> {
    let maps: Api<ConfigMap> = Api::namespaced(both.ours.clone(), &*both.namespace);
    for name in ["0", "1"] {
        maps.create(&map(name, "first")?).await?;
    }
    let factory = SharedInformerFactory::new(both.ours.clone());
    let selection = Selection::all().in_namespace(&*both.namespace);
    let informer = factory.informer_of::<ConfigMap>(&selection);
    factory.start();
    Ok((informer, factory, maps))
}

fn map(name: &str, value: &str) -> Result<ConfigMap, Failure> {
    Ok(serde_json::from_value(serde_json::json!({
        "metadata": {"name": name}, "data": {"value": value},
    }))?)
}

pub async fn feed_reflector(both: &Both) -> Result<(), Failure> {
    let (informer, factory, maps) = informer(both).await?;
    let (reader, writer) = reflector::store::<ConfigMap>();
    let events = informer.kube_events(HandlerConfig::default());
    let mut fed = JoinSet::new();
    fed.spawn(events.reflect(writer).for_each(|_| std::future::ready(())));
    reader.wait_until_ready().await?;
    expect("in the first list", reader.len(), 2)?;
    maps.create(&map("2", "new")?).await?;
    maps.replace(&map("1", "changed")?).await?;
    maps.delete("0").await?;
    let held = || -> BTreeSet<(String, String)> {
        let both = |it: &Arc<ConfigMap>| {
            let value = it.data.as_ref()?.get("value")?.clone();
            Some((it.metadata.name.clone()?, value))
        };
        reader.state().iter().filter_map(both).collect()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let expected: BTreeSet<_> = [pair("1", "changed"), pair("2", "new")].into();
    until(|| held() == expected).await;

    // A second one that joins late sees the same.
    let (late, writer) = reflector::store::<ConfigMap>();
    let events = informer.kube_events(HandlerConfig::default());
    fed.spawn(events.reflect(writer).for_each(|_| std::future::ready(())));
    late.wait_until_ready().await?;
    expect("late", late.len(), 2)?;
    factory.shutdown().await;
    // The streams end with the informer.
    while let Some(ended) = fed.join_next().await {
        ended?;
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
#[error("never")]
struct Never;

pub async fn feed_controller(both: &Both) -> Result<(), Failure> {
    let (informer, factory, maps) = informer(both).await?;
    let (reader, writer) = reflector::store::<ConfigMap>();
    let trigger = informer
        .kube_events(HandlerConfig::default())
        .reflect(writer)
        .applied_objects();
    let reconciled = Arc::new(Mutex::new(BTreeSet::new()));
    let controller = Controller::for_stream(trigger, reader).run(
        |map: Arc<ConfigMap>, seen: Arc<Mutex<BTreeSet<String>>>| async move {
            let name = map.metadata.name.clone().unwrap_or_default();
            seen.lock().expect("nobody panics").insert(name);
            Ok::<_, Never>(Action::await_change())
        },
        |_, _, _| Action::requeue(Duration::from_secs(1)),
        Arc::clone(&reconciled),
    );
    let mut running = JoinSet::new();
    running.spawn(controller.for_each(|_| std::future::ready(())));
    let seen = || {
        reconciled
            .lock()
            .expect("nobody panics")
            .iter()
            .cloned()
            .collect::<Vec<_>>()
    };
    until(|| seen() == ["0", "1"]).await;
    maps.create(&map("2", "new")?).await?;
    until(|| seen() == ["0", "1", "2"]).await;
    running.abort_all();
    factory.shutdown().await;
    Ok(())
}
