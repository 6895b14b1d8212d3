//! Attempts to gain rights, for each of the ways that Kubernetes documents, and their refusals:
//! `escalations.json` has the attempts, and what a kube-apiserver v1.36.3 with the same
//! authorizers and plugins answered. An attempt that a further right allows is repeated with it, so
//! that it is that right which is missing before.

use bytes::Bytes;
use http::{Method, Request, header};
use kubist::admission::PluginSelection;
use kubist::registry::User;
use kubist::transport::{Body, Transport};
use kubist::{Authorization, AuthorizationMode, Server, ServerConfig};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const GROUP: &str = "rbac.authorization.k8s.io";
/// How long a role may take to count.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(2);
/// Plugins that are off by default and refuse attempts.
const PLUGINS: [&str; 2] = ["NodeRestriction", "OwnerReferencesPermissionEnforcement"];

struct Answer {
    code: u16,
    message: String,
}

async fn send(transport: &Transport, case: &Value) -> Answer {
    let text = |key: &str| case[key].as_str().unwrap_or_default();
    let method: Method = text("method").parse().unwrap();
    let body = case.get("body").map(|it| Bytes::from(it.to_string()));
    let kind = match text("type") {
        "" => "application/json",
        kind => kind,
    };
    let mut request = Request::builder()
        .method(method)
        .uri(text("path"))
        .header(header::CONTENT_TYPE, kind)
        .header(header::ACCEPT, "application/json");
    for (name, value) in case["headers"].as_object().into_iter().flatten() {
        request = request.header(name, value.as_str().unwrap());
    }
    let request = request.body(Body::from(body.unwrap_or_default())).unwrap();
    let response = transport.send(request).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().bytes(1 << 20).await.unwrap();
    let status: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let message = status["message"].as_str().unwrap_or_default().to_owned();
    Answer { code, message }
}

async fn post(admin: &Transport, path: &str, body: &Value) {
    let case = json!({"method": "POST", "path": path, "body": body});
    let answer = send(admin, &case).await;
    assert!(
        answer.code < 300,
        "{path}: {} {}",
        answer.code,
        answer.message
    );
}

async fn delete(admin: &Transport, path: &str) {
    let answer = send(admin, &json!({"method": "DELETE", "path": path})).await;
    assert_eq!(answer.code, 200, "{path}: {}", answer.message);
}

/// Gives a user a role of this name in the whole cluster.
async fn grant(admin: &Transport, name: &str, user: &str, rules: &Value) {
    let role = json!({"metadata": {"name": name}, "rules": rules});
    post(admin, &format!("{RBAC}/clusterroles"), &role).await;
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": user}],
    });
    post(admin, &format!("{RBAC}/clusterrolebindings"), &binding).await;
}

async fn revoke(admin: &Transport, name: &str) {
    delete(admin, &format!("{RBAC}/clusterrolebindings/{name}")).await;
    delete(admin, &format!("{RBAC}/clusterroles/{name}")).await;
}

/// Repeats an attempt until its answer is the expected one, for as long as a role may take.
async fn answered(
    transport: &Transport,
    case: &Value,
    expected: impl Fn(&Answer) -> bool,
) -> Answer {
    let until = Instant::now() + PATIENCE;
    loop {
        let answer = send(transport, case).await;
        if expected(&answer) || Instant::now() > until {
            return answer;
        }
        sleep(POLL).await;
    }
}

fn user_of(case: &Value) -> User {
    let groups = case["groups"].as_array().into_iter().flatten();
    User {
        name: case["user"].as_str().unwrap().into(),
        groups: groups.map(|it| it.as_str().unwrap().into()).collect(),
        ..User::default()
    }
}

#[tokio::test]
async fn attempts_to_gain_rights_are_refused_as_by_a_kube_apiserver() {
    let table: Value = serde_json::from_str(include_str!("escalations.json")).unwrap();
    let config = ServerConfig {
        listen: None,
        controllers: [].into(),
        authorization: Authorization::chain([AuthorizationMode::Node, AuthorizationMode::Rbac]),
        admission_plugins: PluginSelection::new(&PLUGINS.map(str::to_owned), &[]).unwrap(),
        runtime_config: "certificates.k8s.io/v1beta1=true".parse().unwrap(),
        ..ServerConfig::default()
    };
    let server = Server::start(config).await.unwrap();
    let masters = User {
        name: "admin".into(),
        groups: vec!["system:masters".into()],
        ..User::default()
    };
    let admin = server.in_process_transport(masters, None).unwrap();
    for object in table["setup"].as_array().unwrap() {
        post(&admin, object["path"].as_str().unwrap(), &object["body"]).await;
    }
    let mut differences = Vec::new();
    let cases = table["cases"].as_array().unwrap();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let user = server.in_process_transport(user_of(case), None).unwrap();
        let (code, message) = (&case["code"], case["message"].as_str().unwrap());
        let own = format!("own-{name}");
        grant(
            &admin,
            &own,
            case["user"].as_str().unwrap(),
            &case["grants"],
        )
        .await;
        let answer = answered(&user, case, |it| *code == it.code && it.message == message).await;
        if *code != answer.code || answer.message != message {
            let Answer {
                code: ours,
                message: said,
            } = &answer;
            differences.push(format!(
                "{name}\n  ours   {ours} {said}\n  theirs {code} {message}"
            ));
        }
        if let Some(rules) = case.get("allowedWith") {
            let more = format!("more-{name}");
            grant(&admin, &more, case["user"].as_str().unwrap(), rules).await;
            let expected = &case["allowedCode"];
            let answer = answered(&user, case, |it| *expected == it.code).await;
            if *expected != answer.code {
                let Answer {
                    code: ours,
                    message: said,
                } = &answer;
                differences.push(format!(
                    "{name}, allowed\n  ours   {ours} {said}\n  theirs {expected}"
                ));
            }
            revoke(&admin, &more).await;
        }
        revoke(&admin, &own).await;
    }
    let all = differences.join("\n");
    assert!(
        differences.is_empty(),
        "{} of {} differ:\n{all}",
        differences.len(),
        cases.len()
    );
    assert!(cases.len() >= 69, "{} cases", cases.len());
    server.shutdown().await;
}
