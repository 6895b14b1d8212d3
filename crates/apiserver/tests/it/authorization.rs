//! A server that obeys roles: who may do what, who may grant it, and what reviews say. Texts are
//! those of a kube-apiserver v1.36.

use crate::client::{Answer, Client, server_with};
use http::Version;
use kubist_apiserver::{Authorization, Config, RunningServer, StaticToken};
use kubist_kinds::BuiltIn;
use kubist_registry::User;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const PODS: &str = "/api/v1/namespaces/default/pods";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// All verbs would be `escalate` and `bind`, too.
const WRITES: [&str; 4] = ["list", "create", "update", "patch"];
/// How long a written role may take to count.
const PATIENCE: Duration = Duration::from_secs(10);

async fn start() -> RunningServer {
    let token = |name: &str, group: &str| StaticToken {
        token: name.to_owned(),
        user: User {
            name: name.into(),
            groups: vec![group.into()],
            ..User::default()
        },
    };
    let config = Config {
        listen: None,
        tokens: vec![token("bob", "devs"), token("eve", "ops")],
        authorization: Authorization::rbac(),
        ..Config::default()
    };
    server_with(config, |registry| {
        let mut kinds = BuiltIn::default();
        kinds.default_roles = true;
        registry.kinds = Arc::new(kinds);
    })
    .await
}

async fn admin(server: &RunningServer) -> Client {
    Client::in_memory(server, Version::HTTP_2).await
}

async fn user(server: &RunningServer, name: &str) -> Client {
    let client = Client::in_memory(server, Version::HTTP_2).await;
    client.header("authorization", &format!("Bearer {name}"))
}

#[track_caller]
fn refused(answer: &Answer, message: &str) {
    let body = answer.json();
    assert_eq!((answer.code, &body["message"]), (403, &json!(message)));
    assert_eq!(body["reason"], "Forbidden");
}

fn rule(verbs: &[&str], resources: &[&str]) -> Value {
    json!({"verbs": verbs, "apiGroups": [""], "resources": resources})
}

/// Creates a `ClusterRole` and binds it to a user in `default`, or in the whole cluster.
async fn grant(admin: &mut Client, name: &str, to: &str, rules: Value, everywhere: bool) {
    let role = json!({"metadata": {"name": name}, "rules": rules});
    let made = admin.post(&format!("{RBAC}/clusterroles"), &role).await;
    assert_eq!(made.code, 201, "{}", made.json());
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": to}],
    });
    let path = if everywhere {
        format!("{RBAC}/clusterrolebindings")
    } else {
        format!("{RBAC}/namespaces/default/rolebindings")
    };
    let made = admin.post(&path, &binding).await;
    assert_eq!(made.code, 201, "{}", made.json());
}

