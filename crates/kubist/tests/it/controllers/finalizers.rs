//! Finalizers and adoption, with the writes on a server.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{ObjectMeta, Selector};
use kubist::client::{Api, Client};
use kubist::controller::{
    Action, ControllerRefManager, Error, Finalizer, FinalizerEvent, controller_reference,
};

use super::{config_map, create, server};

const NAME: &str = "example.com/bucket";

fn maps(client: &Client) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), "default")
}

/// What a call told its reconciler, and what came of it.
async fn reconcile(
    maps: &Api<ConfigMap>,
    map: ConfigMap,
    action: Result<Action, Error>,
) -> (Vec<String>, Result<Action, Error>) {
    let told = RefCell::new(Vec::new());
    let finalizer = Finalizer::new(NAME);
    let result = finalizer.reconcile(maps, Arc::new(map), |event| {
        let (what, map) = match &event {
            FinalizerEvent::Apply(map) => ("apply", map),
            FinalizerEvent::Cleanup(map) => ("cleanup", map),
        };
        let names = map.metadata.finalizers.join(",");
        told.borrow_mut().push(format!("{what} {names}"));
        std::future::ready(action)
    });
    let result = result.await;
    (told.into_inner(), result)
}

#[tokio::test]
async fn the_finalizer_is_written_before_the_first_apply_and_removed_after_the_cleanup() {
    let server = server(false).await;
    let maps = maps(&server.client());
    let created = create(&maps, config_map("m", &[], &["example.com/other"])).await;

    let (told, result) = reconcile(&maps, created.clone(), Ok(Action::done())).await;
    assert_eq!(told, [format!("apply example.com/other,{NAME}")]);
    assert!(result.is_ok());
    let stored = maps.get("m").await.expect("it is there");
    assert_eq!(
        stored.metadata.finalizers.join(","),
        format!("example.com/other,{NAME}")
    );

    // A cache that lags: the write is refused, and nothing is called.
    let (told, result) = reconcile(&maps, created, Ok(Action::done())).await;
    let error = result.expect_err("it is outdated").to_string();
    assert!(
        told.is_empty() && error.contains("the object has been modified"),
        "{error}"
    );

    // It is there: no write.
    let (told, _) = reconcile(&maps, stored.clone(), Ok(Action::done())).await;
    assert_eq!(told.len(), 1);
    let after = maps.get("m").await.expect("it is there");
    assert_eq!(
        after.metadata.resource_version,
        stored.metadata.resource_version
    );

    maps.delete("m").await.expect("it is being deleted");
    let ending = maps.get("m").await.expect("it waits");
    let later = Action::requeue_after(Duration::from_secs(5));
    let (told, result) = reconcile(&maps, ending.clone(), Ok(later)).await;
    assert_eq!(told, [format!("cleanup example.com/other,{NAME}")]);
    assert_eq!(result.expect("not yet"), later);
    assert!(
        reconcile(&maps, ending.clone(), Err(Error::new("no")))
            .await
            .1
            .is_err()
    );
    let waiting = maps.get("m").await.expect("it still waits");
    assert_eq!(waiting.metadata.finalizers.len(), 2);

    let (_, result) = reconcile(&maps, waiting, Ok(Action::done())).await;
    assert!(result.is_ok());
    let waiting = maps.get("m").await.expect("the other finalizer is left");
    assert_eq!(waiting.metadata.finalizers.join(","), "example.com/other");
    let (told, result) = reconcile(&maps, waiting, Ok(Action::done())).await;
    assert!(told.is_empty() && result.is_ok(), "it does not wait for us");
    server.shutdown().await;
}

#[tokio::test]
async fn an_object_that_is_gone_needs_nothing() {
    let server = server(false).await;
    let maps = maps(&server.client());
    let created = create(&maps, config_map("m", &[], &[])).await;
    maps.delete("m").await.expect("it is deleted");
    let (told, result) = reconcile(&maps, created, Ok(Action::done())).await;
    assert!(told.is_empty() && result.is_ok());
    server.shutdown().await;
}

async fn labelled(maps: &Api<ConfigMap>, name: &str, app: &str) -> ConfigMap {
    let mut map = config_map(name, &[], &[]);
    map.metadata.labels = [("app".into(), app.into())].into();
    create(maps, map).await
}

#[tokio::test]
async fn orphans_are_adopted_strays_released_and_others_left_alone() {
    let server = server(false).await;
    let maps = maps(&server.client());
    let owner = create(&maps, config_map("owner", &[], &[])).await;
    let other = create(&maps, config_map("other", &[], &[])).await;
    let orphan = labelled(&maps, "orphan", "web").await;
    let stray = labelled(&maps, "stray", "db").await;
    let theirs = labelled(&maps, "theirs", "web").await;
    let edit = async |map: &ConfigMap, owner: &ConfigMap| {
        let owners = vec![controller_reference(owner)];
        let name = map.metadata.name.clone();
        let edited = maps.edit(&name, |it| it.metadata.owner_references = owners.clone());
        edited.await.expect("it is edited")
    };
    let (stray, theirs) = (edit(&stray, &owner).await, edit(&theirs, &other).await);

    let web: Selector = "app=web".parse().expect("a selector");
    let refs = ControllerRefManager::new(&owner, web);
    let all = [&orphan, &stray, &theirs].map(|it| Arc::new(it.clone()));
    let claimed = refs
        .claim_all(&maps, &maps, all.clone())
        .await
        .expect("they are claimed");
    assert_eq!(claimed.len(), 1);
    let owners = async |name: &str| {
        let map = maps.get(name).await.expect("it is there");
        let names = map
            .metadata
            .owner_references
            .iter()
            .map(|it| it.name.to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(owners("orphan").await, ["owner"]);
    assert_eq!(owners("stray").await, [""; 0]);
    assert_eq!(owners("theirs").await, ["other"]);
    // The same states again: they have changed, and are left for the next time.
    let again = refs
        .claim_all(&maps, &maps, all)
        .await
        .expect("nothing is wrong");
    assert!(again.is_empty());
    server.shutdown().await;
}

#[tokio::test]
async fn an_owner_that_was_created_again_adopts_nothing() {
    let server = server(false).await;
    let maps = maps(&server.client());
    let orphan = labelled(&maps, "orphan", "web").await;
    let was = ConfigMap {
        metadata: ObjectMeta {
            uid: "another".into(),
            ..create(&maps, config_map("owner", &[], &[])).await.metadata
        },
        ..ConfigMap::default()
    };
    let refs = ControllerRefManager::new(&was, "app=web".parse().expect("a selector"));
    let claimed = refs.claim_all(&maps, &maps, [Arc::new(orphan)]).await;
    let error = claimed.expect_err("it is another owner").to_string();
    assert!(error.contains("was deleted and created again"), "{error}");
    let orphan = maps.get("orphan").await.expect("it is there");
    assert!(orphan.metadata.owner_references.is_empty());
    server.shutdown().await;
}
