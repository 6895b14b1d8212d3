//! `StorageVersionMigration`s, and the controller that does what they ask for.

use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::api::core::v1::ConfigMap;
use kubist::api::storagemigration::v1beta1::StorageVersionMigration;
use kubist::apimachinery::{ApiResource, GroupResource, Unstructured};
use kubist::client::{Api, Client};
use kubist::{Controller, Server, ServerConfig};
use kubist_storage::memory::{self, MemoryKv, TokioClock};
use kubist_storage::{Expected, KvRead as _, KvWrite as _, PutRequest};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const GROUP: &str = "example.com";
/// More than a page of a list.
const COUNT: usize = 510;
const PATIENCE: Duration = Duration::from_secs(60);

async fn server(store: MemoryKv) -> Server {
    let config = ServerConfig {
        controllers: [Controller::StorageVersionMigrator].into(),
        runtime_config: "storagemigration.k8s.io/v1beta1=true".parse().unwrap(),
        store: Some(store),
        ..ServerConfig::default()
    };
    Server::start(config).await.unwrap()
}

/// A definition that stores one of two versions.
fn definition(stored: &str) -> CustomResourceDefinition {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = |name: &str| {
        json!({
            "name": name, "served": true, "storage": name == stored,
            "schema": {"openAPIV3Schema": schema},
        })
    };
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "versions": [version("v1"), version("v2")],
            "names": {"plural": "widgets", "kind": "Widget"},
        },
    }))
    .unwrap()
}

fn widgets(client: &Client) -> Api<Unstructured> {
    let resource = ApiResource {
        group: GROUP.into(),
        version: "v1".into(),
        kind: "Widget".into(),
        plural: "widgets".into(),
        singular: "widget".into(),
        namespaced: true,
    };
    Api::dynamic_namespaced(client.clone(), &resource, "default")
}

fn migration(name: &str, resource: &str) -> StorageVersionMigration {
    let mut migration = StorageVersionMigration::default();
    migration.metadata.name = name.into();
    let of = GroupResource::new(GROUP, resource);
    migration.spec.resource.group = of.group;
    migration.spec.resource.resource = of.resource;
    migration
}

