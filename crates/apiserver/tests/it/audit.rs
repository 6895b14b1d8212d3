//! The audit log: which requests are in it, with what, and in which order.

mod backends;

use crate::client::{Client, server};
use http::Version;
use kubist_apiserver::audit::{Audit, AuditSink, Policy};
use kubist_apiserver::{Authorization, Config, RunningServer, StaticToken};
use kubist_registry::User;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::time::Duration;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Keeps all events.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Value>>>);

impl AuditSink for Kept {
    fn write(&mut self, events: &[Arc<str>]) -> io::Result<()> {
        assert!(
            events.iter().all(|it| !it.contains('\n')),
            "an event is a line"
        );
        let parsed = events
            .iter()
            .map(|it| serde_json::from_str(it).expect("it is JSON"));
        self.0.lock().extend(parsed);
        Ok(())
    }
}

/// Starts a server with a policy of these rules; Bob may do nothing.
async fn start(rules: &str) -> (RunningServer, Kept) {
    let kept = Kept::default();
    let audit = Audit::new(policy(rules), kept.clone()).expect("there is room for a thread");
    (start_with(audit).await, kept)
}

fn policy(rules: &str) -> Policy {
    let text = format!("{{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{rules}]}}");
    Policy::parse(text.as_bytes()).expect("it is a policy")
}

async fn start_with(audit: Audit) -> RunningServer {
    let bob = StaticToken {
        token: "bob".to_owned(),
        user: User {
            name: "bob".into(),
            groups: vec!["system:authenticated".into()],
            ..User::default()
        },
    };
    server(Config {
        listen: None,
        tokens: vec![bob],
        authorization: Authorization::rbac(),
        audit: Some(audit),
        ..Config::default()
    })
    .await
}

/// The events of a path after the server has ended, so that all are written.
async fn events(server: RunningServer, kept: &Kept, path: &str) -> Vec<Value> {
    server.shutdown().await;
    let all = kept.0.lock();
    let of_path = |it: &&Value| {
        it["requestURI"]
            .as_str()
            .is_some_and(|it| it.starts_with(path))
    };
    all.iter().filter(of_path).cloned().collect()
}

#[tokio::test]
async fn a_write_is_recorded_with_its_bodies() {
    let (server, kept) = start("{level: RequestResponse, omitManagedFields: true}").await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let map = json!({"metadata": {"name": "m"}, "data": {"a": "b"}});
    assert_eq!(admin.post(MAPS, &map).await.code, 201);
    drop(admin);
    let events = events(server, &kept, MAPS).await;
    let [received, complete] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(
        (&received["stage"], &received["kind"]),
        (&json!("RequestReceived"), &json!("Event"))
    );
    assert_eq!(received["auditID"], complete["auditID"]);
    assert_eq!(received["verb"], "create");
    assert_eq!(received.get("requestObject"), None);
    assert_eq!(complete["stage"], "ResponseComplete");
    assert_eq!(complete["objectRef"]["name"], "m");
    assert_eq!(complete["objectRef"]["resource"], "configmaps");
    assert_eq!(complete["requestObject"]["data"], json!({"a": "b"}));
    assert_eq!(
        complete["responseStatus"],
        json!({"metadata": {}, "code": 201})
    );
    let metadata = &complete["responseObject"]["metadata"];
    assert!(metadata["uid"].is_string() && metadata.get("managedFields").is_none());
    assert_eq!(
        complete["annotations"]["authorization.k8s.io/decision"],
        "allow"
    );
}

#[tokio::test]
async fn a_refusal_is_recorded_with_its_reason() {
    let (server, kept) = start("{level: Metadata, omitStages: [RequestReceived]}").await;
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut bob = client.header("authorization", "Bearer bob");
    assert_eq!(bob.get(MAPS).await.code, 403);
    drop(bob);
    let events = events(server, &kept, MAPS).await;
    let [complete] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(complete["user"]["username"], "bob");
    assert_eq!(
        complete["annotations"]["authorization.k8s.io/decision"],
        "forbid"
    );
    assert_eq!(complete["responseStatus"]["code"], 403);
    assert_eq!(complete["responseStatus"]["reason"], "Forbidden");
    assert_eq!(complete.get("responseObject"), None);
}

#[tokio::test]
async fn a_deletion_is_recorded_with_the_status_that_answers_it() {
    let (server, kept) = start("{level: Metadata, verbs: [delete]}").await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let map = json!({"metadata": {"name": "m"}});
    let created = admin.post(MAPS, &map).await;
    let uid = created.json()["metadata"]["uid"].clone();
    assert_eq!(admin.delete(&format!("{MAPS}/m")).await.code, 200);
    drop(admin);
    let events = events(server, &kept, MAPS).await;
    let details = json!({"name": "m", "kind": "configmaps", "uid": uid});
    assert_eq!(
        events.last().expect("it is recorded")["responseStatus"],
        json!({"metadata": {}, "status": "Success", "details": details, "code": 200})
    );
}

