//! Writes of custom objects while their definition begins to store another version.
//!
//! What is written afterwards would be stored in a version that a migration has left behind, and
//! that may be removed from the definition.

use super::*;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::DeleteOptions;
use kubist_storage::KvRead as _;
use serde_json::{Value, json};
use std::sync::Arc;

const WIDGETS: &str = "widgets.example.com";

/// Has the definition store the other version. The first server does not observe it.
async fn store_as_beta(pair: Arc<Pair>) {
    let found = custom::cluster_get(&pair.second, WIDGETS).await;
    let mut definition: CustomResourceDefinition = found.expect("it is there");
    for version in &mut definition.spec.versions {
        version.storage = version.name == *"v1beta1";
    }
    let put = pair.second.put_subresource("", definition).await;
    put.expect("it may be changed");
}

async fn begin(pair: &Pair) {
    define_widgets(pair).await;
    let rest = custom::served(&pair.first, "v1").await;
    let kept = json!({"metadata": {"name": "kept", "finalizers": ["x.io/y"]}});
    let made = custom::create(&pair.first, &rest, &kept).await;
    made.expect("it is fine");
}

/// What is stored last is stored as the definition said then.
async fn check(pair: &Pair, name: &str, done: Result<(), Status>, passed: bool, at: usize) {
    let read = async |key: String| {
        pair.kv
            .get(key.as_bytes(), None)
            .await
            .expect("it answers")
            .kv
    };
    let definitions = "/registry/apiextensions.k8s.io/customresourcedefinitions";
    let definition = read(format!("{definitions}/{WIDGETS}")).await;
    let definition = definition.expect("it is there");
    let object = read(format!("/registry/example.com/widgets/default/{name}")).await;
    if let Some(object) = object {
        let tree: Value = serde_json::from_slice(&object.value).expect("it is JSON");
        assert!(
            object.mod_revision < definition.mod_revision || !passed,
            "{at}: it was stored as {} afterwards",
            tree["apiVersion"]
        );
    }
    match done {
        Ok(()) => assert!(!passed, "{at}: it was done"),
        Err(status) => {
            let retry = status.details.map(|it| it.retry_after_seconds);
            assert!(passed, "{at}: {}", status.message);
            assert_eq!(
                (status.code, retry),
                (429, Some(1)),
                "{at}: {}",
                status.message
            );
            assert_eq!(status.message, "storage is (re)initializing");
        }
    }
}

#[tokio::test]
async fn nothing_is_stored_in_a_version_that_is_no_longer_the_stored_one() {
    for what in ["create", "update", "delete"] {
        let name = if what == "create" { "a" } else { "kept" };
        let runs = at_every_call(
            begin,
            async |pair: &Pair| {
                let (first, cx) = (&pair.first, pair.first.cx());
                let rest = custom::served(first, "v1").await;
                match what {
                    "create" => {
                        let new = json!({"metadata": {"name": name}});
                        custom::create(first, &rest, &new).await.map(drop)
                    }
                    "update" => {
                        let label = |object: &mut dyn AnyObject| {
                            object.meta_mut().labels.insert("k".into(), "x".into());
                        };
                        patch(first, &rest, name, label).await.map(drop)
                    }
                    _ => {
                        let options = DeleteOptions::default();
                        let deleted = rest.delete(&cx, "default", name, &options);
                        deleted.await.map(drop)
                    }
                }
            },
            |pair| Box::pin(store_as_beta(pair)),
            async |pair: &Pair, done, passed, at| {
                check(pair, name, done, passed.is_some(), at).await;
            },
        )
        .await;
        assert!(runs > 2, "it reads the definition, and writes: {runs}");
    }
}
