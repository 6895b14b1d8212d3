//! The garbage collector, the namespace controller and the sample controllers, against the server
//! in this process.

use std::time::Duration;

use kubist::api::apps::v1::{Deployment, ReplicaSet};
use kubist::api::core::v1::{ConfigMap, Namespace, Pod};
use kubist::apimachinery::{
    ApiResource, DeleteOptions, KubeObject, ListOptions, ObjectMeta, OwnerReference,
    PropagationPolicy, Resource, Unstructured,
};
use kubist::client::{Api, Client, Patch};
use kubist::{Server, ServerConfig};
use serde_json::json;
use tokio::time::{Instant, sleep};

const PATIENCE: Duration = Duration::from_secs(30);

async fn server(simulate: bool) -> Server {
    let config = ServerConfig {
        simulate,
        ..ServerConfig::default()
    };
    Server::start(config).await.expect("it starts")
}

/// Waits until a question is answered with something.
async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(begin.elapsed() < PATIENCE, "in vain: {what}");
        sleep(Duration::from_millis(10)).await;
    }
}

async fn until_gone<K: KubeObject>(api: &Api<K>, name: &str) {
    let what = format!("{} {name} is gone", K::KIND);
    until(&what, async || {
        api.get_opt(name)
            .await
            .expect("an answer")
            .is_none()
            .then_some(())
    })
    .await;
}

