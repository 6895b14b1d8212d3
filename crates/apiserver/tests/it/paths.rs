//! Unusual paths and media types, with the codes and texts of a real server.

use crate::client::{Client, silent_server};
use http::Version;
use serde_json::json;

const NOT_FOUND: &str = "the server could not find the requested resource";
const NOT_ALLOWED: &str = "the server does not allow this method on the requested resource";

#[tokio::test]
async fn paths_and_methods_are_distinguished_as_upstream_does() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for (method, path, code, message) in [
        ("GET", "/api//v1", 404, NOT_FOUND),
        ("GET", "/apis/apps//v1", 404, NOT_FOUND),
        ("PUT", "/api/v2", 404, NOT_FOUND),
        ("POST", "/api", 405, NOT_ALLOWED),
        ("POST", "/version", 405, NOT_ALLOWED),
        ("POST", "/version//", 405, NOT_ALLOWED),
        ("GET", "/version/x", 404, NOT_FOUND),
        ("GET", "/openid/v1/jwks/x", 404, NOT_FOUND),
        ("DELETE", "/api/v1/namespaces/default//pods", 404, NOT_FOUND),
        (
            "GET",
            "/api/v1/namespaces/default/pods/a%2Fb",
            404,
            NOT_FOUND,
        ),
        ("GET", "/api/v1/nodes//status", 400, "name must be provided"),
        (
            "GET",
            "/api/v1/namespaces//pods/x",
            400,
            "Namespace parameter required.",
        ),
        (
            "DELETE",
            "/api/v1/namespaces//pods",
            400,
            "Namespace parameter required.",
        ),
        (
            "DELETE",
            "/apis/authorization.k8s.io/v1/subjectaccessreviews/x",
            404,
            NOT_FOUND,
        ),
    ] {
        let answer = client.ask(method, path, "application/json", "").await;
        let found = answer.json()["message"].clone();
        assert_eq!(
            (answer.code, found),
            (code, json!(message)),
            "{method} {path}"
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn discovery_is_read_with_any_method_and_other_paths_are_nobodys() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for (method, path, kind) in [
        ("POST", "/apis", "APIGroupList"),
        ("POST", "/apis/apps", "APIGroup"),
        ("GET", "/api/v1/namespaces//configmaps", "ConfigMapList"),
        (
            "GET",
            "/api/v1/namespaces/default/configmaps//",
            "ConfigMapList",
        ),
    ] {
        let answer = client.ask(method, path, "application/json", "").await;
        assert_eq!(answer.code, 200, "{method} {path}");
        assert_eq!(answer.json()["kind"], kind, "{method} {path}");
    }
    let root = client.ask("POST", "/", "application/json", "{}").await;
    let root = root.json();
    let paths = root["paths"].as_array().expect("it is a list");
    for path in ["/api", "/apis", "/apis/", "/apis/apps", "/openapi/v3/"] {
        assert!(paths.contains(&json!(path)), "{path}");
    }
    let version = client.get("/version//").await;
    assert_eq!(version.json()["major"], "1");
    for (method, path) in [
        ("POST", "/apis/unknown"),
        ("GET", "/apis//"),
        ("GET", "/apis//v1"),
        ("GET", "//"),
        ("GET", "//api/v1"),
        ("GET", "/healthz/"),
        ("GET", "/metrics/"),
        ("GET", "/openapi/v2/"),
        ("GET", "/versions"),
    ] {
        let answer = client.ask(method, path, "application/json", "").await;
        let found = (answer.code, &answer.bytes[..]);
        assert_eq!(
            found,
            (404, &b"404 page not found\n"[..]),
            "{method} {path}"
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_path_that_says_nothing_is_refused_before_anything_else() {
    let server = silent_server().await;
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut client = client.header("authorization", "Bearer wrong");
    let unclear = client.get("/api/v1/watch?timeout=x").await;
    assert_eq!(unclear.code, 500);
    assert_eq!(
        &unclear.bytes[..],
        b"Internal Server Error: \"/api/v1/watch?timeout=x\": failed to create RequestInfo: \
          unable to determine kind and namespace from url, /api/v1/watch?timeout=x\n"
    );
    assert_eq!(unclear.header("cache-control"), "");
    assert_ne!(unclear.header("audit-id"), "");
    server.shutdown().await;
}

#[tokio::test]
async fn json_is_indented_where_the_query_the_type_or_the_reader_asks_for_it() {
    let server = silent_server().await;
    let (found, missing) = ("/api/v1/namespaces/default", "/api/v1/namespaces/none");
    for (agent, query, pretty) in [
        ("", "", false),
        ("", "?pretty=1", true),
        ("", "?pretty=t", true),
        ("", "?pretty=TRUE", true),
        ("", "?pretty=tRUE", false),
        ("", "?pretty=yes", false),
        ("", "?pretty=0", false),
        ("", "?pretty", false),
        ("curl/8", "", true),
        ("Wget", "?pretty=", true),
        ("Mozilla/5.0 (X)", "?pretty=0", false),
        ("Mozilla/4.0", "", false),
    ] {
        let client = Client::in_memory(&server, Version::HTTP_2).await;
        let mut client = client.header("user-agent", agent);
        for (path, code) in [
            (found, 200),
            (missing, 404),
            ("/api/v1/unknown", 404),
            ("/api", 200),
            ("/apis/apps", 200),
        ] {
            let answer = client.get(&format!("{path}{query}")).await;
            assert_eq!(answer.code, code, "{path}");
            let expected = if pretty { "{\n  \"" } else { "{\"" };
            let text = String::from_utf8_lossy(&answer.bytes);
            assert!(text.starts_with(expected), "{agent} {path}{query}: {text}");
            assert_eq!(text.ends_with('\n'), !pretty, "{agent} {path}{query}");
        }
    }
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut client = client.header("accept", "application/json;pretty=1");
    for path in [found, missing, "/apis"] {
        let answer = client.get(&format!("{path}?pretty=0")).await;
        assert!(answer.bytes.starts_with(b"{\n"), "{path}");
    }
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut client = client.header("accept", "application/yaml");
    let answer = client.get(&format!("{missing}?pretty=1")).await;
    assert!(answer.bytes.starts_with(b"apiVersion: v1\n"));
    server.shutdown().await;
}

#[tokio::test]
async fn an_object_without_a_namespace_misses_one() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let body = json!({"metadata": {"name": "a", "namespace": "default"}});
    for (plural, missing) in [
        ("configmaps", &["metadata.namespace"][..]),
        ("pods", &["metadata.namespace", "spec.containers"][..]),
    ] {
        let path = format!("/api/v1/namespaces//{plural}");
        let answer = client.post(&path, &body).await;
        assert_eq!(answer.code, 422, "{plural}");
        let status = answer.json();
        let causes = status["details"]["causes"].as_array().expect("a list");
        let fields: Vec<_> = causes.iter().map(|it| &it["field"]).collect();
        assert_eq!(fields, missing, "{plural}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_review_stays_in_the_namespace_of_its_path() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let reviews = "/apis/authorization.k8s.io/v1";
    let local = format!("{reviews}/namespaces/default/localsubjectaccessreviews");
    let attributes = json!({"namespace": "default", "verb": "get", "resource": "pods"});
    let mut review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "LocalSubjectAccessReview",
        "spec": {"user": "bob", "resourceAttributes": attributes},
    });
    let allowed = client.post(&local, &review).await;
    assert_eq!(allowed.code, 201);
    assert_eq!(allowed.json()["metadata"]["namespace"], "default");
    review["metadata"] = json!({"namespace": "other"});
    let refused = client.post(&local, &review).await;
    assert_eq!(refused.code, 400);
    assert_eq!(
        refused.json()["message"],
        "the namespace of the provided object does not match the namespace sent on the request"
    );
    let rules = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": "default"},
    });
    let path = format!("{reviews}/selfsubjectrulesreviews");
    let review = client.post(&path, &rules).await.json();
    assert_eq!(review["spec"], json!({}));
    server.shutdown().await;
}

#[tokio::test]
async fn media_types_are_refused_in_upstreams_two_ways() {
    let server = silent_server().await;
    let unrouted = "406: Not Acceptable\n\nAvailable representations: ";
    let refused = "only the following media types are accepted: ";
    let all = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let one = "/api/v1/namespaces/default";
    for (accept, path, beginning, types) in [
        ("application/*", one, unrouted, all),
        ("*", one, unrouted, all),
        (
            "application/json;as=Unknown;v=v1;g=meta.k8s.io",
            one,
            refused,
            all,
        ),
        (table, "/apis/apps", refused, all),
        ("text/plain", "/apis", refused, all),
        ("text/plain", "/api", unrouted, all),
        ("text/plain", "/apis/apps", refused, all),
        ("application/yaml", "/version", unrouted, "application/json"),
    ] {
        let client = Client::in_memory(&server, Version::HTTP_2).await;
        let mut client = client.header("accept", accept);
        let answer = client.get(path).await;
        assert_eq!(answer.code, 406, "{accept} {path}");
        // JSON is YAML, and one of them asks for that.
        let status = kubist_codec::yaml::parse(&answer.bytes).expect("it is a status");
        let status = status.value;
        assert_eq!(
            status["message"],
            format!("{beginning}{types}"),
            "{accept} {path}"
        );
        let has_details = status.get("details").is_some();
        assert_eq!(has_details, beginning == unrouted, "{accept} {path}");
    }
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    let table = "application/yaml;as=Table;v=v1;g=meta.k8s.io";
    let mut client = client.header("accept", table);
    let missing = client.get("/api/v1/namespaces/none").await;
    assert_eq!(missing.header("content-type"), "application/json");
    assert_eq!(missing.json()["message"], "namespaces \"none\" not found");
    server.shutdown().await;
}
