//! Creating objects.

use crate::fixture::{Fixture, START, config_map};
use kubist_api::apps::v1::Deployment;
use kubist_api::core::v1::{ConfigMap, Node, PersistentVolumeClaim};
use kubist_apimachinery::wire::{DecodeContext, FieldsV1, merge_json};
use kubist_apimachinery::{ManagedFieldsEntry, OwnerReference, Str, Time};
use std::any::Any;

#[tokio::test]
async fn the_server_sets_uid_time_and_version() {
    let fixture = Fixture::new().await;
    let mut object = config_map("a", "");
    object.metadata.uid = "mine".into();
    object.metadata.generation = 9;
    object.metadata.creation_timestamp = Some(Time::from_unix(1));
    object.metadata.deletion_timestamp = Some(Time::from_unix(2));
    object.metadata.deletion_grace_period_seconds = Some(3);
    object.metadata.self_link = "x".into();
    let created = fixture.create(object).await.metadata;
    assert_eq!(created.uid.len(), 36);
    assert_eq!(created.creation_timestamp, Some(Time::from_unix(START)));
    assert_eq!(
        (created.generation, &*created.self_link),
        (9, ""),
        "nobody counts here"
    );
    assert_eq!(
        (
            created.deletion_timestamp,
            created.deletion_grace_period_seconds
        ),
        (None, None)
    );
    assert!(
        created
            .resource_version
            .parse::<u64>()
            .is_ok_and(|it| it > 1)
    );
    assert_eq!(created.namespace, "default");
}

