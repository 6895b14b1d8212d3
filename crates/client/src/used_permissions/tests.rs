//! Requests as verbs and resources, and the rules that follow.

use super::*;
use http::header::CONTENT_TYPE;
use http::{Method, Request};

fn asked(method: Method, path: &str, content_type: &str) -> Option<String> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header(CONTENT_TYPE, content_type).body(());
    let asked = Asked::of(&request.unwrap())?;
    let used = UsedPermissions::default();
    used.note(&asked);
    used.note_response(&asked, StatusCode::OK);
    assert_eq!(used.permissions().len(), 1);
    used.note_response(&asked, StatusCode::CREATED);
    let used: Vec<_> = used
        .permissions()
        .iter()
        .map(Permission::to_string)
        .collect();
    Some(used.join(", "))
}

#[test]
fn a_request_is_a_verb_and_a_resource() {
    let pods = "/api/v1/namespaces/shop/pods";
    let scale = "/apis/apps/v1/namespaces/shop/deployments/web/scale";
    let proxy = "/api/v1/nodes/a/proxy/logs/syslog";
    for (method, path, expected) in [
        (Method::GET, "/api/v1/pods?watch=true", "watch pods"),
        (Method::GET, "/api/v1/pods?limit=1&watch=1", "watch pods"),
        (Method::GET, "/api/v1/pods?watch=false", "list pods"),
        (Method::GET, pods, "list pods"),
        (Method::DELETE, pods, "deletecollection pods"),
        (Method::POST, pods, "create pods"),
        (
            Method::PUT,
            scale,
            "create deployments.apps/scale, update deployments.apps/scale",
        ),
        (Method::DELETE, scale, "delete deployments.apps/scale"),
        (Method::GET, proxy, "get nodes/proxy"),
        (Method::GET, "/api/v1/namespaces", "list namespaces"),
        (
            Method::DELETE,
            "/api/v1/namespaces/shop",
            "delete namespaces",
        ),
        (
            Method::GET,
            "/api/v1/namespaces/shop/status",
            "get namespaces/status",
        ),
        (
            Method::PUT,
            "/api/v1/namespaces/shop/finalize",
            "create namespaces/finalize, update namespaces/finalize",
        ),
    ] {
        let found = asked(method.clone(), path, "application/json");
        assert_eq!(found.as_deref(), Some(expected), "{method} {path}");
    }
}

/// As `k8s.io/apiserver/pkg/endpoints/request` reads them.
#[test]
fn odd_paths_and_queries_are_read_as_servers_do() {
    for (path, expected) in [
        ("/api/v1/watch/pods", "watch pods"),
        ("/api/v1/watch/namespaces/shop/pods/web", "watch pods"),
        (
            "/apis/apps/v1/watch/namespaces/shop/deployments",
            "watch deployments.apps",
        ),
        ("/api/v1/proxy/namespaces/shop/pods/web/a/b", "proxy pods"),
        ("/api/v1/pods?watch=True", "watch pods"),
        ("/api/v1/pods?watch", "watch pods"),
        ("/api/v1/pods?watch=0&watch=1", "list pods"),
        ("/api/v1/pods?watch=FALSE", "list pods"),
        (
            "/api/v1/pods?fieldSelector=metadata.name%3Dweb",
            "list pods",
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
            "get clusterroles.rbac.authorization.k8s.io",
        ),
        ("/api/v1/namespaces/shop/pods/web%2Flog", "get pods/log"),
        ("/api/v1/namespaces/shop/status/x", "get namespaces/status"),
        ("/api/v1/namespaces/shop/pods/", "list pods"),
        (
            "/api/v1/namespaces/shop/services/http:web:80/proxy/a?watch=1",
            "get services/proxy",
        ),
    ] {
        let found = asked(Method::GET, path, "");
        assert_eq!(found.as_deref(), Some(expected), "{path}");
    }
}

