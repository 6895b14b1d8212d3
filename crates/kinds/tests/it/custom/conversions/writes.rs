//! Writes in every version: metadata, subresources, deletion and field ownership.

use super::*;
use kubist_api::autoscaling::v1::Scale;

#[tokio::test]
async fn metadata_other_than_labels_and_annotations_is_that_of_the_original() {
    let world = World::new().await;
    let created = world.create(&world.v1, "a", &json!({"size": 1})).await;
    world.script.change(|answer| {
        for object in answer["response"]["convertedObjects"]
            .as_array_mut()
            .expect("it is")
        {
            let meta = &mut object["metadata"];
            meta["labels"] = json!({"l": "1"});
            meta["annotations"] = json!({"a": "1"});
            meta["finalizers"] = json!(["example.com/x"]);
            meta["generation"] = 99.into();
            meta["resourceVersion"] = "99".into();
            meta["ownerReferences"] = Value::Null;
        }
    });
    let got = world.get(&world.beta, "a").await.expect("it is fine");
    let mut expected = created["metadata"].clone();
    expected["labels"] = json!({"l": "1"});
    expected["annotations"] = json!({"a": "1"});
    assert_eq!(got["metadata"], expected);
}

#[tokio::test]
async fn subresources_are_those_of_the_version() {
    let world = World::new().await;
    world.create(&world.v1, "a", &json!({"size": 1})).await;
    let status = world.beta.subresource("status").expect("it has one");
    let mut change = world.get(&world.beta, "a").await.expect("it is there");
    change["status"] = json!({"replicas": 7});
    change["spec"]["dimension"] = "100".into();
    let updated = put(&world.fixture, &status, &change)
        .await
        .expect("it is fine");
    assert_eq!(updated["status"], json!({"replicas": 7}));
    assert_eq!(updated["spec"], json!({"dimension": "1"}));
    assert_eq!(world.stored("a").await["spec"], json!({"size": 1}));
    assert_eq!(world.stored("a").await["status"], json!({"replicas": 7}));
    let (cx, any) = (world.fixture.cx(), ResourceVersion::default());
    let scale = world.v1.subresource("scale").expect("it has one");
    let got: Scale = typed(
        &scale
            .get(&cx, "default", "a", &any)
            .await
            .expect("it is fine"),
    );
    assert_eq!((got.spec.replicas, got.status.replicas), (1, 7));
    // The path of this version does not exist in its objects.
    let scale = world.beta.subresource("scale").expect("it has one");
    let status = scale
        .get(&cx, "default", "a", &any)
        .await
        .expect_err("it has none");
    assert!(status.message.contains(".spec.replicas"), "{status:?}");
}

#[tokio::test]
async fn a_collection_is_deleted_in_any_version() {
    let world = World::new().await;
    for name in ["a", "b"] {
        world.create(&world.v1, name, &json!({"size": 1})).await;
    }
    let (cx, all) = (world.fixture.cx(), ListOptions::default());
    let gone = DeleteOptions::default();
    let deleted = world.beta.delete_collection(&cx, "default", &all, &gone);
    let deleted = deleted.await.expect("it is fine");
    let versions: Vec<_> = deleted
        .items
        .iter()
        .map(|it| shown(it)["apiVersion"].clone())
        .collect();
    assert_eq!(versions, [BETA, BETA]);
    assert_eq!(
        world.list(&world.v1, "").await.expect("fine"),
        [] as [Value; 0]
    );
}

#[tokio::test]
async fn an_object_with_finalizers_is_removed_by_its_last_update() {
    let world = World::new().await;
    let object = json!({
        "metadata": {"name": "a", "finalizers": ["example.com/f"]}, "spec": {"dimension": "1"},
    });
    create(&world.fixture, &world.beta, &object)
        .await
        .expect("it is fine");
    let gone = DeleteOptions::default();
    let deleted = world
        .beta
        .delete(&world.fixture.cx(), "default", "a", &gone)
        .await;
    assert!(!deleted.expect("it begins").gone);
    let mut last = world.get(&world.beta, "a").await.expect("it is there");
    last["metadata"]["finalizers"] = json!([]);
    let answered = put(&world.fixture, &world.beta, &last)
        .await
        .expect("it is fine");
    assert_eq!(answered["apiVersion"], BETA);
    assert_eq!(answered["spec"], json!({"dimension": "1"}));
    assert!(world.get(&world.v1, "a").await.is_err());
}

#[tokio::test]
async fn fields_are_owned_in_the_version_of_their_manager() {
    let world = World::new().await;
    let options = |manager: &str| PostOptions {
        field_manager: manager.into(),
        ..PostOptions::default()
    };
    let cx = world.fixture.cx();
    let object = json!({"metadata": {"name": "a"}, "spec": {"size": 1, "color": "red"}});
    let body = widget(&world.v1, &object);
    world
        .v1
        .create(&cx, "default", "", body, &options("first"))
        .await
        .expect("it is fine");
    let mut change = world.get(&world.beta, "a").await.expect("it is there");
    change["spec"]["dimension"] = "2".into();
    let new = Replacement(widget(&world.beta, &change));
    let second = options("second");
    let updated = world.beta.update(&cx, "default", "a", &new, &second);
    let updated = shown(&updated.await.expect("it is fine").object);
    let owned = |manager: &str| {
        let entries = updated["metadata"]["managedFields"]
            .as_array()
            .expect("there are some");
        let found = entries
            .iter()
            .find(|it| it["manager"] == manager)
            .expect("it is there");
        (
            found["apiVersion"].clone(),
            found["fieldsV1"]["f:spec"].clone(),
        )
    };
    assert_eq!(owned("second"), (BETA.into(), json!({"f:dimension": {}})));
    // In its own version, the value that the first has set has changed.
    assert_eq!(
        owned("first"),
        ("example.com/v1".into(), json!({".": {}, "f:color": {}}))
    );
}
