//! Types of k8s-openapi and derives of kube in Kubist's client, informers and caches.

use crate::{Both, Failure, expect};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::ObjectMeta;
use kube::{CustomResource, Resource};
use kubist_api::core::v1::ObjectReference;
use kubist_apimachinery::wire::{DecodeContext, Encode, Encoding, Ingest};
use kubist_apimachinery::{
    ApiResource, ListOptions, Object, ObjectName, Resource as _, ResourceFacts,
};
use kubist_cache::{Index, Metadata, Selection, drop_managed_fields};
use kubist_client::{Api, DeleteAnswer};
use kubist_controller::{Action, Controller, EventSource, Finalizer, Predicate};
use kubist_informers::{SharedInformer, SharedInformerFactory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// A ConfigMap with fewer fields.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Resource)]
#[resource(inherit = ConfigMap)]
struct Settings {
    metadata: ObjectMeta,
    #[serde(default)]
    data: BTreeMap<String, String>,
}

/// A custom resource that the server does not have; only its names and its JSON are tested.
#[derive(Clone, Debug, Serialize, Deserialize, CustomResource, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Fig", namespaced)]
struct FigSpec {
    colour: String,
}

fn pod(name: &str, node: &str) -> Result<Pod, Failure> {
    Ok(serde_json::from_value(serde_json::json!({
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"nodeName": node, "containers": [{"name": "web", "image": "web:1"}]},
    }))?)
}

pub async fn k8s_openapi(both: &Both) -> Result<(), Failure> {
    expect(
        "kind",
        (Pod::KIND, Pod::LIST_KIND, Pod::SINGULAR),
        ("Pod", "PodList", "pod"),
    )?;
    let pods: Api<Pod> = Api::namespaced(both.ours.clone(), &*both.namespace);
    let factory = SharedInformerFactory::new(both.ours.clone());
    let selection = Selection::all().in_namespace(&*both.namespace);
    let informer = factory.informer_of::<Pod>(&selection);
    let by_node = informer.add_index(Index::new("node", |pod: &Pod, values| {
        let node = pod.spec.as_ref().and_then(|it| it.node_name.as_deref());
        values.push(node.unwrap_or_default());
    }));
    pods.create(&pod("web-0", "node-0")?).await?;
    factory.start();
    let lister = informer.synced().await?;
    expect(
        "in the first list",
        lister.by_index(&by_node, "node-0").len(),
        1,
    )?;

    let created = pods.create(&pod("web-1", "node-1")?).await?;
    let mut seen = pods.get("web-1").await?;
    expect("uid", seen.uid(), created.uid())?;
    let reference = ObjectReference::of(&created);
    expect(
        "kind",
        (&*reference.kind, &*reference.api_version),
        ("Pod", "v1"),
    )?;
    expect("uid", &*reference.uid, created.uid())?;
    let listed = pods.list(&ListOptions::default()).await?;
    expect("listed", listed.items.len(), 2)?;
    let labels = seen.metadata.labels.get_or_insert_default();
    labels.insert("tier".to_owned(), "front".to_owned());
    let replaced = pods.replace(&seen).await?;
    expect(
        "label",
        Object::labels(&replaced).get("tier"),
        Some("front"),
    )?;
    let name = replaced.object_name();
    until(|| {
        let held = lister.get(&name);
        held.is_some_and(|it| it.resource_version() == replaced.resource_version())
    })
    .await;
    expect("selected", lister.select(&"tier=front".parse()?).len(), 1)?;

    drop_managed_fields(&mut seen);
    expect("managed fields", seen.metadata.managed_fields, None)?;
    let metadata: Api<Metadata<Pod>> = Api::namespaced(both.ours.clone(), &*both.namespace);
    expect("metadata", metadata.get("web-0").await?.name(), "web-0")?;
    let gone = pods.delete("web-1").await?;
    expect(
        "deleted",
        matches!(gone, DeleteAnswer::Object(_) | DeleteAnswer::Status(_)),
        true,
    )?;
    factory.shutdown().await;
    Ok(())
}

