//! A resource has the verbs that it implements: they are served and listed, and no others.

use crate::client::{Client, server_with};
use http::Version;
use kubist_api::core::v1::ConfigMap;
use kubist_api::{GROUPS, Kind, ResourceFacts, find_kind};
use kubist_apimachinery::{AnyObject, ListOptions, PostOptions, Status};
use kubist_apiserver::Config;
use kubist_registry::{
    BoxFuture, Created, Creater, ListPage, Lister, Registry, RegistryConfig, RequestContext,
    RestStorage, RuntimeConfig, Stored, StoredKind,
};
use kubist_storage::memory::MemoryKv;
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;

static NOTES: ResourceFacts = ResourceFacts {
    group: "notes.example.com",
    version: "v1",
    kind: "ConfigMap",
    plural: "notes",
    singular: "note",
    namespaced: true,
    short_names: &[],
    categories: &[],
    // This list enables nothing.
    verbs: &["list", "create", "get", "delete", "watch", "update"],
    storage_version_hash: "",
    subresources: &[],
    columns: &[],
};

/// Notes can only be created and listed.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<Stored>>);

impl RestStorage for Notes {
    fn facts(&self) -> &'static ResourceFacts {
        &NOTES
    }
    fn kind(&self) -> &'static Kind {
        find_kind("", "v1", "ConfigMap").expect("config maps are built in")
    }
    fn creater(&self) -> Option<&dyn Creater> {
        Some(self)
    }
    fn lister(&self) -> Option<&dyn Lister> {
        Some(self)
    }
}

impl Creater for Notes {
    fn create<'a>(
        &'a self,
        _: &'a RequestContext,
        _: &'a str,
        _: &'a str,
        object: Box<dyn AnyObject>,
        _: &'a PostOptions,
    ) -> BoxFuture<'a, Result<Created, Status>> {
        let stored = Stored::from_object(StoredKind::plain(self.kind()), 1, object);
        self.0.lock().push(stored.clone());
        Box::pin(std::future::ready(Ok(Created::Object(stored))))
    }
}

impl Lister for Notes {
    fn list<'a>(
        &'a self,
        _: &'a RequestContext,
        _: &'a str,
        _: &'a ListOptions,
    ) -> BoxFuture<'a, Result<ListPage, Status>> {
        let page = ListPage {
            items: self.0.lock().clone(),
            ..ListPage::default()
        };
        Box::pin(std::future::ready(Ok(page)))
    }
}

const PATH: &str = "/apis/notes.example.com/v1/namespaces/default/notes";

#[tokio::test]
async fn a_resource_that_implements_two_verbs_has_exactly_those() {
    let config = |config: &mut RegistryConfig| config.resources.push(Arc::new(Notes::default()));
    let server = server_with(
        Config {
            listen: None,
            ..Config::default()
        },
        config,
    )
    .await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let listed = client.get("/apis/notes.example.com/v1").await.json();
    assert_eq!(
        listed["resources"],
        json!([{
            "name": "notes", "singularName": "note", "namespaced": true, "kind": "ConfigMap",
            "verbs": ["list", "create"],
        }])
    );
    let groups = client.get("/apis").await.json();
    let groups = groups["groups"].as_array().expect("it is a list").clone();
    assert!(groups.iter().any(|it| it["name"] == "notes.example.com"));

    let mut note = ConfigMap::default();
    note.metadata.name = "n".into();
    let note = kubist_apimachinery::wire::to_json_value(&note);
    assert_eq!(client.post(PATH, &note).await.code, 201);
    let list = client.get(PATH).await;
    assert_eq!(list.code, 200);
    assert_eq!(list.json()["items"][0]["metadata"]["name"], "n");
    let one = format!("{PATH}/n");
    let watch = format!("{PATH}?watch=true");
    for (method, path) in [
        ("GET", &one),
        ("PUT", &one),
        ("PATCH", &one),
        ("DELETE", &one),
        ("DELETE", &PATH.to_owned()),
        ("GET", &watch),
    ] {
        let answer = client.ask(method, path, "application/json", "{}").await;
        assert_eq!(answer.code, 405, "{method} {path}");
        assert_eq!(
            answer.json()["reason"],
            "MethodNotAllowed",
            "{method} {path}"
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn built_in_resources_implement_what_upstream_lists() {
    let mut config = RegistryConfig::new(
        Arc::new(MemoryKv::default()),
        kubist_kinds::BuiltIn::shared(),
    );
    config.runtime_config = RuntimeConfig::everything();
    let registry = Registry::new(config);
    let served = registry.groups();
    let mut compared = 0;
    for group in GROUPS {
        let of_group = served.iter().find(|it| it.name == *group.name);
        let of_group = of_group.expect("it is served");
        for version in group.versions {
            let of_version = of_group.version(version.version).expect("it is served");
            for facts in version.resources {
                let found = of_version.resource(facts.plural).expect("it is served");
                assert_eq!(found.verbs, facts.verbs, "{}", facts.plural);
                for (part, (_, verbs)) in facts.subresources.iter().zip(&found.subresources) {
                    assert_eq!(verbs, part.verbs, "{}/{}", facts.plural, part.name);
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 80, "{compared} resources");
}

/// Deployments have three storages, each with its own verbs.
#[tokio::test]
async fn a_deployment_is_itself_its_status_and_its_scale() {
    let registry = Registry::new(RegistryConfig::new(
        Arc::new(MemoryKv::default()),
        kubist_kinds::BuiltIn::shared(),
    ));
    let main = registry
        .storage("apps", "v1", "deployments")
        .expect("it is built in");
    assert_eq!(
        main.verbs(),
        [
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch"
        ]
    );
    for (part, kind) in [("status", "Deployment"), ("scale", "Scale")] {
        let storage = main.subresource(part).expect("it has it");
        assert_eq!(storage.verbs(), ["get", "patch", "update"], "{part}");
        assert_eq!(storage.body_kind().facts().kind, kind);
        assert!(storage.creater().is_none() && storage.deleter().is_none());
    }
    assert!(main.subresource("eviction").is_none());
}
