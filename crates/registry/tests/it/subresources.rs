//! Scale, binding and eviction.

use crate::fixture::{Fixture, typed};
use crate::update::deployment;
use kubist_api::apps::v1::Deployment;
use kubist_api::autoscaling::v1::Scale;
use kubist_api::core::v1::{Binding, Container, Pod};
use kubist_api::policy::v1::{Eviction, PodDisruptionBudget};
use kubist_apimachinery::{AnyObject, IntOrString, PostOptions, ResourceVersion, Status};
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

async fn post<K: AnyObject>(
    fixture: &Fixture,
    part: &str,
    name: &str,
    object: K,
) -> Result<(), Status> {
    let rest = fixture.of::<Pod>().subresource(part).expect("pods have it");
    let (options, cx) = (PostOptions::default(), fixture.cx());
    let created = rest.create(&cx, "default", name, Box::new(object), &options);
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

async fn budget(fixture: &Fixture, allowed: i32) {
    let mut budget = PodDisruptionBudget::default();
    budget.metadata.name = "pdb".into();
    budget.spec.min_available = Some(IntOrString::Int(1));
    let selector = budget.spec.selector.get_or_insert_default();
    selector.match_labels.insert("app".into(), "web".into());
    let mut budget = fixture.create(budget).await;
    budget.status.observed_generation = 1;
    budget.status.disruptions_allowed = allowed;
    budget.status.desired_healthy = 1;
    budget.status.current_healthy = 1 + allowed;
    fixture.put_part("status", budget).await.expect("fine");
}

async fn running(fixture: &Fixture, name: &str) {
    let mut pod: Pod = fixture.create(pod(name)).await;
    pod.status.phase = "Running".into();
    fixture.put_part("status", pod).await.expect("fine");
}

fn eviction(name: &str) -> Eviction {
    let mut eviction = Eviction::default();
    eviction.metadata.name = name.into();
    eviction
}

#[tokio::test]
async fn an_eviction_takes_from_the_budget_until_it_is_empty() {
    let fixture = Fixture::new().await;
    budget(&fixture, 1).await;
    running(&fixture, "p1").await;
    running(&fixture, "p2").await;
    post(&fixture, "eviction", "p1", eviction("p1"))
        .await
        .expect("the budget has room");
    let left: PodDisruptionBudget = fixture.get("pdb").await.expect("it is there");
    assert_eq!(left.status.disruptions_allowed, 0);
    assert!(left.status.disrupted_pods.contains_key("p1"));
    let status = post(&fixture, "eviction", "p2", eviction("p2"))
        .await
        .expect_err("none left");
    assert_eq!(status.code, 429);
    assert_eq!(
        status.causes()[0].message,
        "The disruption budget pdb needs 1 healthy pods and has 2 currently"
    );
    assert!(fixture.get::<Pod>("p2").await.is_ok());
    let missing = post(&fixture, "eviction", "none", eviction("none")).await;
    assert!(missing.is_err_and(|it| it.is_not_found()));
    let mismatch = post(&fixture, "eviction", "p2", eviction("p1")).await;
    assert!(mismatch.is_err_and(|it| it.is_bad_request()));
}
