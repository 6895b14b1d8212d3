//! Subresources that change parts of an object: approvals, ephemeral containers, resizes,
//! finalizers.

use crate::fixture::{Fixture, typed};
use crate::subresources::pod;
use kubist_api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};
use kubist_api::core::v1::{Container, EphemeralContainer, Node, Pod};
use kubist_apimachinery::{Quantity, Status};

const REQUEST: &[u8] = include_bytes!("../request.pem");
const CERTIFICATE: &[u8] = include_bytes!("../certificate.pem");

fn request() -> CertificateSigningRequest {
    let mut request = CertificateSigningRequest::default();
    request.metadata.name = "csr".into();
    request.spec.request = REQUEST.into();
    request.spec.signer_name = "example.com/signer".into();
    request.spec.usages.push("client auth".into());
    request
}

fn condition(kind: &str) -> CertificateSigningRequestCondition {
    CertificateSigningRequestCondition {
        type_: kind.into(),
        status: "True".into(),
        reason: "Test".into(),
        ..CertificateSigningRequestCondition::default()
    }
}

async fn put(
    fixture: &Fixture,
    subresource: &str,
    object: &CertificateSigningRequest,
) -> Result<CertificateSigningRequest, Status> {
    let updated = fixture.put_subresource(subresource, object.clone()).await?;
    Ok(typed(&updated.object))
}

#[tokio::test]
async fn approval_conditions_change_only_through_the_approval_subresource_and_stay() {
    let fixture = Fixture::new().await;
    let mut csr: CertificateSigningRequest = fixture.create(request()).await;
    csr.metadata.resource_version = "".into();
    csr.status.conditions.push(condition("Approved"));
    csr.status.certificate = CERTIFICATE.into();
    let status = put(&fixture, "status", &csr).await.expect_err("no");
    assert!(
        status
            .message
            .contains("updates may not add a condition of type \"Approved\""),
        "{status}"
    );
    let verdict = csr.status.conditions.pop().expect("it is there");
    let by_status = put(&fixture, "status", &csr).await.expect("fine");
    assert!(!by_status.status.certificate.is_empty());
    csr.status.conditions.push(verdict);

    csr.status.certificate = b"other".as_slice().into();
    let approved = put(&fixture, "approval", &csr).await.expect("fine");
    let verdict = &approved.status.conditions[0];
    assert_eq!(verdict.type_, "Approved");
    assert!(verdict.last_update_time.is_some() && verdict.last_transition_time.is_some());
    assert_eq!(approved.status.certificate, by_status.status.certificate);

    let mut reworded = approved.clone();
    reworded.status.conditions[0].message = "other".into();
    let by_status = put(&fixture, "status", &reworded).await.expect("fine");
    assert_eq!(by_status.status, approved.status, "it stays as it was");

    let mut denied = csr.clone();
    denied.status.conditions.push(condition("Denied"));
    let status = put(&fixture, "approval", &denied).await.expect_err("both");
    assert_eq!(status.causes()[0].field, "status.conditions");
    assert!(
        status
            .message
            .contains("Approved and Denied conditions are mutually exclusive"),
        "{status}"
    );
    let mut undone = csr.clone();
    undone.status.conditions.clear();
    let status = put(&fixture, "approval", &undone).await.expect_err("no");
    assert!(
        status
            .message
            .contains("updates may not remove a condition of type \"Approved\""),
        "{status}"
    );
    let mut other = approved.clone();
    other.metadata.resource_version = "".into();
    other.status.certificate = b"-----BEGIN CERTIFICATE-----\nx".as_slice().into();
    let status = put(&fixture, "status", &other).await.expect_err("no");
    assert!(
        status
            .message
            .contains("updates may not modify existing certificate content"),
        "{status}"
    );
}

fn debugger(name: &str) -> EphemeralContainer {
    EphemeralContainer {
        name: name.into(),
        image: "busybox".into(),
        target_container_name: "c".into(),
        ..EphemeralContainer::default()
    }
}