/// Asks until a role counts, or no longer does.
async fn until(client: &mut Client, path: &str, code: u16) -> Answer {
    let asking = async {
        loop {
            let answer = client.get(path).await;
            if answer.code == code {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, asking).await;
    found.unwrap_or_else(|_| panic!("{path} is not answered with {code}"))
}

#[tokio::test]
async fn without_a_role_nothing_is_allowed_and_the_refusal_says_what() {
    let server = start().await;
    let mut bob = user(&server, "bob").await;
    for (path, message) in [
        (
            "/api/v1/pods",
            "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" at the \
             cluster scope",
        ),
        (
            "/api/v1/namespaces/default/pods/x",
            "pods \"x\" is forbidden: User \"bob\" cannot get resource \"pods\" in API group \"\" in \
             the namespace \"default\"",
        ),
        (
            "/api/v1/namespaces/default",
            "namespaces \"default\" is forbidden: User \"bob\" cannot get resource \"namespaces\" in \
             API group \"\" in the namespace \"default\"",
        ),
        (
            "/metrics",
            "forbidden: User \"bob\" cannot get path \"/metrics\"",
        ),
        (
            "/apis/apps/v1/namespaces/d/deployments/x/scale",
            "deployments.apps \"x\" is forbidden: User \"bob\" cannot get resource \
             \"deployments/scale\" in API group \"apps\" in the namespace \"d\"",
        ),
        (
            "/api/v1/nope",
            "nope is forbidden: User \"bob\" cannot list resource \"nope\" in API group \"\" at the \
             cluster scope",
        ),
        (
            "/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dx",
            "pods \"x\" is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in \
             the namespace \"default\"",
        ),
    ] {
        refused(&bob.get(path).await, message);
    }
    // What the default roles allow to everybody.
    for path in [
        "/api",
        "/apis",
        "/apis/apps/v1",
        "/healthz",
        "/version",
        "/openapi/v3",
    ] {
        assert_eq!(bob.get(path).await.code, 200, "{path}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_role_counts_while_it_is_bound() {
    let server = start().await;
    let (mut admin, mut bob) = (admin(&server).await, user(&server, "bob").await);
    let rules = json!([rule(&["get", "list", "watch"], &["pods"])]);
    grant(&mut admin, "pod-reader", "bob", rules, false).await;
    until(&mut bob, PODS, 200).await;
    assert_eq!(bob.get("/api/v1/pods").await.code, 403);
    assert_eq!(
        bob.get("/api/v1/namespaces/kube-system/pods").await.code,
        403
    );
    assert_eq!(bob.get(MAPS).await.code, 403);
    assert_eq!(bob.delete(&format!("{PODS}/p")).await.code, 403);
    assert_eq!(user(&server, "eve").await.get(PODS).await.code, 403);
    let binding = format!("{RBAC}/namespaces/default/rolebindings/pod-reader");
    assert_eq!(admin.delete(&binding).await.code, 200);
    until(&mut bob, PODS, 403).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_binding_to_no_role_is_named_in_the_refusal() {
    let server = start().await;
    let (mut admin, mut bob) = (admin(&server).await, user(&server, "bob").await);
    let rules = json!([rule(&["get"], &["pods"])]);
    grant(&mut admin, "gone", "bob", rules, true).await;
    until(&mut bob, &format!("{PODS}/p"), 404).await;
    assert_eq!(
        admin
            .delete(&format!("{RBAC}/clusterroles/gone"))
            .await
            .code,
        200
    );
    let answer = until(&mut bob, &format!("{PODS}/p"), 403).await;
    refused(
        &answer,
        "pods \"p\" is forbidden: User \"bob\" cannot get resource \"pods\" in API group \"\" in the \
         namespace \"default\": RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found",
    );
    server.shutdown().await;
}

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";

/// A server on which bob may write roles and bindings, and read config maps.
async fn start_with_writer() -> (RunningServer, Client, Client) {
    let server = start().await;
    let (mut admin, mut bob) = (admin(&server).await, user(&server, "bob").await);
    let rules = json!([
        {"verbs": WRITES, "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["roles", "rolebindings"]},
        rule(&["get", "list"], &["configmaps"]),
    ]);
    grant(&mut admin, "roles", "bob", rules, false).await;
    until(&mut bob, MAPS, 200).await;
    (server, admin, bob)
}

fn role(name: &str, rules: Value) -> Value {
    json!({"metadata": {"name": name}, "rules": rules})
}

fn binding(name: &str, kind: &str, role: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}],
    })
}

#[tokio::test]
async fn nobody_grants_what_they_do_not_have() {
    let (server, _, mut bob) = start_with_writer().await;
    let own = role("own", json!([rule(&["get"], &["configmaps"])]));
    assert_eq!(bob.post(ROLES, &own).await.code, 201);
    let more = json!([rule(&["get", "list"], &["configmaps", "secrets"])]);
    refused(
        &bob.post(ROLES, &role("more", more)).await,
        "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"bob\" (groups=[\"devs\" \
         \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n\
         {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}",
    );
    let widened = role("own", json!([rule(&["get", "delete"], &["configmaps"])]));
    let path = format!("{ROLES}/own");
    let put = bob.ask("PUT", &path, "application/json", widened.to_string());
    assert_eq!(put.await.code, 403);
    let patch = json!({"rules": [rule(&["*"], &["configmaps"])]}).to_string();
    let patched = bob.ask("PATCH", &path, "application/merge-patch+json", patch);
    assert_eq!(patched.await.code, 403);

    let bind = |kind, to| binding(to, kind, to);
    assert_eq!(bob.post(BINDINGS, &bind("Role", "own")).await.code, 201);
    let all = bob
        .post(BINDINGS, &bind("ClusterRole", "cluster-admin"))
        .await;
    assert_eq!(all.code, 403);
    let absent = bob.post(BINDINGS, &bind("Role", "absent")).await;
    let message = "rolebindings.rbac.authorization.k8s.io \"absent\" not found";
    assert_eq!(
        (absent.code, &absent.json()["message"]),
        (404, &json!(message))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn the_administrator_grants_everything_and_so_do_the_verbs_for_it() {
    let (server, mut admin, mut bob) = start_with_writer().await;
    let more = role("more", json!([rule(&["get"], &["secrets"])]));
    assert_eq!(admin.post(ROLES, &more).await.code, 201);
    let verbs = json!([
        {"verbs": ["escalate"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"]},
        {"verbs": ["bind"], "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["clusterroles"], "resourceNames": ["view"]},
    ]);
    grant(&mut admin, "verbs", "bob", verbs, false).await;
    let view = binding("view", "ClusterRole", "view");
    let bound = async {
        while bob.post(BINDINGS, &view).await.code != 201 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, bound)
        .await
        .expect("it may bind");
    let edit = binding("edit", "ClusterRole", "system:aggregate-to-edit");
    assert_eq!(
        bob.post(BINDINGS, &edit).await.code,
        403,
        "only what is named"
    );
    let escalated = role("escalated", json!([rule(&["*"], &["*"])]));
    assert_eq!(bob.post(ROLES, &escalated).await.code, 201);
    server.shutdown().await;
}

#[tokio::test]
async fn a_role_that_combines_others_needs_all_rights() {
    let server = start().await;
    let (mut admin, mut bob) = (admin(&server).await, user(&server, "bob").await);
    let rules = json!([{"verbs": WRITES, "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": ["clusterroles"]}]);
    grant(&mut admin, "roles", "bob", rules, true).await;
    until(&mut bob, &format!("{RBAC}/clusterroles"), 200).await;
    let combining = json!({
        "metadata": {"name": "all"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
    });
    refused(
        &bob.post(&format!("{RBAC}/clusterroles"), &combining).await,
        "clusterroles.rbac.authorization.k8s.io \"all\" is forbidden: must have cluster-admin \
         privileges to use the aggregationRule",
    );
    server.shutdown().await;
}

#[tokio::test]
async fn reviews_say_what_requests_get() {
    let server = start().await;
    let (mut admin, mut bob) = (admin(&server).await, user(&server, "bob").await);
    let rules = json!([rule(&["get"], &["pods"])]);
    grant(&mut admin, "pod-reader", "bob", rules, false).await;
    until(&mut bob, &format!("{PODS}/p"), 404).await;
    let reviews = "/apis/authorization.k8s.io/v1";
    let ask = |verb: &str, namespace: &str| {
        json!({"spec": {"resourceAttributes":
            {"verb": verb, "resource": "pods", "namespace": namespace}}})
    };
    let path = format!("{reviews}/selfsubjectaccessreviews");
    let status = bob.post(&path, &ask("get", "default")).await.json()["status"].clone();
    let reason = "RBAC: allowed by RoleBinding \"pod-reader/default\" of ClusterRole \"pod-reader\" \
                  to User \"bob\"";
    assert_eq!(status, json!({"allowed": true, "reason": reason}));
    let status = bob.post(&path, &ask("get", "other")).await.json()["status"].clone();
    assert_eq!(status, json!({"allowed": false}));
    let status = admin.post(&path, &ask("delete", "other")).await.json()["status"].clone();
    assert_eq!(status, json!({"allowed": true}));

    // Others are asked about by those who may.
    let mut about = ask("get", "default");
    about["spec"]["user"] = "bob".into();
    let path = format!("{reviews}/subjectaccessreviews");
    assert_eq!(bob.post(&path, &about).await.code, 403);
    assert_eq!(
        admin.post(&path, &about).await.json()["status"]["allowed"],
        true
    );

    let path = format!("{reviews}/selfsubjectrulesreviews");
    let rules = bob
        .post(&path, &json!({"spec": {"namespace": "default"}}))
        .await
        .json();
    let rules = &rules["status"]["resourceRules"];
    let rules = rules.as_array().expect("it is a list");
    assert!(rules.contains(&rule(&["get"], &["pods"])), "{rules:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn who_may_impersonate_is_handled_as_somebody_else() {
    let server = start().await;
    let mut admin = admin(&server).await.header("impersonate-user", "bob");
    let answer = admin.get(PODS).await;
    let message = &answer.json()["message"];
    assert!(
        message
            .as_str()
            .is_some_and(|it| it.contains("User \"bob\" cannot list")),
        "{message}"
    );
    let mut bob = user(&server, "bob").await.header("impersonate-user", "eve");
    refused(
        &bob.get(PODS).await,
        "pods is forbidden: User \"bob\" cannot impersonate-on:user-info:list resource \"pods\" in \
         API group \"\" in the namespace \"default\"",
    );
    let mut scraper = Client::in_memory(&server, Version::HTTP_2).await;
    let scraped = scraper.get("/metrics").await;
    let text = String::from_utf8_lossy(&scraped.bytes);
    for labels in [
        r#"decision="allowed",mode="user-info""#,
        r#"decision="denied",mode="""#,
    ] {
        for name in ["total", "duration_seconds_count"] {
            let line = format!("apiserver_impersonation_attempts_{name}{{{labels}}} 1");
            assert!(text.lines().any(|it| it == line), "{line}");
        }
    }
    server.shutdown().await;
}
