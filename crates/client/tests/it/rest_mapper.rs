//! `RestMapper`: when it asks the server, and what it finds.

use crate::server::{Reply, Server};
use kubist_apimachinery::{GroupKind, GroupVersionKind};
use kubist_client::{MappingError, RestMapper};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::advance;

/// The answers to one discovery, of a group with these kinds.
fn discovery(kinds: &[&str]) -> [Reply; 2] {
    let resources: Vec<Value> = kinds
        .iter()
        .map(|kind| {
            let singular = kind.to_lowercase();
            json!({
                "resource": format!("{singular}s"), "singularResource": singular,
                "responseKind": {"kind": kind}, "scope": "Namespaced", "verbs": ["list"],
                "shortNames": [&singular[..2]],
            })
        })
        .collect();
    let list = |items: Value| {
        let list = json!({"kind": "APIGroupDiscoveryList", "items": items});
        Reply::json(list.to_string())
    };
    let versions = |names: [&str; 2]| {
        names.map(|name| json!({"version": name, "resources": resources.clone()}))
    };
    let stale = json!({"metadata": {"name": "late.io"}, "versions": [
        {"version": "v1", "freshness": "Stale", "resources": []},
    ]});
    let ours = json!({"metadata": {"name": "example.com"}, "versions": versions(["v2", "v1"])});
    [list(json!([])), list(json!([ours, stale]))]
}

fn setup(rounds: &[&[&str]]) -> (Server, RestMapper) {
    let server = Server::new(rounds.iter().flat_map(|kinds| discovery(kinds)));
    let mapper = RestMapper::new(server.client());
    (server, mapper)
}

fn kind(version: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind {
        group: "example.com".into(),
        version: version.into(),
        kind: kind.into(),
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_is_asked_once_and_only_when_needed() {
    let (server, mapper) = setup(&[&["Fig", "Plum"]]);
    assert!(server.asked().is_empty());
    let all = tokio::join!(
        mapper.resolve("fi"),
        mapper.resolve("plums.example.com"),
        mapper.resolve("Plum.v1.example.com"),
    );
    let found = [all.0, all.1, all.2].map(|it| it.expect("it is found").resource.gvr().to_string());
    assert_eq!(
        found,
        [
            "example.com/v2, Resource=figs",
            "example.com/v2, Resource=plums",
            "example.com/v1, Resource=plums",
        ]
    );
    let fig = mapper
        .of_kind(&kind("v1", "Fig"))
        .await
        .expect("it is found");
    assert_eq!(fig.gvr().to_string(), "example.com/v1, Resource=figs");
    let fig = GroupKind {
        group: "example.com".into(),
        kind: "Fig".into(),
    };
    let fig = mapper.of_group_kind(&fig).await.expect("it is found");
    assert_eq!(*fig.version, *"v2");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_found_is_looked_for_again_but_not_each_time() {
    let (server, mapper) = setup(&[&["Fig"], &["Fig"], &["Fig", "Plum"]]);
    assert!(mapper.resolve("fig").await.is_ok());
    advance(Duration::from_secs(2)).await;
    let error = mapper
        .resolve("plum")
        .await
        .expect_err("it is not there yet");
    assert!(error.is_no_match());
    let text = "the server has no resource for \"plum\"; it could not tell about late.io/v1";
    assert_eq!(error.to_string(), text);
    assert_eq!(server.asked().len(), 4);
    // Again at once: the answer would be the same.
    assert!(mapper.of_kind(&kind("v1", "Plum")).await.is_err());
    assert_eq!(server.asked().len(), 4);
    advance(Duration::from_secs(2)).await;
    assert!(mapper.of_kind(&kind("v1", "Plum")).await.is_ok());
    assert_eq!(server.asked().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn what_is_known_is_forgotten_on_request_and_with_age() {
    let (server, mapper) = setup(&[&["Fig"], &["Plum"], &["Fig"]]);
    assert!(mapper.resolve("fig").await.is_ok());
    mapper.invalidate();
    assert!(mapper.resolve("plum").await.is_ok());
    advance(Duration::from_secs(601)).await;
    let known = mapper.discovery().await.expect("an answer");
    assert_eq!(known.resources().len(), 2);
    assert!(known.resolve("fig").is_some());
    assert_eq!(server.asked().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_failed_discovery_is_an_error_and_the_next_call_asks_again() {
    let failed = Reply::json("{").code(403);
    let server = Server::new([failed].into_iter().chain(discovery(&["Fig"])));
    let mapper = RestMapper::new(server.client());
    let error = mapper.resolve("fig").await.expect_err("it is refused");
    assert!(matches!(error, MappingError::Discovery(_)), "{error}");
    assert!(mapper.resolve("fig").await.is_ok());
}
