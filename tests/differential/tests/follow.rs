//! Follows a server with Kubist's informer over cut connections. `cargo xtask interop` runs it
//! beside client-go's and compares the events.

use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::Object;
use kubist_cache::{Deleted, ResourceEvent, Selection, Source};
use kubist_client::Client;
use kubist_informers::{Delivery, HandlerConfig, InformerConfig, SharedInformer};
use kubist_kubeconfig::{Environment, Kubeconfig};
use kubist_transport::Transport;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The parameters, as JSON; `cargo xtask interop` sets them.
const FOLLOW: &str = "KUBIST_FOLLOW";
/// The time limit until the last object is seen.
const LIMIT: Duration = Duration::from_secs(180);
/// The most events that wait; more than there are writes.
const PENDING_MAX: usize = 100_000;

#[derive(Deserialize)]
struct Follow {
    kubeconfig: PathBuf,
    namespace: String,
    /// The object after which to stop.
    last: String,
    /// The path of the history.
    out: PathBuf,
}

#[test]
fn what_happens_on_a_server_is_followed_over_cut_connections() {
    let Some(follow) = std::env::var_os(FOLLOW) else {
        say(&format!("skipped: {FOLLOW} names nothing to follow"));
        return;
    };
    let follow: Follow = serde_json::from_slice(follow.as_encoded_bytes()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let seen = runtime.block_on(async {
        let seen = tokio::time::timeout(LIMIT, run(&follow)).await;
        seen.expect("the last object is seen in time")
    });
    std::fs::write(&follow.out, seen.to_string()).unwrap();
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn say(line: &str) {
    println!("{line}");
}

fn client(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read(kubeconfig).expect("the file was just written");
    let config = kubeconfig
        .select(
            &kubist_kubeconfig::Selection::default(),
            &Environment::default(),
        )
        .expect("the file has a context");
    let transport = Transport::new(config.transport).expect("the file has a server");
    Client::new(transport, kubist_client::Config::default())
}

async fn run(follow: &Follow) -> Value {
    let selection = Selection::all().in_namespace(follow.namespace.as_str());
    let source = client(&follow.kubeconfig).lister_watcher::<ConfigMap>(&selection);
    let informer = SharedInformer::new(source, InformerConfig::default());
    let (sender, mut changes) = mpsc::channel(PENDING_MAX);
    let delivery = Delivery::EveryEvent {
        pending_max: PENDING_MAX,
    };
    let every_event = HandlerConfig {
        delivery,
        ..HandlerConfig::default()
    };
    let handler = move |change: ResourceEvent<ConfigMap>| {
        sender
            .try_send(change)
            .expect("there is room for every event");
    };
    let registration = informer.add_handler_with(handler, every_event);
    let token = CancellationToken::new();
    let _stop = token.clone().drop_guard();
    let running = informer.run(token);
    let following = async {
        let lister = informer.synced().await.expect("it runs");
        let synced_at = lister.resource_version().to_string();
        let lists = informer.stats().reflector.lists;
        let mut history = Vec::new();
        while let Some(change) = changes.recv().await {
            history.push(note(&change));
            let is_last = matches!(
                change,
                ResourceEvent::Added { .. } | ResourceEvent::Updated { .. }
            ) && change.object_name().name == *follow.last;
            if is_last {
                break;
            }
        }
        let state: BTreeMap<String, Value> = lister
            .list()
            .iter()
            .map(|object| (object.name().to_owned(), held(object)))
            .collect();
        json!({
            "synced_at": synced_at, "relists": informer.stats().reflector.lists - lists,
            "history": history, "state": state,
        })
    };
    tokio::select! {
        ended = running => panic!("the informer ended: {ended:?}"),
        seen = following => {
            drop(registration);
            seen
        }
    }
}

/// An event: kind, object, version.
fn note(change: &ResourceEvent<ConfigMap>) -> [String; 3] {
    let kind = match change {
        ResourceEvent::Deleted(Deleted::Known(_)) => "delete",
        ResourceEvent::Deleted(Deleted::FinalStateUnknown { .. }) => "gone",
        _ => "set",
    };
    let version = change.object().map(|object| object.resource_version());
    let name = change.object_name().name.to_string();
    [
        kind.to_owned(),
        name,
        version.unwrap_or_default().to_owned(),
    ]
}

/// Returns an object in the compared form.
fn held(object: &Arc<ConfigMap>) -> Value {
    json!({
        "uid": object.metadata.uid, "version": object.metadata.resource_version,
        "labels": object.metadata.labels, "data": object.data,
    })
}
