//! Custom resources, from their definition to its deletion.

mod built_in_conflicts;
mod changes;
mod checks;
mod conversions;
mod limits;
mod objects;
mod scales;
mod versions;

use crate::fixture::{Fixture, names, typed};
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_apimachinery::{
    AnyObject, DeleteOptions, ListOptions, PostOptions, ResourceVersion, Status,
};
use kubist_registry::{Created, Replacement, Rest, Stored};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::task::JoinSet;

const GROUP: &str = "example.com";

pub(crate) fn definition(plural: &str, kind: &str, versions: &Value) -> CustomResourceDefinition {
    let tree = json!({
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "names": {"plural": plural, "kind": kind},
            "scope": "Namespaced",
            "versions": versions,
        },
    });
    let mut definition = CustomResourceDefinition::default();
    let text = tree.to_string();
    merge_json(&mut definition, text.as_bytes(), &mut DecodeContext::new()).expect("it is valid");
    definition
}

pub(crate) fn versions() -> Value {
    let schema = json!({"openAPIV3Schema": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
    }});
    let mut with_color = schema.clone();
    with_color["openAPIV3Schema"]["properties"] = json!({"spec": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"color": {"type": "string"}},
    }});
    json!([
        {
            "name": "v1", "served": true, "storage": true, "schema": with_color,
            "subresources": {"status": {}, "scale": {
                "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            }},
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
            ],
            "selectableFields": [{"jsonPath": ".spec.color"}],
        },
        {"name": "v1beta1", "served": true, "storage": false, "schema": schema},
        {"name": "v1alpha1", "served": false, "storage": false, "schema": schema},
    ])
}

/// Returns a registry that follows definitions while the task lives.
async fn following() -> (Fixture, JoinSet<()>) {
    following_with(|_| ()).await
}

async fn following_with(
    set_up: impl FnOnce(&mut kubist_registry::RegistryConfig),
) -> (Fixture, JoinSet<()>) {
    let fixture = Fixture::with(set_up).await;
    let registry = fixture.registry.clone();
    let mut task = JoinSet::new();
    task.spawn(async move { registry.run_definitions().await });
    (fixture, task)
}