pub async fn derived(both: &Both) -> Result<(), Failure> {
    let resource = <Settings as Ingest>::Kind::api_resource();
    expect("resource", resource, ApiResource::of::<ConfigMap>())?;
    let settings: Api<Settings> = Api::namespaced(both.ours.clone(), &*both.namespace);
    let factory = SharedInformerFactory::new(both.ours.clone());
    let selection = Selection::all().in_namespace(&*both.namespace);
    let informer = factory.informer_of::<Settings>(&selection);
    factory.start();
    let lister = informer.synced().await?;
    let made = Settings {
        metadata: ObjectMeta {
            name: Some("colours".to_owned()),
            ..ObjectMeta::default()
        },
        data: [("fig".to_owned(), "green".to_owned())].into(),
    };
    let created = settings.create(&made).await?;
    expect("data", &created.data, &made.data)?;
    let name = created.object_name();
    until(|| lister.get(&name).is_some()).await;
    controlled(&informer, &settings, &name).await?;
    let held = lister.get(&name).ok_or("it was there a moment ago")?;
    expect("held", &held.data, &made.data)?;
    factory.shutdown().await;

    let figs = <Fig as Ingest>::Kind::api_resource();
    let names = format!("{} {}", figs.gvr(), figs.namespaced);
    expect(
        "names",
        names.as_str(),
        "example.com/v1, Resource=figs true",
    )?;
    let fig = Fig::new(
        "f",
        FigSpec {
            colour: "green".to_owned(),
        },
    );
    let reference = ObjectReference::of(&fig);
    expect(
        "kind",
        (&*reference.kind, &*reference.api_version, &*reference.name),
        ("Fig", "example.com/v1", "f"),
    )?;
    let json = fig.encode(Encoding::Json).expect("it is JSON");
    let read = Fig::ingest(json.into(), Encoding::Json, &mut DecodeContext::new())?;
    expect(
        "fig",
        (read.name(), read.spec.colour.as_str()),
        ("f", "green"),
    )
}

/// A controller of a derived type: it adds a finalizer and observes it.
async fn controlled(
    informer: &SharedInformer<Settings>,
    api: &Api<Settings>,
    name: &ObjectName,
) -> Result<(), Failure> {
    let source = EventSource::for_object(informer).with_predicate(Predicate::generation_changed());
    let predicated = Controller::with_source::<Settings, _>("generations", source);
    expect("name", predicated.name().as_str(), "generations")?;
    let controller = Controller::new("settings", informer);
    let (lister, writer) = (informer.lister_unsynced(), api.clone());
    let reconcile = move |key: ObjectName| {
        let (held, api) = (lister.get(&key), writer.clone());
        async move {
            let Some(held) = held else {
                return Ok(Action::done());
            };
            let mut settings = Settings::clone(&held);
            if Finalizer::new("example.com/colours").add(&mut settings.metadata) {
                api.replace(&settings).await?;
            }
            Ok::<_, kubist_controller::Error>(Action::done())
        }
    };
    let token = CancellationToken::new();
    let run = controller.run(reconcile, token.clone());
    let lister = informer.lister_unsynced();
    let seen = until(|| {
        let held = lister.get(name);
        held.is_some_and(|it| {
            it.metadata
                .finalizers
                .as_ref()
                .is_some_and(|it| it.len() == 1)
        })
    });
    let (ran, ()) = futures::join!(run, async {
        seen.await;
        token.cancel();
    });
    expect("errors", ran?.errors, 0)?;
    let mut settings = api.get(&name.name).await?;
    let finalizer = Finalizer::new("example.com/colours");
    expect("taken off", finalizer.remove(&mut settings.metadata), true)?;
    api.replace(&settings).await?;
    Ok(())
}

/// Waits for the cache.
pub async fn until(mut reached: impl FnMut() -> bool) {
    while !reached() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
