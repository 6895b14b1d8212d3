//! Priority and fairness: classification by stored flow schemas, queues, headers and metrics.

use crate::client::{Client, server_with};
use http::Version;
use kubist_apiserver::{Config, RunningServer, StaticToken};
use kubist_kinds::BuiltIn;
use kubist_registry::User;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const FLOWS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SCHEMA_UID: &str = "x-kubernetes-pf-flowschema-uid";
const LEVEL_UID: &str = "x-kubernetes-pf-prioritylevel-uid";
/// How long a written schema may take to count, and its condition to be written.
const PATIENCE: Duration = Duration::from_secs(10);

async fn start() -> RunningServer {
    let token = |name: &str, group: &str| StaticToken {
        token: name.to_owned(),
        user: User {
            name: name.into(),
            groups: vec![group.into(), "system:authenticated".into()],
            ..User::default()
        },
    };
    let config = Config {
        listen: None,
        tokens: vec![token("alice", "devs"), token("node", "system:nodes")],
        priority_and_fairness: true,
        ..Config::default()
    };
    server_with(config, |registry| {
        let mut kinds = BuiltIn::default();
        kinds.default_flows = true;
        registry.kinds = Arc::new(kinds);
    })
    .await
}

async fn user(server: &RunningServer, name: &str) -> Client {
    let client = Client::in_memory(server, Version::HTTP_2).await;
    client.header("authorization", &format!("Bearer {name}"))
}

async fn uid(admin: &mut Client, kind: &str, name: &str) -> Value {
    let found = admin.get(&format!("{FLOWS}/{kind}/{name}")).await;
    assert_eq!(found.code, 200, "{}", found.json());
    found.json()["metadata"]["uid"].clone()
}

#[tokio::test]
async fn responses_name_the_schema_and_the_level_of_the_request() {
    let server = start().await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    for (name, schema, level) in [
        ("", "exempt", "exempt"),
        ("alice", "global-default", "global-default"),
        ("node", "system-nodes", "system"),
    ] {
        let mut client = match name {
            "" => Client::in_memory(&server, Version::HTTP_2).await,
            name => user(&server, name).await,
        };
        let answer = client.get(MAPS).await;
        assert_eq!(answer.code, 200);
        let expected = uid(&mut admin, "flowschemas", schema).await;
        assert_eq!(
            answer.headers[SCHEMA_UID],
            *expected.as_str().expect("a text"),
            "{name}"
        );
        let expected = uid(&mut admin, "prioritylevelconfigurations", level).await;
        assert_eq!(
            answer.headers[LEVEL_UID],
            *expected.as_str().expect("a text"),
            "{name}"
        );
    }
    let mut alice = user(&server, "alice").await;
    let created = alice.post(MAPS, &json!({"metadata": {"name": "m"}})).await;
    assert_eq!(created.code, 201);
    assert!(created.headers.contains_key(SCHEMA_UID), "with a body, too");
    server.shutdown().await;
}

fn schema(name: &str, level: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "matchingPrecedence": 300,
            "priorityLevelConfiguration": {"name": level},
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{
                "subjects": [{"kind": "User", "user": {"name": "alice"}}],
                "resourceRules": [{
                    "verbs": ["*"], "apiGroups": [""], "resources": ["configmaps"],
                    "namespaces": ["*"],
                }],
            }],
        },
    })
}

