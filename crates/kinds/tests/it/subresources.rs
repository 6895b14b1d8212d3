//! The subresources scale and binding.

use crate::fixture::{Fixture, typed};
use crate::update::deployment;
use kubist_api::apps::v1::Deployment;
use kubist_api::autoscaling::v1::Scale;
use kubist_api::core::v1::{Binding, Container, Node, Pod};
use kubist_apimachinery::{AnyObject, PostOptions, ResourceVersion, Status};
use kubist_registry::{Created, Replacement};

pub(crate) fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.labels.insert("app".into(), "web".into());
    pod.spec.containers.push(Container {
        name: "c".into(),
        image: "nginx".into(),
        ..Container::default()
    });
    pod
}

pub(crate) async fn post<K: AnyObject>(
    fixture: &Fixture,
    subresource: &str,
    name: &str,
    object: K,
) -> Result<(), Status> {
    post_with(fixture, subresource, name, object, &PostOptions::default()).await
}

pub(crate) async fn post_with<K: AnyObject>(
    fixture: &Fixture,
    subresource: &str,
    name: &str,
    object: K,
    options: &PostOptions,
) -> Result<(), Status> {
    let rest = fixture
        .of::<Pod>()
        .subresource(subresource)
        .expect("pods have it");
    let cx = fixture.cx();
    let created = rest.create(&cx, "default", name, Box::new(object), options);
    match created.await? {
        Created::Status(status) if status.code == 201 => Ok(()),
        other => panic!("it answers with a status: {other:?}"),
    }
}

#[tokio::test]
async fn a_deployment_scales() {
    let fixture = Fixture::new().await;
    fixture.create(deployment("d")).await;
    let rest = fixture
        .of::<Deployment>()
        .subresource("scale")
        .expect("deployments scale");
    let any = ResourceVersion::default();
    let scale: Scale = typed(
        &rest
            .get(&fixture.cx(), "default", "d", &any)
            .await
            .expect("fine"),
    );
    assert_eq!(scale.status.selector, "app=a");
    let mut five = scale.clone();
    five.spec.replicas = 5;
    let options = PostOptions::default();
    let put = async |scale: &Scale| {
        let replacement = Replacement(Box::new(scale.clone()));
        rest.update(&fixture.cx(), "default", "d", &replacement, &options)
            .await
    };
    let updated = put(&five).await.expect("fine");
    let updated: Scale = typed(&updated.object);
    assert_eq!(updated.spec.replicas, 5);
    assert_ne!(
        updated.metadata.resource_version,
        scale.metadata.resource_version
    );
    let stored: Deployment = fixture.get("d").await.expect("it is there");
    assert_eq!(
        (stored.spec.replicas, stored.metadata.generation),
        (Some(5), 2)
    );
    let status = put(&five).await.expect_err("it is not the newest");
    assert!(status.is_conflict());
    let details = status.details.expect("it names the deployment");
    assert_eq!((&*details.kind, &*details.group), ("deployments", "apps"));
}

fn binding(node: &str) -> Binding {
    let mut binding = Binding::default();
    binding.metadata.name = "p".into();
    binding.target.kind = "Node".into();
    binding.target.name = node.into();
    binding
}

#[tokio::test]
async fn a_pod_is_bound_once() {
    let fixture = Fixture::new().await;
    fixture.create(pod("p")).await;
    post(&fixture, "binding", "p", binding("n1"))
        .await
        .expect("it is free");
    let bound: Pod = fixture.get("p").await.expect("it is there");
    assert_eq!(bound.spec.node_name, "n1");
    let condition = &bound.status.conditions[0];
    assert_eq!(
        (&*condition.type_, &*condition.status),
        ("PodScheduled", "True")
    );
    let status = post(&fixture, "binding", "p", binding("n2"))
        .await
        .expect_err("it is bound");
    assert_eq!(
        status.message,
        "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \
         \"n1\""
    );
}

#[tokio::test]
async fn a_binding_puts_its_labels_and_the_place_of_the_node_on_the_pod() {
    let fixture = Fixture::new().await;
    let zone = "topology.kubernetes.io/zone";
    let mut node = Node::default();
    node.metadata.name = "n1".into();
    for (key, value) in [(zone, "z"), ("other", "x")] {
        node.metadata.labels.insert(key.into(), value.into());
    }
    let stored = fixture.create_in("", node, false).await;
    stored.expect("it is valid");
    let mut created: Pod = fixture.create(pod("p")).await;
    created.status.nominated_node_name = "n2".into();
    fixture
        .put_subresource("status", created)
        .await
        .expect("fine");
    let mut bound = binding("n1");
    bound.metadata.resource_version = "1".into();
    let status = post(&fixture, "binding", "p", bound.clone()).await;
    assert!(status.is_err_and(|it| it.is_conflict()), "it is newer");
    bound.metadata.resource_version = "".into();
    for (key, value) in [(zone, "own"), ("app", "bound")] {
        bound.metadata.labels.insert(key.into(), value.into());
    }
    post(&fixture, "binding", "p", bound).await.expect("fine");
    let labels = |pod: &Pod| {
        let labels = pod.metadata.labels.iter();
        let labels = labels.map(|(key, value)| format!("{key}={value}"));
        labels.collect::<Vec<_>>().join(",")
    };
    let stored: Pod = fixture.get("p").await.expect("it is there");
    assert_eq!(labels(&stored), format!("app=bound,{zone}=z"));
    assert_eq!(
        stored.status.nominated_node_name, "",
        "it is no hint any more"
    );
    // A Pod that is created with a node gets the same labels.
    let mut placed = pod("q");
    placed.spec.node_name = "n1".into();
    let placed: Pod = fixture.create(placed).await;
    assert_eq!(labels(&placed), format!("app=web,{zone}=z"));
}