#[tokio::test]
async fn ephemeral_containers_are_added_and_nothing_else_changes() {
    let fixture = Fixture::new().await;
    let created: Pod = fixture.create(pod("p")).await;
    let mut changed = created.clone();
    changed.spec.ephemeral_containers.push(debugger("d"));
    changed.spec.containers[0].image = "other".into();
    changed.metadata.labels.clear();
    let updated = fixture
        .put_subresource("ephemeralcontainers", changed)
        .await;
    let updated: Pod = typed(&updated.expect("fine").object);
    assert_eq!(updated.spec.ephemeral_containers[0].name, "d");
    assert_eq!(updated.spec.containers, created.spec.containers);
    assert_eq!(updated.metadata.labels, created.metadata.labels);
    assert_eq!(updated.metadata.generation, 2);

    let mut without = updated.clone();
    without.spec.ephemeral_containers.clear();
    let status = fixture
        .put_subresource("ephemeralcontainers", without)
        .await;
    let status = status.expect_err("it stays");
    assert!(
        status
            .message
            .contains("existing ephemeral containers \"d\" may not be removed"),
        "{status}"
    );
    let mut other = updated.clone();
    other.spec.ephemeral_containers[0].image = "other".into();
    let status = fixture.put_subresource("ephemeralcontainers", other).await;
    let status = status.expect_err("it stays as it is");
    let detail = "existing ephemeral containers \"d\" may not be changed\n@@ -1,6 +1,6 @@\n";
    assert!(status.message.contains(detail), "{status}");
    let changed = "- \"Image\": \"busybox\",\n+ \"Image\": \"other\",\n";
    assert!(status.message.contains(changed), "{status}");
    let mut twice = updated.clone();
    twice.spec.ephemeral_containers.push(debugger("c"));
    twice.spec.ephemeral_containers[1].target_container_name = "none".into();
    let status = fixture.put_subresource("ephemeralcontainers", twice).await;
    let status = status.expect_err("the name is taken");
    let fields: Vec<&str> = status.causes().iter().map(|it| &*it.field).collect();
    assert_eq!(
        fields,
        [
            "spec.ephemeralContainers[1].name",
            "spec.ephemeralContainers[1].targetContainerName"
        ]
    );
}

#[tokio::test]
async fn a_resize_changes_cpu_and_memory_within_a_class() {
    let fixture = Fixture::new().await;
    let mut small = pod("p");
    let set = |pod: &mut Pod, name: &str, amount: &str| {
        let amount = amount.parse().expect("an amount");
        let requests = &mut pod.spec.containers[0].resources.requests;
        requests.insert(name.into(), amount);
    };
    set(&mut small, "cpu", "1");
    let created: Pod = fixture.create(small).await;
    let mut large = created.clone();
    set(&mut large, "cpu", "2");
    large.spec.containers[0].image = "other".into();
    let resized = fixture
        .put_subresource("resize", large)
        .await
        .expect("fine");
    let resized: Pod = typed(&resized.object);
    let container = &resized.spec.containers[0];
    assert_eq!(container.resources.requests["cpu"].as_str(), "2");
    assert_eq!(container.image, "nginx");
    assert_eq!(resized.metadata.generation, 2);

    let refused = async |change: &dyn Fn(&mut Pod)| {
        let mut other = resized.clone();
        change(&mut other);
        let status = fixture.put_subresource("resize", other).await;
        status.expect_err("it is refused").message.to_string()
    };
    let message = refused(&|pod| pod.spec.containers[0].resources.requests.clear()).await;
    assert!(
        message.contains("Pod QOS Class may not change"),
        "{message}"
    );
    assert!(
        message.contains("resource requests cannot be removed"),
        "{message}"
    );
    let message = refused(&|pod| set(pod, "ephemeral-storage", "1Gi")).await;
    assert!(
        message.contains("only cpu and memory resources are mutable"),
        "{message}"
    );
    let message = refused(&|pod| pod.spec.containers.push(Container::default())).await;
    assert!(
        message.contains(
            "spec.containers: Forbidden: containers may not be added or removed on resize"
        ),
        "{message}"
    );
    let message = refused(&|pod| {
        let resources = pod.spec.containers[0].resources.clone();
        pod.spec.containers[0].resources.limits = resources.requests;
        set(pod, "memory", "1Gi");
        let limits = &mut pod.spec.containers[0].resources.limits;
        limits.insert("memory".into(), "1Gi".parse().expect("an amount"));
    })
    .await;
    assert!(
        message.contains("spec: Invalid value: \"Burstable\": Pod QOS Class may not change"),
        "{message}"
    );
}

#[tokio::test]
async fn a_pod_on_a_node_grows_as_far_as_the_node_can_give() {
    let fixture = Fixture::new().await;
    let amount = |text: &str| -> Quantity { text.parse().expect("an amount") };
    let mut small = pod("p");
    small.spec.node_name = "n".into();
    let requests = &mut small.spec.containers[0].resources.requests;
    requests.insert("cpu".into(), amount("1"));
    let created: Pod = fixture.create(small).await;
    let sized = |cpu: &str| {
        let mut pod = created.clone();
        let requests = &mut pod.spec.containers[0].resources.requests;
        requests.insert("cpu".into(), amount(cpu));
        pod
    };
    let resize = async |cpu: &str| fixture.put_subresource("resize", sized(cpu)).await.err();
    assert!(resize("1").await.is_none(), "nothing changes");
    let status = resize("2").await.expect("there is no such node");
    assert_eq!(
        status.message,
        "pods \"p\" is forbidden: node \"n\" not found"
    );
    let mut node = Node::default();
    node.metadata.name = "n".into();
    node.status.allocatable.insert("cpu".into(), amount("3"));
    let stored = fixture.create_in("", node, false).await;
    stored.expect("it is valid");
    let status = resize("4").await.expect("that is too much");
    assert_eq!(
        status.message,
        "pods \"p\" is forbidden: node didn't have enough allocatable resources: cpu, requested: \
         4000, allocatable: 3000"
    );
    assert_eq!(status.causes()[0].reason, "NodeCapacity");
    assert!(resize("2").await.is_none());
}