#[test]
fn a_streaming_list_needs_the_right_of_the_list_that_replaces_it() {
    let request = Request::get("/api/v1/pods?watch=true&sendInitialEvents=true");
    let used = UsedPermissions::default();
    used.note(&Asked::of(&request.body(()).unwrap()).unwrap());
    let used = used.permissions();
    let used: Vec<_> = used.iter().map(Permission::to_string).collect();
    assert_eq!(used, ["list pods", "watch pods"]);
}

#[test]
fn a_refusal_to_create_shows_that_the_right_was_asked_for() {
    let path = "/apis/apps/v1/namespaces/shop/deployments/web";
    for (method, verb, code, expected) in [
        (Method::PATCH, "create", 403, 2),
        (Method::PUT, "create", 403, 2),
        (Method::PATCH, "patch", 403, 1),
        (Method::DELETE, "create", 403, 1),
        (Method::PATCH, "create", 422, 1),
    ] {
        let request = Request::builder().method(method.clone()).uri(path);
        let asked = Asked::of(&request.body(()).unwrap()).unwrap();
        let used = UsedPermissions::default();
        used.note(&asked);
        let message = format!(
            "deployments.apps \"web\" is forbidden: User \"a\" cannot {verb} resource \
             \"deployments\" in API group \"apps\" in the namespace \"shop\""
        );
        let status = Status {
            message: message.into(),
            reason: if code == 403 { "Forbidden" } else { "Invalid" }.into(),
            code,
            ..Status::default()
        };
        used.note_refusal(&asked, &status);
        assert_eq!(used.permissions().len(), expected, "{method} {verb} {code}");
    }
}

#[test]
fn what_is_not_about_a_resource_needs_no_rule() {
    for path in [
        "/",
        "/version",
        "/api",
        "/api/v1",
        "/apis/apps/v1",
        "/openapi/v3/apis/apps",
    ] {
        assert_eq!(asked(Method::GET, path, ""), None, "{path}");
    }
    assert_eq!(asked(Method::OPTIONS, "/api/v1/pods", ""), None);
}

#[test]
fn an_apply_that_creates_needs_both_rights() {
    let path = "/apis/apps/v1/namespaces/shop/deployments/web";
    for format in ["yaml", "cbor"] {
        let found = asked(
            Method::PATCH,
            path,
            &format!("application/apply-patch+{format}"),
        );
        assert_eq!(
            found.as_deref(),
            Some("create deployments.apps, patch deployments.apps")
        );
    }
}

#[cfg(feature = "rbac-v1")]
#[test]
fn rules_grant_what_was_used_and_nothing_else() {
    let used = UsedPermissions::default();
    for (method, path) in [
        (Method::GET, "/api/v1/pods?watch=1"),
        (Method::GET, "/api/v1/pods"),
        (Method::GET, "/api/v1/nodes"),
        (Method::GET, "/api/v1/nodes?watch=1"),
        (Method::GET, "/api/v1/namespaces/shop/pods/web-0/log"),
        (Method::POST, "/apis/batch/v1/namespaces/shop/jobs"),
    ] {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(())
            .unwrap();
        used.note(&Asked::of(&request).unwrap());
    }
    let rules = used.policy_rules();
    let text = |list: &[Str]| list.join(",");
    let found: Vec<_> = rules
        .iter()
        .map(|it| [text(&it.api_groups), text(&it.resources), text(&it.verbs)].join(" "))
        .collect();
    assert_eq!(
        found,
        [
            " nodes,pods list,watch",
            " pods/log get",
            "batch jobs create"
        ]
    );
    assert_eq!(used.lacking(&rules), []);
    assert_eq!(used.lacking(&rules[1..]).len(), 4);
    let mut every = rules[1].clone();
    every.resources = vec!["*/log".into()];
    assert_eq!(used.lacking([&rules[0], &rules[2], &every]), []);
    every.resource_names = vec!["web-0".into()];
    let lacking = used.lacking([&rules[0], &rules[2], &every]);
    assert_eq!(lacking[0].to_string(), "get pods/log");
}
