//! Creates during the deletion of their namespace or definition.

use super::*;
use crate::fixture::{names, options, typed};
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_api::core::v1::{ConfigMap, Namespace, Service, ServicePort};
use kubist_api::networking::v1::IPAddress;
use kubist_apimachinery::{DeleteOptions, KubeObject};
use kubist_registry::{Created, Replacement};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const PLACE: &str = "place";

async fn begin(pair: &Pair) {
    let mut namespace = Namespace::default();
    namespace.metadata.name = PLACE.into();
    pair.second.create(namespace).await;
}

/// Deletes the namespace and, once it has no objects of the kind, finalizes it like its controller.
async fn end_namespace<K: KubeObject>(pair: Arc<Pair>) -> bool {
    let (second, rest) = (&pair.second, pair.second.of::<Namespace>());
    let (cx, post) = (second.cx(), PostOptions::default());
    let now = DeleteOptions::default();
    let deleted = rest.delete(&cx, "", PLACE, &now);
    let Created::Object(marked) = deleted.await.expect("it is there").answer else {
        panic!("it waits for what is in it");
    };
    let objects = second.of::<K>();
    let left = objects.list(&cx, PLACE, &options("")).await.expect("fine");
    if !left.items.is_empty() {
        return false;
    }
    let mut namespace: Namespace = typed(&marked);
    namespace.spec.finalizers.clear();
    let finalize = rest.subresource("finalize").expect("it has one");
    let new = Replacement(Box::new(namespace));
    let ended = finalize.update(&cx, "", PLACE, &new, &post).await;
    ended.expect("nothing is in the way");
    true
}

async fn check_place<K: KubeObject>(
    pair: &Pair,
    created: Result<Stored, Status>,
    ended: Option<bool>,
    at: usize,
) {
    let all = pair.second.of::<K>();
    let cx = pair.second.cx();
    let left = all.list(&cx, PLACE, &options("")).await.expect("fine");
    let left = names(&left);
    match (created, ended) {
        (Ok(_), Some(true)) => panic!("it was created in a namespace that is gone, at {at}"),
        (Ok(_), _) => assert_eq!(left, ["a"], "{at}"),
        (Err(status), Some(true)) => {
            assert!(status.is_not_found(), "{at} {status:?}");
            assert!(left.is_empty(), "{at} {left:?}");
        }
        (Err(status), ended) => panic!("{at} {ended:?} {status:?}"),
    }
}

#[tokio::test]
async fn nothing_comes_into_a_namespace_that_has_ended_meanwhile() {
    let runs = at_every_call(
        begin,
        async |pair: &Pair| {
            pair.first
                .create_in(PLACE, config_map("a", ""), false)
                .await
        },
        |pair| Box::pin(end_namespace::<ConfigMap>(pair)),
        async |pair: &Pair, created, ended, at| {
            check_place::<ConfigMap>(pair, created, ended, at).await;
        },
    )
    .await;
    assert!(runs > 2, "it looks at the namespace, and writes");
}

#[tokio::test]
async fn a_namespace_that_changes_meanwhile_is_no_obstacle() {
    at_every_call(
        begin,
        async |pair: &Pair| {
            pair.first
                .create_in(PLACE, config_map("a", ""), false)
                .await
        },
        |pair| {
            Box::pin(async move {
                let rest = pair.second.of::<Namespace>();
                let label = |object: &mut dyn AnyObject| {
                    object.meta_mut().labels.insert("k".into(), "x".into());
                };
                patch(&pair.second, &rest, PLACE, label).await.is_ok()
            })
        },
        async |_: &Pair, created, _, at| {
            created.unwrap_or_else(|status| panic!("{at} {status:?}"));
        },
    )
    .await;
}

#[tokio::test]
async fn a_service_refused_by_its_namespace_releases_its_address() {
    let service = || {
        let mut service = Service::default();
        service.metadata.name = "a".into();
        service.spec.ports.push(ServicePort {
            port: 80,
            ..ServicePort::default()
        });
        service
    };
    let runs = at_every_call(
        begin,
        async |pair: &Pair| pair.first.create_in(PLACE, service(), false).await,
        |pair| Box::pin(end_namespace::<Service>(pair)),
        async |pair: &Pair, created, ended, at| {
            let is_there = created.is_ok();
            check_place::<Service>(pair, created, ended, at).await;
            let (cx, all) = (pair.second.cx(), pair.second.of::<IPAddress>());
            let all = all.list(&cx, "", &options("")).await.expect("fine");
            // The addresses of `kubernetes` and of the service.
            assert_eq!(all.items.len(), 1 + usize::from(is_there), "{at}");
        },
    )
    .await;
    assert!(runs > 3, "it is allotted an address, too");
}

/// Deletes the definition, waits until it is gone, and optionally recreates it.
async fn end_definition(fixture: &Fixture, again: bool) {
    let (name, options) = ("widgets.example.com", DeleteOptions::default());
    let deleted = fixture.delete::<CustomResourceDefinition>(name, options);
    deleted.await.expect("it is there");
    while custom::cluster_get(fixture, name).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if again {
        let widgets = custom::definition("widgets", "Widget", &custom::versions());
        fixture.create(widgets).await;
        let registry = &fixture.registry;
        while registry.resource("example.com", "v1", "widgets").is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn nothing_comes_to_a_definition_that_has_ended_meanwhile() {
    for again in [false, true] {
        let runs = at_every_call(
            define_widgets,
            async |pair: &Pair| {
                let rest = custom::served(&pair.first, "v1").await;
                custom::create(&pair.first, &rest, &json!({"metadata": {"name": "a"}})).await
            },
            move |pair| {
                Box::pin(async move {
                    let second = &pair.second;
                    tokio::select! {
                        () = second.registry.run_definitions() => {}
                        () = end_definition(second, again) => {}
                    }
                })
            },
            async |pair: &Pair, created, passed, at| {
                let key = b"/registry/example.com/widgets/default/a";
                let kv: &dyn kubist_storage::Kv = &pair.kv;
                let stored = kv.get(key, None).await.expect("it answers").kv;
                if passed.is_some() {
                    let status = created.expect_err("its definition is gone");
                    assert!(status.is_not_found(), "{at} {status:?}");
                }
                assert_eq!(stored.is_some(), passed.is_none(), "{at}");
            },
        )
        .await;
        assert!(runs > 3, "it looks at namespace and definition, and writes");
    }
}