#[tokio::test]
async fn requests_for_deprecated_kinds_are_marked() {
    let (server, kept) = start("{level: Metadata, omitStages: [RequestReceived]}").await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    for path in ["/api/v1/endpoints", "/api/v1/pods"] {
        assert_eq!(admin.get(path).await.code, 200);
    }
    drop(admin);
    let events = events(server, &kept, "/api/v1/").await;
    let marks: Vec<_> = events
        .iter()
        .map(|it| &it["annotations"]["k8s.io/deprecated"])
        .collect();
    assert_eq!(marks, [&json!("true"), &Value::Null]);
}

#[tokio::test]
async fn a_token_and_the_requests_with_it_have_the_same_credential() {
    let (server, kept) = start("{level: Metadata, omitStages: [RequestReceived]}").await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"metadata": {"name": "a"}});
    assert_eq!(admin.post(accounts, &account).await.code, 201);
    let path = format!("{accounts}/a/token");
    let issued = admin.post(&path, &json!({"spec": {}})).await;
    assert_eq!(issued.code, 201);
    let issued = issued.json();
    let token = issued["status"]["token"].as_str().expect("a token");
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut account = client.header("authorization", &format!("Bearer {token}"));
    assert_eq!(account.get(MAPS).await.code, 403);
    drop((admin, account));
    let events = events(server, &kept, "/api/v1/").await;
    let [.., issued, used] = &events[..] else {
        panic!("{events:?}");
    };
    let credential = &used["user"]["extra"]["authentication.kubernetes.io/credential-id"][0];
    assert!(
        credential.as_str().is_some_and(|it| it.starts_with("JTI=")),
        "{used}"
    );
    assert_eq!(
        &issued["annotations"]["authentication.kubernetes.io/issued-credential-id"],
        credential
    );
}

#[tokio::test]
async fn a_watch_is_recorded_when_it_starts_and_when_it_ends() {
    let (server, kept) = start("{level: Metadata, verbs: [watch]}").await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let path = format!("{MAPS}?watch=true&timeoutSeconds=1");
    assert_eq!(admin.get(&path).await.code, 200);
    drop(admin);
    let events = events(server, &kept, MAPS).await;
    let stages: Vec<&Value> = events.iter().map(|it| &it["stage"]).collect();
    assert_eq!(
        stages,
        ["RequestReceived", "ResponseStarted", "ResponseComplete"]
    );
}

#[tokio::test]
async fn nothing_is_recorded_of_what_no_rule_matches() {
    let (server, kept) = start("{level: Metadata, verbs: [delete]}").await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(admin.get(MAPS).await.code, 200);
    let deleted = admin.delete(&format!("{MAPS}/none")).await;
    assert_eq!(deleted.code, 404);
    drop(admin);
    let events = events(server, &kept, MAPS).await;
    assert!(events.iter().all(|it| it["verb"] == "delete") && events.len() == 2);
}

#[tokio::test]
async fn a_body_with_line_breaks_is_one_line_of_the_log() {
    let (server, kept) = start("{level: Request}").await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let body = "{\"metadata\":{\"name\":\"f\"},\n\"data\":\n{\"kind\":\"Event\"}\n}";
    let created = admin.ask("POST", MAPS, "application/json", body).await;
    assert_eq!(created.code, 201);
    drop(admin);
    let events = events(server, &kept, MAPS).await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[1]["requestObject"]["data"], json!({"kind": "Event"}));
}

#[tokio::test]
async fn large_bodies_at_once_wait_for_each_other_and_not_for_ever() {
    let (server, kept) = start("{level: RequestResponse}").await;
    let body = json!({"metadata": {"name": "m"}, "data": {"a": "x".repeat(2_900_000)}});
    let body = body.to_string();
    let mut posts = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let mut client = Client::in_memory(&server, Version::HTTP_2).await;
        let body = body.clone();
        posts.spawn(async move {
            client
                .ask("POST", MAPS, "application/json", body)
                .await
                .code
        });
    }
    let codes = tokio::time::timeout(Duration::from_secs(50), posts.join_all()).await;
    let codes = codes.expect("they are answered");
    assert!(codes.iter().all(|it| *it == 422), "{codes:?}");
    let events = events(server, &kept, MAPS).await;
    assert_eq!(events.len(), 60);
}