fn config_map(name: &str, owners: &[&ConfigMap], finalizers: &[&str]) -> ConfigMap {
    let reference = |owner: &&ConfigMap| OwnerReference {
        api_version: ConfigMap::API_VERSION.into(),
        kind: ConfigMap::KIND.into(),
        name: owner.metadata.name.clone(),
        uid: owner.metadata.uid.clone(),
        controller: None,
        block_owner_deletion: Some(true),
    };
    ConfigMap {
        metadata: ObjectMeta {
            name: name.into(),
            namespace: "default".into(),
            owner_references: owners.iter().map(reference).collect(),
            finalizers: finalizers.iter().map(|it| (*it).into()).collect(),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

async fn create(api: &Api<ConfigMap>, map: ConfigMap) -> ConfigMap {
    api.create(&map).await.expect("it is created")
}

async fn delete(api: &Api<ConfigMap>, name: &str, policy: PropagationPolicy) {
    let options = DeleteOptions::default().with_propagation(policy);
    api.delete_with(name, &options)
        .await
        .expect("it is deleted");
}

#[tokio::test]
async fn dependents_follow_their_owners_in_the_background() {
    let server = server(false).await;
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let owner = create(&api, config_map("owner", &[], &[])).await;
    let other = create(&api, config_map("other", &[], &[])).await;
    let child = create(&api, config_map("child", &[&owner], &[])).await;
    create(&api, config_map("grandchild", &[&child], &[])).await;
    create(&api, config_map("shared", &[&owner, &other], &[])).await;
    delete(&api, "owner", PropagationPolicy::Background).await;
    until_gone(&api, "child").await;
    until_gone(&api, "grandchild").await;
    let uids = until("the shared one loses its lost owner", async || {
        let owners = api
            .get("shared")
            .await
            .expect("it stays")
            .metadata
            .owner_references;
        (owners.len() == 1).then(|| owners[0].uid.clone())
    });
    assert_eq!(uids.await, other.metadata.uid);
    // An owner that never was: the server is asked, and the object goes.
    let mut stranger = owner;
    stranger.metadata.uid = "00000000-0000-0000-0000-000000000000".into();
    create(&api, config_map("of-a-stranger", &[&stranger], &[])).await;
    until_gone(&api, "of-a-stranger").await;
    server.shutdown().await;
}

#[tokio::test]
async fn an_owner_in_another_namespace_is_no_owner() {
    let server = server(false).await;
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let elsewhere: Api<ConfigMap> = Api::namespaced(server.client(), "kube-public");
    let owner = create(&api, config_map("owner", &[], &[])).await;
    create(&api, config_map("child", &[&owner], &[])).await;
    let mut stray = config_map("child", &[&owner], &[]);
    stray.metadata.namespace = "kube-public".into();
    create(&elsewhere, stray).await;
    until_gone(&elsewhere, "child").await;
    api.get("child").await.expect("it has its owner");
    api.get("owner").await.expect("nobody deleted it");
    server.shutdown().await;
}

#[tokio::test]
async fn objects_of_a_new_definition_are_collected_at_once() {
    use kubist::api::apiextensions::v1::CustomResourceDefinition;
    let server = server(false).await;
    let client = server.client();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object"},
            }}],
        },
    });
    let definition: CustomResourceDefinition =
        serde_json::from_value(definition).expect("it is valid");
    definitions
        .create(&definition)
        .await
        .expect("it is created");
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let owner = create(&maps, config_map("owner", &[], &[])).await;
    let resource = ApiResource {
        group: "example.com".into(),
        version: "v1".into(),
        kind: "Widget".into(),
        plural: "widgets".into(),
        singular: "widget".into(),
        namespaced: true,
    };
    let widgets: Api<Unstructured> = Api::dynamic_namespaced(client, &resource, "default");
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "ownerReferences": [{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": &*owner.metadata.uid,
        }]},
    });
    let begin = Instant::now();
    until("it is served", async || {
        let widget: Unstructured = serde_json::from_value(widget.clone()).expect("it is valid");
        widgets.create(&widget).await.ok()
    })
    .await;
    delete(&maps, "owner", PropagationPolicy::Background).await;
    until("the widget is gone", async || {
        let found = widgets.get_opt("w").await.expect("an answer");
        found.is_none().then_some(())
    })
    .await;
    let took = begin.elapsed();
    assert!(
        took < Duration::from_secs(10),
        "{took:?}: discovery is asked every 30 s"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_foreground_deletion_ends_after_its_dependents() {
    let server = server(false).await;
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let owner = create(&api, config_map("owner", &[], &[])).await;
    create(&api, config_map("child", &[&owner], &["example.com/hold"])).await;
    delete(&api, "owner", PropagationPolicy::Foreground).await;
    until("the child is being deleted", async || {
        api.get("child")
            .await
            .expect("it is held")
            .metadata
            .is_terminating()
            .then_some(())
    })
    .await;
    let owner = api.get("owner").await.expect("it waits");
    assert!(
        owner
            .metadata
            .finalizers
            .iter()
            .any(|it| *it == "foregroundDeletion")
    );
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    api.patch("child", &release).await.expect("it is let go");
    until_gone(&api, "child").await;
    until_gone(&api, "owner").await;
    server.shutdown().await;
}

#[tokio::test]
async fn an_orphaning_deletion_leaves_the_dependents() {
    let server = server(false).await;
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let owner = create(&api, config_map("owner", &[], &[])).await;
    create(&api, config_map("child", &[&owner], &[])).await;
    sleep(Duration::from_millis(100)).await; // dependents that the graph does not know are missed
    delete(&api, "owner", PropagationPolicy::Orphan).await;
    until_gone(&api, "owner").await;
    let child = api.get("child").await.expect("it stays");
    assert!(child.metadata.owner_references.is_empty());
    server.shutdown().await;
}

#[tokio::test]
async fn a_namespace_goes_with_everything_in_it() {
    let server = server(false).await;
    let namespaces: Api<Namespace> = Api::all(server.client());
    let mut namespace = Namespace::default();
    namespace.metadata.name = "shop".into();
    namespaces.create(&namespace).await.expect("it is created");
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "shop");
    for name in ["a", "b", "held"] {
        let finalizers: &[&str] = if name == "held" {
            &["example.com/hold"]
        } else {
            &[]
        };
        let mut map = config_map(name, &[], finalizers);
        map.metadata.namespace = "shop".into();
        create(&maps, map).await;
    }
    namespaces.delete("shop").await.expect("it is deleted");
    let message = until("the namespace says what remains", async || {
        let namespace = namespaces.get("shop").await.expect("it waits");
        assert_eq!(namespace.status.phase, "Terminating");
        let mut conditions = namespace.status.conditions.into_iter();
        conditions.find(|it| it.type_ == "NamespaceFinalizersRemaining" && it.status == "True")
    });
    assert!(message.await.message.contains("example.com/hold in 1"));
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("held", &release).await.expect("it is let go");
    until_gone(&namespaces, "shop").await;
    server.shutdown().await;
}

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
#[expect(
    clippy::too_many_lines,
    reason = "one life, told from its beginning to its end"
)]
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

    // A Pod that is killed is replaced.
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

    // Deleting it takes all.
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
