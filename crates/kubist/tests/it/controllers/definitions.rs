//! The garbage collector: resources that are added and removed with their definitions.

use std::time::Duration;

use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{ApiResource, Unstructured};
use kubist::client::{Api, Client};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::{config_map, create, server, until, until_gone};
use crate::connection_problems::Recording;

const NAME: &str = "hooks.example.com";

async fn define(client: &Client) {
    define_as(client, "hooks", "Hook").await;
}

async fn define_as(client: &Client, plural: &str, kind: &str) {
    let definition = json!({
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object"},
            }}],
        },
    });
    let definition: CustomResourceDefinition =
        serde_json::from_value(definition).expect("it is valid");
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let created = definitions.create(&definition).await;
    created.expect("it is created");
}

/// Creates an object whose owner does not exist. It is collected, so its resource is watched.
async fn is_followed(client: &Client, name: &str) {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let owner = create(&maps, config_map(name, &[], &[])).await;
    let hook = json!({
        "apiVersion": "example.com/v1", "kind": "Hook",
        "metadata": {"name": name, "ownerReferences": [{
            "apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": &*owner.metadata.uid,
        }]},
    });
    let resource = ApiResource {
        group: "example.com".into(),
        version: "v1".into(),
        kind: "Hook".into(),
        plural: "hooks".into(),
        singular: "hook".into(),
        namespaced: true,
    };
    let hooks: Api<Unstructured> = Api::dynamic_namespaced(client.clone(), &resource, "default");
    until("it is served", async || {
        let hook: Unstructured = serde_json::from_value(hook.clone()).expect("it is valid");
        hooks.create(&hook).await.ok()
    })
    .await;
    maps.delete(name).await.expect("it is deleted");
    until("the object is collected", async || {
        let found = hooks.get_opt(name).await.expect("an answer");
        found.is_none().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_definition_that_goes_is_no_problem_for_the_log_and_one_that_comes_again_is_followed() {
    let recording = Recording::begin();
    let server = server(false).await;
    let client = server.client();
    define(&client).await;
    is_followed(&client, "first").await;

    undefine(&client).await;
    let warnings = recording.warnings_of("hooks");
    assert_eq!(warnings, Vec::<String>::new());

    define(&client).await;
    is_followed(&client, "second").await;
    server.shutdown().await;
}

/// Deletes the definition, and waits until its watch has ended and the list after it returned 404.
async fn undefine(client: &Client) -> Api<CustomResourceDefinition> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.delete(NAME).await.expect("it is deleted");
    until_gone(&definitions, NAME).await;
    sleep(Duration::from_millis(1_500)).await;
    definitions
}

/// Every watch of a kind is a task of an informer, one of its handler, and two of its stream.
#[tokio::test]
async fn no_task_outlives_its_definition() {
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let server = server(false).await;
    let client = server.client();
    // What the first definition starts, such as connections, stays.
    define(&client).await;
    is_followed(&client, "first").await;
    let definitions = undefine(&client).await;

    let before = tasks();
    let names: Vec<String> = (0..8).map(|it| format!("toys{it}")).collect();
    for name in &names {
        define_as(&client, name, &format!("Toy{}", &name[4..])).await;
    }
    let followed = before + 2 * names.len();
    until("they are watched", async || {
        (tasks() >= followed).then_some(())
    })
    .await;
    for name in &names {
        let name = format!("{name}.example.com");
        definitions.delete(&name).await.expect("it is deleted");
        until_gone(&definitions, &name).await;
    }
    until("their tasks end", async || {
        (tasks() <= before).then_some(())
    })
    .await;
    server.shutdown().await;
}