#[tokio::test]
async fn managed_fields_that_a_client_brings_are_kept_if_all_can_be_read() {
    let fixture = Fixture::new().await;
    let entry = |fields: &str| ManagedFieldsEntry {
        manager: "importer".into(),
        operation: "Update".into(),
        api_version: "v1".into(),
        fields_type: "FieldsV1".into(),
        fields_v1: Some(FieldsV1 { raw: fields.into() }),
        ..ManagedFieldsEntry::default()
    };
    let managers = |object: ConfigMap| -> Vec<Str> {
        let entries = object.metadata.managed_fields.iter();
        entries.map(|it| it.manager.clone()).collect()
    };
    let mut object = config_map("a", "l");
    object.metadata.managed_fields = vec![entry(r#"{"f:data":{"f:kept":{}}}"#)];
    let created = fixture.create(object.clone()).await;
    assert_eq!(managers(created), ["importer", "unknown"]);
    object.metadata.name = "b".into();
    object.metadata.managed_fields.push(entry("{"));
    let created = fixture.create(object).await;
    assert_eq!(managers(created), ["unknown"]);
}

#[tokio::test]
async fn a_prepared_object_has_the_fields_that_reads_add() {
    let fixture = Fixture::new().await;
    let rest = fixture.of::<PersistentVolumeClaim>();
    let claim = serde_json::json!({
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    });
    let mut object = PersistentVolumeClaim::default();
    let mut cx = DecodeContext::new();
    merge_json(&mut object, claim.to_string().as_bytes(), &mut cx).expect("it decodes");
    let prepared = rest.prepare_create(&fixture.cx(), Box::new(object));
    let prepared: Box<dyn Any> = prepared.expect("it is valid");
    let prepared = prepared.downcast_ref::<PersistentVolumeClaim>();
    assert_eq!(
        prepared.map(|it| &*it.status.phase),
        Some("Pending"),
        "the phase is not stored"
    );
}

#[tokio::test]
async fn a_name_is_taken_once() {
    let fixture = Fixture::new().await;
    fixture.create(config_map("a", "")).await;
    let status = fixture
        .try_create(config_map("a", ""))
        .await
        .expect_err("it is taken");
    assert_eq!(status.message, "configmaps \"a\" already exists");
    assert!(status.is_already_exists());
}

#[tokio::test]
async fn names_are_generated_on_demand() {
    let fixture = Fixture::new().await;
    let mut object = config_map("", "");
    object.metadata.generate_name = "gen-".into();
    let one = fixture.create(object.clone()).await.metadata.name;
    let two = fixture.create(object.clone()).await.metadata.name;
    assert!(one.starts_with("gen-") && one.len() == 9 && one != two);
    object.metadata.name = "named".into();
    assert_eq!(fixture.create(object.clone()).await.metadata.name, "named");
    let status = fixture.try_create(object).await.expect_err("it is taken");
    assert_eq!(
        status.message,
        "configmaps \"named\" already exists, the server was not able to generate a unique name \
         for the object"
    );
}

#[tokio::test]
async fn a_name_is_required_and_must_be_valid() {
    let fixture = Fixture::new().await;
    let status = fixture
        .try_create(config_map("", ""))
        .await
        .expect_err("no name");
    assert_eq!(
        status.message,
        "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"
    );
    assert_eq!((status.code, status.causes().len()), (422, 1));
    let status = fixture
        .try_create(config_map("A_", ""))
        .await
        .expect_err("bad name");
    assert_eq!(&*status.causes()[0].field, "metadata.name");
}

#[tokio::test]
async fn an_object_with_a_resource_version_is_not_new() {
    let fixture = Fixture::new().await;
    let mut object = config_map("a", "");
    object.metadata.resource_version = "5".into();
    let status = fixture
        .try_create(object)
        .await
        .expect_err("it was stored before");
    assert_eq!(status.code, 500, "as upstream");
}

#[tokio::test]
async fn the_namespace_is_that_of_the_request() {
    let fixture = Fixture::new().await;
    let mut object = config_map("a", "");
    object.metadata.namespace = "kube-system".into();
    let status = fixture
        .create_in("default", object, false)
        .await
        .expect_err("another one");
    assert_eq!(
        status.message,
        "the namespace of the provided object does not match the namespace sent on the request"
    );
    let mut node = Node::default();
    node.metadata.name = "n".into();
    node.metadata.namespace = "default".into();
    let node = fixture
        .create_in("", node, false)
        .await
        .expect("it has none");
    assert_eq!(node.object().expect("readable").meta().namespace, "");
}

#[tokio::test]
async fn a_dry_run_checks_and_stores_nothing() {
    let fixture = Fixture::new().await;
    let before = fixture.kv.stats().revision;
    let dry = fixture
        .create_in("default", config_map("a", ""), true)
        .await;
    let dry = dry.expect("it is valid");
    let meta = dry.object().expect("readable").meta().clone();
    assert_eq!((&*meta.resource_version, meta.uid.len()), ("", 36));
    assert_eq!(fixture.kv.stats().revision, before);
    assert!(
        fixture
            .get::<ConfigMap>("a")
            .await
            .is_err_and(|it| it.is_not_found())
    );
    fixture.create(config_map("a", "")).await;
    let dry = fixture
        .create_in("default", config_map("a", ""), true)
        .await;
    assert!(dry.is_err_and(|it| it.is_already_exists()));
}

#[tokio::test]
async fn the_status_of_a_new_object_is_not_the_users() {
    let fixture = Fixture::new().await;
    let mut object = crate::update::deployment("d");
    object.status.replicas = 9;
    let created: Deployment = fixture.create(object).await;
    assert_eq!(
        (created.status.replicas, created.metadata.generation),
        (0, 1)
    );
}

#[tokio::test]
async fn an_owner_is_named_once() {
    let fixture = Fixture::new().await;
    let owner = OwnerReference {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        name: "o".into(),
        uid: "u".into(),
        ..OwnerReference::default()
    };
    let mut object = config_map("a", "");
    let other = OwnerReference {
        kind: "Secret".into(),
        ..owner.clone()
    };
    object.metadata.owner_references = vec![owner.clone(), owner.clone(), other, owner];
    let cx = fixture.cx();
    let rest = fixture.of::<ConfigMap>();
    let options = kubist_apimachinery::PostOptions::default();
    rest.create(&cx, "default", "", Box::new(object), &options)
        .await
        .expect("it is valid");
    let warnings = cx.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].ends_with("duplicate UID(s) observed: u, u"));
    let stored: ConfigMap = fixture.get("a").await.expect("it exists");
    let owners = stored.metadata.owner_references.iter();
    let owners: Vec<&str> = owners.map(|it| it.kind.as_str()).collect();
    assert_eq!(owners, ["ConfigMap", "Secret"]);
}
