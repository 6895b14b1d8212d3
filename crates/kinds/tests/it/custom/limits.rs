//! Definitions that exceed their memory limit, and the deletion of definitions that are not served.

use super::*;
use kubist_api::apiextensions::v1::CustomResourceColumnDefinition;
use kubist_storage::{DeleteRequest, Expected, PutRequest};
use kubist_storage::{KvRead, KvWrite};
use std::time::Duration;

/// Gives a definition one column, with retries after conflicting writes.
async fn set_column(fixture: &Fixture, name: &str, column: &str, description: &str) -> i64 {
    loop {
        let mut definition = cluster_get(fixture, name).await.expect("it is there");
        let version = &mut definition.spec.versions[0];
        version.additional_printer_columns = vec![CustomResourceColumnDefinition {
            name: column.into(),
            type_: "string".into(),
            json_path: ".spec.x".into(),
            description: description.into(),
            ..CustomResourceColumnDefinition::default()
        }];
        match fixture.put(definition).await {
            Err(status) if status.is_conflict() => {}
            changed => {
                let changed: CustomResourceDefinition = typed(&changed.expect("fine").object);
                return changed.metadata.generation;
            }
        }
    }
}

/// Returns the observed generation of a definition that is refused for lack of room.
async fn not_served(fixture: &Fixture, name: &str) -> Option<i64> {
    let definition = cluster_get(fixture, name).await.ok()?;
    let mut conditions = definition.status.conditions.into_iter();
    let found = conditions.find(|it| it.type_ == "ServedAsDefined")?;
    assert_eq!((&*found.status, &*found.reason), ("False", "NoRoom"));
    Some(found.observed_generation)
}

/// Returns the columns of a served resource.
fn columns(fixture: &Fixture, plural: &str) -> Vec<&'static str> {
    let rest = fixture.registry.resource(GROUP, "v1", plural);
    let facts = rest.expect("it is served").facts();
    facts.columns.iter().map(|it| it.name).collect()
}

async fn shows(fixture: &Fixture, plural: &str, column: &str) {
    until(async || (columns(fixture, plural) == ["Name", column]).then_some(())).await;
}

#[tokio::test]
async fn a_definition_that_has_used_up_its_room_is_served_as_before_and_others_as_they_are() {
    let (fixture, task) = following().await;
    let (hogs, name) = (definition("hogs", "Hog", &versions()), "hogs.example.com");
    fixture.create(hogs).await;
    fixture
        .create(definition("honests", "Honest", &versions()))
        .await;
    until(async || fixture.registry.resource(GROUP, "v1", "honests")).await;
    // Column descriptions are not kept forever, so they use up no room.
    for number in 0..4 {
        let column = format!("C{number}");
        set_column(&fixture, name, &column, &"d".repeat(300 << 10)).await;
        shows(&fixture, "hogs", &column).await;
    }
    let mut generation = 0;
    for number in 0..6 {
        let column = format!("{number}{}", "x".repeat(100 << 10));
        generation = set_column(&fixture, name, &column, "").await;
        until(async || {
            let is_served = columns(&fixture, "hogs") == ["Name", &column];
            let is_told = not_served(&fixture, name).await == Some(generation);
            (is_served || is_told).then_some(())
        })
        .await;
    }
    assert_eq!(not_served(&fixture, name).await, Some(generation));
    let established = condition(&fixture, name, "Established").await;
    assert_eq!(established.0, "True", "it is served as it was");
    let rest = fixture.registry.resource(GROUP, "v1", "hogs");
    let rest = rest.expect("it is served");
    let object = json!({"metadata": {"name": "o"}});
    create(&fixture, &rest, &object).await.expect("it is fine");
    set_column(&fixture, "honests.example.com", "Phase", "").await;
    shows(&fixture, "honests", "Phase").await;
    // A column that was served before takes no additional room.
    set_column(&fixture, name, "C1", &"d".repeat(300 << 10)).await;
    shows(&fixture, "hogs", "C1").await;
    until(async || not_served(&fixture, name).await.is_none().then_some(())).await;
    drop(task);
}