/// Waits until a migration no longer runs, and returns its conditions.
async fn ended(api: &Api<StorageVersionMigration>, name: &str) -> Vec<(String, String)> {
    let ended = async {
        loop {
            let found = api.get(name).await.unwrap();
            let all = found.status.conditions.iter();
            let all: Vec<_> = all
                .map(|it| (it.type_.to_string(), it.status.to_string()))
                .collect();
            if all.contains(&("Running".to_owned(), "False".to_owned())) {
                return all;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, ended).await.expect("it ends")
}

fn conditions(all: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
    all.iter().map(owned).collect()
}

/// Creates so many widgets in their first version, and returns their names.
async fn create_widgets(client: &Client, count: usize) -> Vec<String> {
    let widgets = widgets(client);
    let mut names = Vec::new();
    for number in 0..count {
        let name = format!("w-{number:03}");
        let widget = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": "Widget",
            "metadata": {"name": name}, "spec": {"number": number},
        });
        let widget = Unstructured {
            object: widget.as_object().unwrap().clone(),
        };
        let made = async {
            while let Err(error) = widgets.create(&widget).await {
                assert!(error.is_not_found(), "{error}");
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, made).await.expect("it is served");
        names.push(name);
    }
    names
}

/// From now on, widgets are stored in this version.
async fn store_as(
    definitions: &Api<CustomResourceDefinition>,
    version: &str,
) -> CustomResourceDefinition {
    let mut changed = definition(version);
    let found = definitions.get(&changed.metadata.name).await.unwrap();
    changed.metadata.resource_version = found.metadata.resource_version;
    definitions.replace(&changed).await.unwrap()
}

/// Where a widget is stored.
fn key(name: &str) -> String {
    format!("/registry/{GROUP}/widgets/default/{name}")
}

/// The versions in which the objects are stored, in order of their names.
async fn stored(store: &MemoryKv, names: &[String]) -> Vec<String> {
    let mut versions = Vec::new();
    for name in names {
        let kv = store
            .get(key(name).as_bytes(), None)
            .await
            .unwrap()
            .kv
            .unwrap();
        let value: Value = serde_json::from_slice(&kv.value).unwrap();
        versions.push(value["apiVersion"].as_str().unwrap().to_owned());
    }
    versions
}

#[tokio::test]
async fn all_objects_of_a_resource_are_stored_in_its_new_version() {
    let store = MemoryKv::default();
    let server = server(store.clone()).await;
    let client = server.client();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let created = definitions.create(&definition("v1")).await.unwrap();
    let names = create_widgets(&client, COUNT).await;
    store_as(&definitions, "v2").await;
    let before = stored(&store, &names).await;
    assert!(before.iter().all(|it| *it == format!("{GROUP}/v1")));

    let migrations: Api<StorageVersionMigration> = Api::all(client);
    for name in ["first", "second"] {
        migrations
            .create(&migration(name, "widgets"))
            .await
            .unwrap();
    }
    let expected = conditions(&[("Running", "False"), ("Succeeded", "True")]);
    assert_eq!(ended(&migrations, "first").await, expected);
    let after = stored(&store, &names).await;
    assert!(after.iter().all(|it| *it == format!("{GROUP}/v2")));
    assert_eq!(ended(&migrations, "second").await, expected);

    let definition = definitions.get(&created.metadata.name).await.unwrap();
    assert_eq!(definition.status.stored_versions, ["v2"]);
    check_deleted(&definitions, &migrations, &definition).await;
    let definition = definitions.get(&created.metadata.name).await.unwrap();
    let mut all = definition.status.conditions.iter();
    let migrating = all.find(|it| it.type_ == "StorageMigrating").unwrap();
    assert_eq!(
        (&*migrating.status, &*migrating.reason, &*migrating.message),
        ("False", "MigrationFailed", "The migration was deleted")
    );
    server.shutdown().await;
}

/// A migration that is deleted while it runs takes no stored version away, and its definition says
/// that none runs.
async fn check_deleted(
    definitions: &Api<CustomResourceDefinition>,
    migrations: &Api<StorageVersionMigration>,
    last: &CustomResourceDefinition,
) {
    let changed = store_as(definitions, "v1").await;
    assert_eq!(changed.status.stored_versions, ["v2", "v1"]);
    migrations
        .create(&migration("third", "widgets"))
        .await
        .unwrap();
    let status = |definition: &CustomResourceDefinition| {
        let mut all = definition.status.conditions.iter();
        let found = all.find(|it| it.type_ == "StorageMigrating");
        found.map(|it| it.status.to_string())
    };
    let mut deleted = false;
    let ended = async {
        loop {
            let found = definitions.get(&last.metadata.name).await.unwrap();
            assert_eq!(found.status.stored_versions, ["v2", "v1"]);
            let running = status(&found) == Some("True".to_owned());
            if running && !deleted {
                migrations.delete("third").await.unwrap();
                deleted = true;
            } else if deleted && !running {
                return;
            }
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PATIENCE, ended).await.expect("it ends");
}

#[tokio::test]
async fn migrations_say_what_they_are_and_what_is_wrong_with_them() {
    let server = server(MemoryKv::default()).await;
    let migrations: Api<StorageVersionMigration> = Api::all(server.client());
    let error = migrations.create(&migration("a", "")).await.unwrap_err();
    let said = "spec.resource.resource: Required value: resource is required to be set";
    assert!(error.to_string().contains(said), "{error}");

    let mut made = migrations.create(&migration("a", "none")).await.unwrap();
    let running = async {
        while made.status.conditions.is_empty() {
            sleep(Duration::from_millis(10)).await;
            made = migrations.get("a").await.unwrap();
        }
    };
    timeout(PATIENCE, running).await.expect("it runs");
    let mut other = made.clone();
    other.spec.resource.resource = "other".into();
    let error = migrations.replace(&other).await.unwrap_err();
    let said = "spec: Invalid value: {\"resource\":{\"group\":\"example.com\",\"resource\":\"other\"}}: field is immutable";
    assert!(error.to_string().contains(said), "{error}");
    server.shutdown().await;
}

/// Objects that are stored as they should be stay as they are, so no attempt would come further
/// than the one before.
#[tokio::test]
async fn a_migration_that_is_slower_than_history_ends_at_its_first_attempt() {
    let few = memory::Config {
        history_events_max: 20,
        ..memory::Config::default()
    };
    let server = server(MemoryKv::new(few, Arc::new(TokioClock::start()))).await;
    let client = server.client();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&definition("v1")).await.unwrap();
    create_widgets(&client, COUNT).await;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let writes = async {
        for number in 0_u64.. {
            let mut map = ConfigMap::default();
            map.metadata.name = "busy".into();
            map.data.insert("number".into(), number.to_string().into());
            if number == 0 {
                maps.create(&map).await.unwrap();
            } else {
                maps.replace(&map).await.unwrap();
            }
        }
    };
    let migrations: Api<StorageVersionMigration> = Api::all(client);
    migrations
        .create(&migration("slow", "widgets"))
        .await
        .unwrap();
    let ended = tokio::select! {
        ended = ended(&migrations, "slow") => ended,
        () = writes => unreachable!("it has no end"),
    };
    let expected = conditions(&[("Running", "False"), ("Succeeded", "True")]);
    assert_eq!(ended, expected);
    let found = migrations.get("slow").await.unwrap();
    let conditions = found.status.conditions.iter();
    let mut messages = conditions.map(|it| it.message.as_str());
    assert!(messages.all(|it| !it.contains("failed")), "{found:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_migration_that_gets_no_further_says_why() {
    let server = server(MemoryKv::default()).await;
    let client = server.client();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let created = definitions.create(&definition("v1")).await.unwrap();
    create_widgets(&client, 1).await;
    let mut changed = definitions.get(&created.metadata.name).await.unwrap();
    for version in &mut changed.spec.versions {
        version.storage = version.name == "v2";
    }
    let conversion = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/x"},
    }});
    changed.spec.conversion = Some(serde_json::from_value(conversion).unwrap());
    definitions.replace(&changed).await.unwrap();
    let migrations: Api<StorageVersionMigration> = Api::all(client);
    migrations
        .create(&migration("stuck", "widgets"))
        .await
        .unwrap();
    let said = async {
        loop {
            let found = migrations.get("stuck").await.unwrap();
            let running = found.status.conditions.first();
            let message = running.map_or("", |it| &it.message);
            if message.contains("the last attempt failed: ") {
                break message.to_owned();
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    let said = timeout(PATIENCE, said).await.expect("it says something");
    assert!(
        said.contains("conversion webhook for example.com/v1, Kind=Widget failed"),
        "{said}"
    );
    server.shutdown().await;
}

/// What cannot be read does not become readable by itself, so nothing is tried again.
#[tokio::test]
async fn a_migration_ends_at_an_object_that_cannot_be_read() {
    let store = MemoryKv::default();
    let server = server(store.clone()).await;
    let client = server.client();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let created = definitions.create(&definition("v1")).await.unwrap();
    let names = create_widgets(&client, 3).await;
    store_as(&definitions, "v2").await;
    let garbage = PutRequest::new(key(&names[1]), "not an object", Expected::Any);
    store.put(garbage).await.unwrap();

    let migrations: Api<StorageVersionMigration> = Api::all(client);
    migrations
        .create(&migration("stopped", "widgets"))
        .await
        .unwrap();
    let expected = conditions(&[("Running", "False"), ("Failed", "True")]);
    assert_eq!(ended(&migrations, "stopped").await, expected);
    let found = migrations.get("stopped").await.unwrap();
    let failed = found
        .status
        .conditions
        .iter()
        .find(|it| it.type_ == "Failed")
        .unwrap();
    assert!(failed.message.contains(&names[1]), "{failed:?}");
    let definition = definitions.get(&created.metadata.name).await.unwrap();
    assert_eq!(definition.status.stored_versions, ["v1", "v2"]);
    server.shutdown().await;
}
