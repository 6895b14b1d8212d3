//! `ReplicaSets` whose Pods the cache does not show yet.

use crate::server::Server;
use kubist_controller::Manager;
use kubist_events::EventBroadcaster;
use kubist_informers::SharedInformerFactory;
use kubist_workloads::replica_set;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

fn web(replicas: u32) -> Value {
    json!({"kind": "ReplicaSet", "apiVersion": "apps/v1",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
}

/// Pods that were created and deleted before the watch could deliver them must not leave the set
/// short: no event will ever arrive, only a bookmark.
#[tokio::test(start_paused = true)]
async fn a_set_whose_pods_went_unseen_is_filled_again_without_any_event() {
    let server = Server::default();
    let client = server.client();
    let factory = SharedInformerFactory::new(client.clone());
    // Nobody writes these events.
    let recorder = EventBroadcaster::new(client.clone()).recorder("test");
    let (controller, reconciler) = replica_set::controller(&client, &factory, recorder);
    let token = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let manager = Manager::new(factory).with(controller, reconciler);
    tasks.spawn(manager.run(token.clone()));
    tokio::time::sleep(Duration::from_secs(2)).await;

    server.tell("replicasets", "ADDED", web(2));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.created(), 2);
    server.tell("replicasets", "MODIFIED", web(3));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        server.created(),
        2,
        "it does not know yet what became of them"
    );

    let bookmark = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {}});
    server.tell("pods", "BOOKMARK", bookmark);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.created(), 2 + 3);
    token.cancel();
    tasks
        .join_next()
        .await
        .expect("a task")
        .expect("no panic")
        .expect("no error");
}