#[tokio::test]
async fn the_objects_of_a_definition_that_is_not_served_go_before_it_does() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("gadgets", "Ghost", &versions()))
        .await;
    until(async || fixture.registry.resource(GROUP, "v1", "gadgets")).await;
    for (name, finalizers) in [("o", json!([])), ("kept", json!(["x.io/y"]))] {
        let tree = json!({
            "apiVersion": "example.com/v1", "kind": "Ghost",
            "metadata": {"name": name, "namespace": "default", "uid": name,
                "finalizers": finalizers},
        });
        let key = format!("/registry/example.com/ghosts/default/{name}");
        let put = PutRequest::new(key, tree.to_string(), Expected::Any);
        fixture.kv.put(put).await.expect("it answers");
    }
    let name = "ghosts.example.com";
    // Its kind is already in use.
    fixture
        .create(definition("ghosts", "Ghost", &versions()))
        .await;
    let established = condition(&fixture, name, "Established").await;
    assert_eq!(established.1, "NotAccepted");
    fixture
        .delete::<CustomResourceDefinition>(name, DeleteOptions::default())
        .await
        .expect("it begins");
    let stored = async |object: &str| {
        let key = format!("/registry/example.com/ghosts/default/{object}");
        let found = fixture.kv.get(key.as_bytes(), None).await;
        found.expect("it answers").kv
    };
    until(async || stored("o").await.is_none().then_some(())).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let waits = cluster_get(&fixture, name).await.expect("it waits");
    assert!(waits.metadata.is_terminating() && !waits.metadata.finalizers.is_empty());
    let key = "/registry/example.com/ghosts/default/kept";
    let delete = DeleteRequest::new(key, Expected::Any);
    fixture.kv.delete(delete).await.expect("it answers");
    until(async || cluster_get(&fixture, name).await.err()).await;
    drop(task);
}

#[tokio::test]
async fn objects_that_cannot_be_deleted_are_in_the_way_of_no_other_definition() {
    let (fixture, task) = following().await;
    for (plural, kind) in [("aas", "Aa"), ("bees", "Bee")] {
        fixture.create(definition(plural, kind, &versions())).await;
        until(async || fixture.registry.resource(GROUP, "v1", plural)).await;
    }
    let key = "/registry/example.com/aas/default/broken";
    let put = PutRequest::new(key, "not JSON", Expected::Any);
    fixture.kv.put(put).await.expect("it answers");
    for name in ["aas.example.com", "bees.example.com"] {
        fixture
            .delete::<CustomResourceDefinition>(name, DeleteOptions::default())
            .await
            .expect("it begins");
    }
    until(async || cluster_get(&fixture, "bees.example.com").await.err()).await;
    until(async || {
        let (_, why) = condition(&fixture, "aas.example.com", "Terminating").await;
        (why == "InstanceDeletionFailed").then_some(())
    })
    .await;
    drop(task);
}

/// The loop begins with what is served: after a restart of the server, and after its watch was
/// down.
#[tokio::test]
async fn nothing_that_was_served_outlives_its_definition() {
    let (fixture, mut task) = following().await;
    let widgets = definition("widgets", "Widget", &versions());
    fixture.create(widgets).await;
    let rest = Arc::downgrade(&served(&fixture, "v1").await);
    task.shutdown().await;
    let registry = fixture.registry.clone();
    task.spawn(async move { registry.run_definitions().await });
    let gadgets = definition("gadgets", "Gadget", &versions());
    fixture.create(gadgets).await;
    until(async || fixture.registry.resource(GROUP, "v1", "gadgets")).await;
    assert!(rest.upgrade().is_some());
    let deleted = fixture
        .delete::<CustomResourceDefinition>("widgets.example.com", DeleteOptions::default())
        .await;
    deleted.expect("it begins");
    until(async || rest.upgrade().is_none().then_some(())).await;
}
