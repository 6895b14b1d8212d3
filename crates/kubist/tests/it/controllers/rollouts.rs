//! The workload controllers: Deployments, from their creation to their deletion.

use kubist::api::apps::v1::{Deployment, ReplicaSet};
use kubist::api::core::v1::Pod;
use kubist::apimachinery::ListOptions;
use kubist::client::{Api, Client, Patch};
use serde_json::json;

use super::{server, until};

fn deployment(replicas: i32, image: &str) -> Deployment {
    let mut deployment = Deployment::default();
    deployment.metadata.name = "web".into();
    deployment.metadata.namespace = "default".into();
    deployment.spec.replicas = Some(replicas);
    let labels = [("app".into(), "web".into())];
    deployment
        .spec
        .selector
        .get_or_insert_default()
        .match_labels = labels.clone().into();
    deployment.spec.template.metadata.labels = labels.into();
    deployment.spec.template.spec.containers = vec![kubist::api::core::v1::Container {
        name: "web".into(),
        image: image.into(),
        ..kubist::api::core::v1::Container::default()
    }];
    deployment
}

/// What `kubectl rollout status` waits for.
async fn until_rolled_out(client: &Client, replicas: i32) -> Deployment {
    let api: Api<Deployment> = Api::namespaced(client.clone(), "default");
    until("the rollout is complete", async || {
        let deployment = api.get("web").await.expect("it exists");
        let status = &deployment.status;
        let done = status.observed_generation >= deployment.metadata.generation
            && [
                status.replicas,
                status.updated_replicas,
                status.available_replicas,
            ] == [replicas; 3];
        done.then_some(deployment)
    })
    .await
}

async fn pods(client: &Client) -> Vec<Pod> {
    let api: Api<Pod> = Api::namespaced(client.clone(), "default");
    let all = ListOptions::default();
    api.list(&all).await.expect("an answer").items
}

async fn until_pods(client: &Client, what: &str, test: impl Fn(&[Pod]) -> bool) -> Vec<Pod> {
    until(what, async || {
        let pods = pods(client).await;
        test(&pods).then_some(pods)
    })
    .await
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one scenario from beginning to end")]
async fn a_deployment_lives_through_everything() {
    let server = server(true).await;
    let client = server.client();
    let api: Api<Deployment> = Api::namespaced(client.clone(), "default");
    api.create(&deployment(3, "web:1"))
        .await
        .expect("it is created");
    let rolled_out = until_rolled_out(&client, 3).await;
    assert_eq!(
        rolled_out.metadata.annotations["deployment.kubernetes.io/revision"],
        "1"
    );
    let condition = |deployment: &Deployment, type_: &str| {
        let mut conditions = deployment.status.conditions.iter();
        conditions
            .find(|it| it.type_ == *type_)
            .map(|it| it.status.to_string())
    };
    assert_eq!(condition(&rolled_out, "Available").as_deref(), Some("True"));
    assert_eq!(
        condition(&rolled_out, "Progressing").as_deref(),
        Some("True")
    );
    let first = until_pods(&client, "three Pods run", |it| it.len() == 3).await;
    assert!(
        first
            .iter()
            .all(|it| it.status.phase == "Running" && !it.status.pod_ip.is_empty())
    );

    // A deleted Pod is replaced.
    let killed = first[0].metadata.clone();
    let pods_api: Api<Pod> = Api::namespaced(client.clone(), "default");
    pods_api.delete(&killed.name).await.expect("it is deleted");
    until_pods(&client, "the Pod is replaced", |it| {
        it.len() == 3 && it.iter().all(|it| it.metadata.uid != killed.uid)
    })
    .await;

    // Scaling.
    let scale = |replicas: i32| Patch::Merge(json!({"spec": {"replicas": replicas}}));
    api.patch("web", &scale(5)).await.expect("it is scaled");
    until_rolled_out(&client, 5).await;
    api.patch("web", &scale(2)).await.expect("it is scaled");
    until_rolled_out(&client, 2).await;
    until_pods(&client, "two Pods are left", |it| it.len() == 2).await;

    // A rolling update.
    let image = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "web", "image": "web:2"},
    ]}}}});
    api.patch("web", &Patch::Strategic(image))
        .await
        .expect("it is changed");
    let updated = until_rolled_out(&client, 2).await;
    assert_eq!(
        updated.metadata.annotations["deployment.kubernetes.io/revision"],
        "2"
    );
    until_pods(&client, "the Pods have the new image", |it| {
        it.len() == 2 && it.iter().all(|it| it.spec.containers[0].image == "web:2")
    })
    .await;
    let sets: Api<ReplicaSet> = Api::namespaced(client.clone(), "default");
    let all = ListOptions::default();
    assert_eq!(
        sets.list(&all).await.expect("an answer").items.len(),
        2,
        "the old one is kept"
    );

    // Deleting it deletes everything.
    api.delete("web").await.expect("it is deleted");
    until_pods(&client, "no Pod is left", <[Pod]>::is_empty).await;
    until("no ReplicaSet is left", async || {
        sets.list(&all)
            .await
            .expect("an answer")
            .items
            .is_empty()
            .then_some(())
    })
    .await;
    server.shutdown().await;
}

#[tokio::test]
async fn recreation_ends_all_old_pods_first() {
    let server = server(true).await;
    let client = server.client();
    let api: Api<Deployment> = Api::namespaced(client.clone(), "default");
    let mut recreated = deployment(2, "web:1");
    recreated.spec.strategy.type_ = "Recreate".into();
    recreated.spec.revision_history_limit = Some(0);
    api.create(&recreated).await.expect("it is created");
    until_rolled_out(&client, 2).await;
    let image = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "web", "image": "web:2"},
    ]}}}});
    api.patch("web", &Patch::Strategic(image))
        .await
        .expect("it is changed");
    let pods = until_pods(&client, "the new Pods run", |it| {
        let images: Vec<_> = it.iter().map(|it| &*it.spec.containers[0].image).collect();
        assert!(
            !(images.contains(&"web:1") && images.contains(&"web:2")),
            "never both"
        );
        images == ["web:2", "web:2"]
    });
    assert_eq!(pods.await.len(), 2);
    until_rolled_out(&client, 2).await;
    let sets: Api<ReplicaSet> = Api::namespaced(client, "default");
    let all = ListOptions::default();
    until("old ReplicaSets are removed", async || {
        (sets.list(&all).await.expect("an answer").items.len() == 1).then_some(())
    })
    .await;
    server.shutdown().await;
}