/// Waits until the schema has its condition `Dangling` with this status.
async fn dangling(admin: &mut Client, name: &str, status: &str) -> Value {
    let reached = async {
        loop {
            let found = admin
                .get(&format!("{FLOWS}/flowschemas/{name}"))
                .await
                .json();
            let condition = found["status"]["conditions"][0].clone();
            if condition["status"] == status {
                assert_eq!(condition["type"], "Dangling");
                return condition;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, reached)
        .await
        .expect("it has its condition")
}

#[tokio::test]
async fn a_new_schema_counts_once_its_level_exists() {
    let server = start().await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let mut alice = user(&server, "alice").await;
    let made = admin
        .post(&format!("{FLOWS}/flowschemas"), &schema("maps", "mine"))
        .await;
    assert_eq!(made.code, 201, "{}", made.json());
    let uid = made.json()["metadata"]["uid"].clone();
    let uid = uid.as_str().expect("a text");
    let condition = dangling(&mut admin, "maps", "True").await;
    assert_eq!(condition["reason"], "NotFound");
    assert_eq!(
        condition["message"],
        "This FlowSchema references the PriorityLevelConfiguration object named \"mine\" but there \
         is no such object"
    );
    assert_ne!(alice.get(MAPS).await.headers[SCHEMA_UID], *uid);
    let level = json!({
        "metadata": {"name": "mine"},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 10, "limitResponse": {"type": "Reject"},
        }},
    });
    let made = admin
        .post(&format!("{FLOWS}/prioritylevelconfigurations"), &level)
        .await;
    assert_eq!(made.code, 201, "{}", made.json());
    let condition = dangling(&mut admin, "maps", "False").await;
    assert_eq!(condition["reason"], "Found");
    assert_eq!(alice.get(MAPS).await.headers[SCHEMA_UID], *uid);
    let metrics = admin.get("/metrics").await;
    let text = String::from_utf8_lossy(&metrics.bytes);
    for line in [
        "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"mine\"} 24",
        "apiserver_flowcontrol_dispatched_requests_total{flow_schema=\"maps\",priority_level=\"mine\"} 1",
        "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"workload-low\"} 236",
    ] {
        assert!(text.contains(line), "{line:?} is not in the metrics");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn an_administrators_change_of_a_default_is_kept_and_a_mandatory_one_is_refused() {
    let server = start().await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let path = format!("{FLOWS}/prioritylevelconfigurations/catch-all");
    let mut level = admin.get(&path).await.json();
    level["spec"]["limited"]["nominalConcurrencyShares"] = json!(50);
    let body = level.to_string();
    let refused = admin.ask("PUT", &path, "application/json", body).await;
    assert_eq!(refused.code, 422, "{}", refused.json());
    server.shutdown().await;
}

#[tokio::test]
async fn what_waits_and_what_is_handled_is_dumped_in_tables() {
    const DUMPS: &str = "/debug/api_priority_and_fairness";
    let server = start().await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let mut alice = user(&server, "alice").await;
    for _ in 0..3 {
        assert_eq!(alice.get(MAPS).await.code, 200);
    }
    let lines = async |admin: &mut Client, name: &str| -> Vec<Vec<String>> {
        let answer = admin.get(&format!("{DUMPS}/{name}")).await;
        assert_eq!(answer.code, 200, "{name}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
        let text = String::from_utf8(answer.bytes.to_vec()).expect("it is text");
        let cells = |line: &str| line.split(',').map(|it| it.trim().to_owned()).collect();
        text.lines().map(cells).collect()
    };
    let levels = lines(&mut admin, "dump_priority_levels").await;
    let of = |name: &str| levels.iter().find(|it| it[0] == name).expect("a level");
    assert_eq!(
        of("global-default")[1..],
        ["0", "true", "false", "0", "0", "3", "0", "0", "0"]
    );
    assert_eq!(of("exempt")[2], "false", "this request is handled");
    assert_eq!(levels[0][9], "CancelledRequests");
    let queues = lines(&mut admin, "dump_queues").await;
    let of_system: Vec<_> = queues.iter().filter(|it| it[0] == "system").collect();
    assert_eq!(of_system.len(), 64);
    assert_eq!(of_system[63][1], "63");
    let requests = lines(&mut admin, "dump_requests").await;
    let [head, own] = &requests[..] else {
        panic!("{requests:?}");
    };
    assert_eq!(head[4], "FlowDistingsher");
    assert_eq!(own[..5], ["exempt", "exempt", "-1", "-1", ""]);
    assert!(own[5].ends_with('Z') && own[9] == own[5], "{own:?}");
    assert_eq!(admin.get(&format!("{DUMPS}/none")).await.code, 404);
}