pub(crate) async fn until<T>(mut check: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..200 {
        if let Some(found) = check().await {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("it never comes");
}

pub(crate) async fn served(fixture: &Fixture, version: &str) -> Arc<Rest> {
    until(async || fixture.registry.resource(GROUP, version, "widgets")).await
}

async fn condition(fixture: &Fixture, name: &str, kind: &str) -> (String, String) {
    until(async || {
        let definition: CustomResourceDefinition = cluster_get(fixture, name).await.ok()?;
        let mut conditions = definition.status.conditions.into_iter();
        let found = conditions.find(|it| it.type_ == *kind)?;
        Some((found.status.to_string(), found.reason.to_string()))
    })
    .await
}

pub(crate) async fn cluster_get(
    fixture: &Fixture,
    name: &str,
) -> Result<CustomResourceDefinition, Status> {
    let rest = fixture.of::<CustomResourceDefinition>();
    let any = ResourceVersion::default();
    let got = rest.get(&fixture.cx(), "", name, &any).await?;
    Ok(typed(&got))
}

fn widget(rest: &Rest, tree: &Value) -> Box<dyn AnyObject> {
    let mut object = rest.kind().new_object().expect("it has metadata");
    let text = tree.to_string();
    merge_json(&mut *object, text.as_bytes(), &mut DecodeContext::new()).expect("it is JSON");
    object
}

pub(crate) async fn create(fixture: &Fixture, rest: &Rest, tree: &Value) -> Result<Value, Status> {
    let (cx, options) = (fixture.cx(), PostOptions::default());
    let created = rest.create(&cx, "default", "", widget(rest, tree), &options);
    match created.await? {
        Created::Object(stored) => Ok(shown(&stored)),
        Created::Status(status) => Err(*status),
    }
}

async fn put(fixture: &Fixture, rest: &Rest, tree: &Value) -> Result<Value, Status> {
    let (cx, options) = (fixture.cx(), PostOptions::default());
    let object = widget(rest, tree);
    let name = object.meta().name.clone();
    let new = Replacement(object);
    let updated = rest.update(&cx, "default", &name, &new, &options).await?;
    Ok(shown(&updated.object))
}

fn shown(stored: &Stored) -> Value {
    let json = stored.json().expect("it can be written");
    serde_json::from_slice(&json).expect("it is JSON")
}

#[tokio::test]
async fn a_definition_is_accepted_and_served_at_once() {
    let (fixture, task) = following().await;
    let answered: CustomResourceDefinition = fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    assert!(answered.status.conditions.is_empty());
    let accepted = condition(&fixture, "widgets.example.com", "NamesAccepted").await;
    assert_eq!(accepted, ("True".into(), "NoConflicts".into()));
    let established = condition(&fixture, "widgets.example.com", "Established").await;
    assert_eq!(established, ("True".into(), "InitialNamesAccepted".into()));

    // The resource is served once the condition is visible.
    let groups = fixture.registry.groups();
    let group = groups
        .iter()
        .find(|it| it.name == *GROUP)
        .expect("it is served");
    let of_group: Vec<&str> = group
        .versions
        .iter()
        .map(|it| it.version.as_str())
        .collect();
    assert_eq!(of_group, ["v1", "v1beta1"]);
    assert_eq!(group.preferred, "v1");
    let resource = group.versions[0].resource("widgets").expect("it is listed");
    assert_eq!(
        (
            resource.facts.singular,
            resource.facts.kind,
            resource.verbs.len()
        ),
        ("widget", "Widget", 8)
    );
    let parts: Vec<&str> = resource.subresources.iter().map(|it| it.0.name).collect();
    assert_eq!(parts, ["status", "scale"]);
    drop(task);
}

#[tokio::test]
async fn names_that_another_definition_has_are_refused_until_it_goes() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    served(&fixture, "v1").await;
    fixture
        .create(definition("gadgets", "Widget", &versions()))
        .await;
    let refused = condition(&fixture, "gadgets.example.com", "NamesAccepted").await;
    assert_eq!(refused.0, "False");
    let established = condition(&fixture, "gadgets.example.com", "Established").await;
    assert_eq!(established, ("False".into(), "NotAccepted".into()));
    assert!(fixture.registry.resource(GROUP, "v1", "gadgets").is_none());
    fixture
        .delete::<CustomResourceDefinition>("widgets.example.com", DeleteOptions::default())
        .await
        .expect("nothing is in the way");
    until(async || fixture.registry.resource(GROUP, "v1", "gadgets")).await;
    drop(task);
}

#[tokio::test]
async fn a_deleted_definition_takes_its_objects_along() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let rest = served(&fixture, "v1").await;
    let kept = json!({"metadata": {"name": "kept", "finalizers": ["x.io/y"]}});
    let kept = create(&fixture, &rest, &kept).await.expect("it is fine");
    create(&fixture, &rest, &json!({"metadata": {"name": "w"}}))
        .await
        .expect("it is fine");
    let deleted = fixture
        .delete::<CustomResourceDefinition>("widgets.example.com", DeleteOptions::default())
        .await
        .expect("it begins");
    assert!(!deleted.gone);
    let terminating = condition(&fixture, "widgets.example.com", "Terminating").await;
    assert_eq!(
        terminating,
        ("True".into(), "InstanceDeletionPending".into())
    );
    let (cx, all) = (fixture.cx(), ListOptions::default());
    until(async || {
        let page = rest.list(&cx, "default", &all).await.ok()?;
        (names(&page) == ["kept"]).then_some(())
    })
    .await;
    // No new objects are accepted, and the definition waits for objects with finalizers.
    let ending = served(&fixture, "v1").await;
    let refused = create(&fixture, &ending, &json!({"metadata": {"name": "n"}})).await;
    assert!(refused.is_err_and(|it| it.code == 405));
    let any = ResourceVersion::default();
    let freed = rest.get(&cx, "default", "kept", &any).await.expect("fine");
    let mut freed = shown(&freed);
    freed["metadata"]["finalizers"] = Value::Null;
    assert_eq!(freed["metadata"]["uid"], kept["metadata"]["uid"]);
    put(&fixture, &rest, &freed).await.expect("it is free");
    until(async || cluster_get(&fixture, "widgets.example.com").await.err()).await;
    until(async || {
        let found = fixture.registry.resource(GROUP, "v1", "widgets");
        found.is_none().then_some(())
    })
    .await;
    assert!(!fixture.registry.groups().iter().any(|it| it.name == *GROUP));
    drop(task);
}

#[tokio::test]
async fn a_registry_begins_with_what_is_defined_already() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    served(&fixture, "v1").await;
    condition(&fixture, "widgets.example.com", "Established").await;
    drop(task);
    let config = kubist_registry::RegistryConfig::new(
        Arc::new(fixture.kv.clone()),
        kubist_kinds::BuiltIn::shared(),
    );
    let second = kubist_registry::Registry::new(config);
    second.start().await.expect("all is there");
    assert!(second.resource(GROUP, "v1", "widgets").is_some());
}
