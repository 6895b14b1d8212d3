//! The garbage collector: dependents and their owners.

use std::time::Duration;

use kubist::api::core::v1::{ConfigMap, Secret};
use kubist::apimachinery::{ApiResource, DeleteOptions, PropagationPolicy, Unstructured};
use kubist::client::{Api, Patch};
use serde_json::json;
use tokio::time::Instant;

use super::{config_map, create, server, until, until_gone};

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
    // An owner that never existed: the server is asked, and the object is deleted.
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
    let secrets: Api<Secret> = Api::namespaced(server.client(), "default");
    // The collector may learn of the deletion before it learns of the dependents.
    for round in 0..30 {
        let name = format!("owner-{round}");
        let owner = create(&api, config_map(&name, &[], &[])).await;
        let children = ["first", "second"].map(|it| format!("{it}-{round}"));
        for child in &children {
            let secret = Secret {
                metadata: config_map(child, &[&owner], &[]).metadata,
                ..Secret::default()
            };
            secrets.create(&secret).await.expect("it is created");
        }
        delete(&api, &name, PropagationPolicy::Orphan).await;
        until_gone(&api, &name).await;
        for child in &children {
            until("it is left without an owner", async || {
                let child = secrets.get(child).await.expect("it stays");
                child.metadata.owner_references.is_empty().then_some(())
            })
            .await;
        }
    }
    server.shutdown().await;
}
