//! A reconciler that read an object is called again after it changed, however short-lived the
//! change.

use crate::cluster::{Cluster, named, owned};
use crate::running::{Calls, Running, deployments, recorder, settle, start};
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::ObjectName;
use kubist_controller::{Controller, EventSource, Predicate};
use kubist_informers::SharedInformerFactory;
use std::time::Duration;

/// A controller of Deployments that own `ReplicaSets`, after its first reconcile.
async fn owning(cluster: &Cluster, calls: &Calls) -> Running {
    for name in ["a", "b"] {
        cluster.put(named::<Deployment>(name));
    }
    let (factory, controller) = deployments(cluster);
    let controller = controller.owns(&factory.informer::<ReplicaSet>());
    let running = start(controller, &factory, recorder(calls));
    settle().await;
    calls.take();
    running
}

async fn called(calls: &Calls) -> Vec<String> {
    settle().await;
    let mut called = calls.take();
    called.sort();
    called.dedup();
    called
}

/// Contract CTRL-7.
#[tokio::test(start_paused = true)]
async fn an_owner_is_enqueued_for_a_short_lived_object() {
    let (cluster, calls) = (Cluster::default(), Calls::default());
    let running = owning(&cluster, &calls).await;
    cluster.put(owned::<ReplicaSet>("set", "Deployment", "a"));
    cluster.delete::<ReplicaSet>("shop", "set");
    assert_eq!(called(&calls).await, ["a"]);
    running.stop().await;
}

/// Contract CTRL-7.
#[tokio::test(start_paused = true)]
async fn every_owner_of_a_deleted_object_is_enqueued() {
    let (cluster, calls) = (Cluster::default(), Calls::default());
    let running = owning(&cluster, &calls).await;
    cluster.put(owned::<ReplicaSet>("set", "Deployment", "a"));
    assert_eq!(called(&calls).await, ["a"]);
    cluster.put(owned::<ReplicaSet>("set", "Deployment", "b"));
    cluster.delete::<ReplicaSet>("shop", "set");
    assert_eq!(called(&calls).await, ["a", "b"]);

    cluster.put(owned::<ReplicaSet>("set", "Deployment", "a"));
    cluster.put(owned::<ReplicaSet>("set", "Deployment", "b"));
    cluster.put(named::<ReplicaSet>("set"));
    assert_eq!(called(&calls).await, ["a", "b"], "it was b's for a moment");
    running.stop().await;
}

/// Contract CTRL-7.
#[tokio::test(start_paused = true)]
async fn a_predicate_judges_each_step_and_not_what_several_amount_to() {
    let (cluster, calls) = (Cluster::default(), Calls::default());
    cluster.put(named::<Pod>("pod"));
    let factory = SharedInformerFactory::new(cluster.clone());
    let trigger = EventSource::for_object(&factory.informer::<Pod>())
        .with_predicate(Predicate::labels_changed());
    let controller = Controller::with_source::<Pod, _>("labels", trigger);
    let running = start(controller, &factory, recorder(&calls));
    settle().await;
    calls.take();
    let mut labelled = named::<Pod>("pod");
    let labels = &mut labelled.metadata.labels;
    labels.insert("app".into(), "web".into());
    cluster.put(labelled);
    cluster.put(named::<Pod>("pod"));
    assert_eq!(called(&calls).await, ["pod"], "the label came and went");
    running.stop().await;
}

/// The mapping panics for one of the states of an object.
#[tokio::test(start_paused = true)]
async fn a_mapping_that_panics_is_counted_and_costs_no_other_state_its_names() {
    let (cluster, calls) = (Cluster::default(), Calls::default());
    let (factory, controller) = deployments(&cluster);
    let mut controller = controller.watches(&factory.informer::<Pod>(), |pod: &Pod| {
        assert!(!pod.metadata.labels.contains_key("broken"), "on purpose");
        vec![ObjectName::new("shop", format!("of-{}", pod.metadata.name))]
    });
    let monitor = controller.monitor();
    let running = start(controller, &factory, recorder(&calls));
    cluster.put(named::<Pod>("x"));
    assert_eq!(called(&calls).await, ["of-x"]);
    let mut broken = named::<Pod>("x");
    broken.metadata.labels.insert("broken".into(), "".into());
    cluster.put(broken);
    assert_eq!(called(&calls).await, ["of-x"], "by its former state");
    assert_eq!(monitor.stats().mapping_panics, 1);
    cluster.put(named::<Pod>("x"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(called(&calls).await, ["of-x"]);
    assert_eq!(monitor.stats().mapping_panics, 2);
    running.stop().await;
}
