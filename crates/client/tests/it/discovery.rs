//! Discovery, aggregated and legacy.

use crate::server::{Reply, Server};
use kubist_apimachinery::{GroupVersionKind, GroupVersionResource};
use kubist_client::Discovery;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const CORE: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",
    "metadata":{},"items":[{"metadata":{"creationTimestamp":null},"versions":[
    {"version":"v1","freshness":"Current","resources":[
    {"resource":"pods","responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced",
     "singularResource":"pod","verbs":["get","list"],"shortNames":["po"],"categories":["all"],
     "subresources":[{"subresource":"status","verbs":["get","patch"]},
                     {"subresource":"log","verbs":["get"]}]},
    {"resource":"events","responseKind":{"kind":"Event"},"scope":"Namespaced",
     "singularResource":"event","verbs":["list"],"shortNames":["ev"]}]}]}]}"#;

const GROUPS: &str = r#"{"kind":"APIGroupDiscoveryList","items":[
    {"metadata":{"name":"events.k8s.io"},"versions":[{"version":"v1","resources":[
    {"resource":"events","responseKind":{"kind":"Event"},"scope":"Namespaced",
     "singularResource":"event","verbs":["list"]}]}]},
    {"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[
    {"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced",
     "singularResource":"deployment","verbs":["list"],"shortNames":["deploy"]},
    {"resource":"nothing","scope":"Cluster","subresources":[{"subresource":"x"}]}]}]},
    {"metadata":{"name":"metrics.k8s.io"},"versions":[
    {"version":"v1beta1","freshness":"Stale","resources":[]}]}]}"#;

fn check(discovery: &Discovery) {
    let name = |word: &str| {
        discovery
            .resolve(word)
            .map(|it| it.resource.gvr().to_string())
    };
    let some = |text: &str| Some(text.to_owned());
    for word in ["pods", "po", "Pod", "pod", "PODS", "pods.v1."] {
        assert_eq!(name(word), some("/v1, Resource=pods"), "{word}");
    }
    for word in [
        "deploy",
        "deployments.apps",
        "Deployment.v1.apps",
        "deploy.apps",
    ] {
        assert_eq!(name(word), some("apps/v1, Resource=deployments"), "{word}");
    }
    assert_eq!(name("events"), some("/v1, Resource=events"));
    assert_eq!(
        name("events.events.k8s.io"),
        some("events.k8s.io/v1, Resource=events")
    );
    assert_eq!(
        name("event.v1.events.k8s.io"),
        some("events.k8s.io/v1, Resource=events")
    );
    for word in [
        "figs",
        "",
        ".",
        "pods.apps",
        "deployments.v2.apps",
        "pods/status",
    ] {
        assert_eq!(name(word), None, "{word}");
    }
    let pods = discovery.resolve("po").unwrap();
    assert!(pods.resource.namespaced && pods.has_verb("list") && !pods.has_verb("watch"));
    assert_eq!(pods.categories, ["all"]);
    let subresources: Vec<_> = pods.subresources.keys().map(ToString::to_string).collect();
    assert_eq!(subresources, ["log", "status"]);
    let kind = GroupVersionKind::new("apps", "v1", "Deployment");
    let gvr = GroupVersionResource::new("apps", "v1", "deployments");
    assert_eq!(discovery.of_kind(&kind), discovery.of_resource(&gvr));
    assert_eq!(discovery.resources().len(), 4);
}

#[tokio::test]
async fn aggregated_discovery_takes_two_requests() {
    let reply = |body: &'static str| Reply::new(200, AGGREGATED, body);
    let server = Server::new([reply(CORE), reply(GROUPS)]);
    let discovery = server.client().discover().await.unwrap();
    check(&discovery);
    assert_eq!(discovery.failed().len(), 1);
    assert_eq!(
        discovery.failed()[0].group_version.to_string(),
        "metrics.k8s.io/v1beta1"
    );
    assert_eq!(server.lines(), ["GET /api", "GET /apis"]);
    assert!(server.asked()[0].header("accept").starts_with(AGGREGATED));
}

#[tokio::test]
async fn older_servers_are_asked_group_by_group() {
    let groups = r#"{"kind":"APIGroupList","groups":[
        {"name":"events.k8s.io","versions":[{"groupVersion":"events.k8s.io/v1","version":"v1"}]},
        {"name":"apps","versions":[{"groupVersion":"apps/v1beta1","version":"v1beta1"},
            {"groupVersion":"apps/v1","version":"v1"}],
         "preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}"#;
    let core = r#"{"kind":"APIResourceList","groupVersion":"v1","resources":[
        {"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod",
         "verbs":["get","list"],"shortNames":["po"],"categories":["all"]},
        {"name":"pods/status","namespaced":true,"kind":"Pod","verbs":["get"]},
        {"name":"pods/log","namespaced":true,"kind":"Pod","verbs":["get"]},
        {"name":"events","singularName":"event","namespaced":true,"kind":"Event","verbs":[]}]}"#;
    let events = r#"{"resources":[{"name":"events","singularName":"event","namespaced":true,
        "kind":"Event","verbs":["list"]}]}"#;
    let apps = r#"{"resources":[{"name":"deployments","singularName":"deployment",
        "namespaced":true,"kind":"Deployment","verbs":["list"],"shortNames":["deploy"]}]}"#;
    let versions = r#"{"kind":"APIVersions","versions":["v1"]}"#;
    let server = Server::new([
        Reply::json(versions),
        Reply::json(versions),
        Reply::json(groups),
        Reply::json(core),
        Reply::json(events),
        Reply::json(apps),
        Reply::json("{}").code(503),
    ]);
    let discovery = server.client().discover().await.unwrap();
    check(&discovery);
    let paths = [
        "api",
        "api",
        "apis",
        "api/v1",
        "apis/events.k8s.io/v1",
        "apis/apps/v1",
    ];
    let mut lines: Vec<_> = paths.iter().map(|path| format!("GET /{path}")).collect();
    lines.push("GET /apis/apps/v1beta1".to_owned());
    assert_eq!(server.lines(), lines);
    let failed = &discovery.failed()[0];
    assert_eq!(failed.group_version.to_string(), "apps/v1beta1");
    assert!(failed.error.as_ref().unwrap().status().is_some());
}

#[tokio::test]
async fn an_answer_that_is_no_document_is_named() {
    let server = Server::new([Reply::json("<html>")]);
    let error = server.client().discover().await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the answer to GET /api cannot be read: "),
        "{text}"
    );
}

#[tokio::test]
async fn a_list_that_is_null_is_an_empty_one() {
    let core = CORE.replace(r#""categories":["all"]"#, r#""categories":null"#);
    let groups = GROUPS.replace(r#""resources":[]"#, r#""resources":null"#);
    let server = Server::new([Reply::json(core), Reply::json(groups)]);
    let discovery = server.client().discover().await.unwrap();
    assert!(discovery.resolve("deploy").is_some() && discovery.resolve("po").is_some());
    let nothing = r#"{"kind":"APIGroupDiscoveryList","items":null}"#;
    let server = Server::new([Reply::json(nothing), Reply::json(GROUPS)]);
    assert!(
        server
            .client()
            .discover()
            .await
            .unwrap()
            .resolve("deploy")
            .is_some()
    );
}
