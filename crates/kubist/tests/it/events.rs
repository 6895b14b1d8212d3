//! Events against a server in this process, as kubectl reads them.

use kubist::api::apps::v1::Deployment;
use kubist::api::core::v1::{self as core, Node, ObjectReference};
use kubist::api::events::v1::Event;
use kubist::apimachinery::ListOptions;
use kubist::client::Api;
use kubist::controller::Manager;
use kubist::events::{EventBroadcaster, EventType};
use kubist::informers::SharedInformerFactory;
use kubist::{Server, ServerConfig};
use tokio_util::sync::CancellationToken;

async fn server() -> Server {
    let config = ServerConfig {
        controllers: [].into(),
        ..ServerConfig::default()
    };
    Server::start(config).await.unwrap()
}

fn web() -> Deployment {
    let mut web = Deployment::default();
    web.metadata.namespace = "default".into();
    web.metadata.name = "web".into();
    web.metadata.uid = "1f2e".into();
    web
}

#[tokio::test]
async fn a_series_is_what_kubectl_describe_reads() {
    let server = server().await;
    let broadcaster = EventBroadcaster::new(server.client());
    let recorder = broadcaster.recorder_of("example.com/operator", "operator-0");
    let events: Api<core::Event> = Api::namespaced(server.client(), "default");
    let client = server.client();
    let record = async move {
        let object = ObjectReference::of(&web());
        for _ in 0..3 {
            let note = "no room for three replicas";
            recorder.event(&object, EventType::Warning, "NoRoom", "Scaling", note);
            // Wait until it is written, so that the second is a patch.
            let newer: Api<Event> = Api::namespaced(client.clone(), "default");
            while newer
                .list(&ListOptions::default())
                .await
                .unwrap()
                .items
                .is_empty()
            {
                tokio::task::yield_now().await;
            }
        }
    };
    let (stats, ()) = tokio::join!(broadcaster.run(CancellationToken::new()), record);
    assert_eq!((stats.rejected, stats.created), (0, 1), "{stats:?}");
    assert!(stats.updated >= 1, "{stats:?}");

    // `kubectl describe` selects by these fields, and prints these.
    let about = "involvedObject.name=web,involvedObject.kind=Deployment,involvedObject.uid=1f2e";
    let about = ListOptions {
        field_selector: about.parse().unwrap(),
        ..ListOptions::default()
    };
    let listed = events.list(&about).await.unwrap().items;
    let [event] = listed.as_slice() else {
        panic!("{} events", listed.len());
    };
    assert_eq!(event.type_, "Warning");
    assert_eq!(event.reason, "NoRoom");
    assert_eq!(event.message, "no room for three replicas");
    assert_eq!(event.action, "Scaling");
    assert_eq!(event.involved_object.api_version, "apps/v1");
    assert_eq!(
        event.source.component, "",
        "kubectl prints the next one then"
    );
    assert_eq!(event.reporting_component, "example.com/operator");
    assert_eq!(event.reporting_instance, "operator-0");
    assert_eq!(event.count, 0, "of the older form");
    let series = event.series.as_ref().unwrap();
    assert_eq!(series.count, 3);
    assert!(series.last_observed_time >= event.event_time);
    server.shutdown().await;
}

#[tokio::test]
async fn the_server_accepts_events_about_everything_with_every_text() {
    let server = server().await;
    let broadcaster = EventBroadcaster::new(server.client());
    let recorder = broadcaster.recorder("example.com/operator");
    let mut node = Node::default();
    node.metadata.name = "node-7".into();
    let node = ObjectReference::of(&node);
    let long = "é".repeat(2_000);
    recorder.event(&node, EventType::Normal, "Ready", "", "");
    recorder.event(&node, EventType::Normal, &*long, &*long, &*long);
    let role = ObjectReference {
        kind: "ClusterRole".into(),
        name: "system:node".into(), // not a DNS name
        api_version: "rbac.authorization.k8s.io/v1".into(),
        ..ObjectReference::default()
    };
    recorder.event_related(
        &role,
        &node,
        EventType::Normal,
        "Bound",
        "Binding",
        "a note",
    );
    drop(recorder);
    let stats = broadcaster.run(CancellationToken::new()).await;
    assert_eq!((stats.created, stats.rejected), (3, 0), "{stats:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_manager_runs_it_as_a_task() {
    let server = server().await;
    let broadcaster = EventBroadcaster::new(server.client());
    let recorder = broadcaster.recorder("example.com/operator");
    let token = CancellationToken::new();
    let stop = token.clone();
    let manager = Manager::new(SharedInformerFactory::new(server.client()))
        .with_task("events", |token| async move {
            broadcaster.run(token).await;
            Ok(())
        })
        .with_task("work", |token| async move {
            token.cancelled().await;
            let object = ObjectReference::of(&web());
            recorder.event(&object, EventType::Normal, "Stopped", "Stopping", "it ends");
            Ok(())
        });
    stop.cancel();
    manager.run(token).await.unwrap();
    let events: Api<Event> = Api::namespaced(server.client(), "default");
    let listed = events.list(&ListOptions::default()).await.unwrap();
    assert_eq!(listed.items[0].reason, "Stopped", "recorded after the stop");
    server.shutdown().await;
}
