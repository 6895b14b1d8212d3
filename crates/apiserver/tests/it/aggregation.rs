//! Group versions that another server serves.

mod backend;

use crate::client::{Answer, Client, server};
use backend::Backend;
use http::Version;
use http_body_util::BodyExt;
use kubist_apiserver::{AggregationConfig, Backends, Config, RunningServer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

const NAME: &str = "/apis/apiregistration.k8s.io/v1/apiservices/v1.zoo.example.com";
const ROOT: &str = "/apis/zoo.example.com/v1";
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A server, and another whose certificate it knows and that is reached at every address.
async fn servers() -> (RunningServer, Arc<Backend>, Client) {
    let (backend, identity) = Backend::new();
    let config = Config {
        listen: None,
        backends: Backends {
            dialer: Arc::clone(&backend) as Arc<_>,
            ..Backends::default()
        },
        aggregation: AggregationConfig {
            identity: Some(identity),
            ..AggregationConfig::default()
        },
        ..Config::default()
    };
    let server = server(config).await;
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    (server, backend, client)
}

/// Makes the Service and its endpoints.
async fn make_service(client: &mut Client) {
    let service = json!({
        "metadata": {"name": "zoo"},
        "spec": {"ports": [{"name": "https", "port": 443}]},
    });
    let path = "/api/v1/namespaces/default/services";
    assert_eq!(client.post(path, &service).await.code, 201);
    let slice = json!({
        "metadata": {"name": "zoo", "labels": {"kubernetes.io/service-name": "zoo"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.9"]}],
        "ports": [{"name": "https", "port": 8443}],
    });
    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    assert_eq!(client.post(path, &slice).await.code, 201);
}

fn api_service(backend: &Backend) -> Value {
    json!({
        "metadata": {"name": "v1.zoo.example.com"},
        "spec": {
            "group": "zoo.example.com", "version": "v1", "caBundle": backend.ca_bundle(),
            "groupPriorityMinimum": 17_150, "versionPriority": 15,
            "service": {"namespace": "default", "name": "zoo"},
        },
    })
}

async fn register(client: &mut Client, backend: &Backend) {
    let path = "/apis/apiregistration.k8s.io/v1/apiservices";
    let answer = client.post(path, &api_service(backend)).await;
    assert_eq!(answer.code, 201, "{:?}", answer.bytes);
}

/// Waits until the condition has this reason, and returns it.
async fn reason(client: &mut Client, reason: &str) -> Value {
    let mut last = Value::Null;
    for _ in 0..2_000 {
        let object = client.get(NAME).await.json();
        let condition = object["status"]["conditions"][0].clone();
        if condition["reason"] == reason {
            return condition;
        }
        last = condition;
        sleep(Duration::from_millis(2)).await;
    }
    panic!("{reason} is not said, but {last}");
}

/// Waits until a group is current in discovery.
async fn is_current(server: &RunningServer) -> Value {
    let mut client = Client::in_memory(server, Version::HTTP_2).await;
    client = client.header("accept", AGGREGATED);
    for _ in 0..2_000 {
        let document = client.get("/apis").await.json();
        let groups = document["items"].as_array().cloned().unwrap_or_default();
        let found = groups
            .iter()
            .find(|it| it["metadata"]["name"] == "zoo.example.com");
        let versions = found.and_then(|it| it["versions"].as_array());
        let is_current = |it: &Value| it["version"] == "v1" && it["freshness"] == "Current";
        if versions.is_some_and(|all| all.iter().any(is_current)) {
            return document;
        }
        sleep(Duration::from_millis(2)).await;
    }
    panic!("it is never current");
}

async fn available() -> (RunningServer, Arc<Backend>, Client) {
    let (server, backend, mut client) = servers().await;
    make_service(&mut client).await;
    register(&mut client, &backend).await;
    reason(&mut client, "Passed").await;
    // The condition counts when it comes back.
    for _ in 0..1_000 {
        if client.get(ROOT).await.code == 200 {
            return (server, backend, client);
        }
        sleep(Duration::from_millis(1)).await;
    }
    panic!("it is not forwarded to");
}

#[tokio::test]
async fn requests_go_to_the_other_server_with_the_users_identity_and_a_certificate() {
    let (server, backend, mut client) = available().await;
    let path = format!("{ROOT}/namespaces/default/lions/leo?pretty=true");
    let mut forger = Client::in_memory(&server, Version::HTTP_11)
        .await
        .header("x-remote-user", "mallory")
        .header("x-remote-group", "others")
        .header("x-remote-extra-scope", "all");
    let answer = forger.get(&path).await;
    assert_eq!(answer.code, 200, "{:?}", answer.bytes);
    let said = answer.json();
    assert_eq!(said["target"], path);
    let headers = &said["headers"];
    assert_eq!(headers["x-remote-user"], json!(["kubernetes-admin"]));
    assert_eq!(
        headers["x-remote-group"],
        json!(["system:masters", "system:authenticated"])
    );
    assert!(headers["x-remote-extra-scope"].is_null(), "{headers}");
    assert_eq!(
        headers["x-forwarded-uri"],
        json!([format!("{ROOT}/namespaces/default/lions/leo")])
    );
    assert!(backend.dialed().contains(&"10.0.0.9:8443".to_owned()));

    let body = json!({"kind": "Lion"}).to_string();
    let path = format!("{ROOT}/namespaces/default/lions");
    let answer = client
        .ask("POST", &path, "application/json", body.clone())
        .await;
    assert_eq!(
        (answer.code, &answer.json()["body"]),
        (200, &Value::from(body))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_of_the_other_server_comes_event_by_event() {
    let (server, backend, mut client) = available().await;
    let response = client
        .send("GET", &format!("{ROOT}/lions?watch=true"), "", "")
        .await;
    let mut body = response.expect("it answers").into_body();
    for event in ["event 0\n", "event 1\n", "event 2\n"] {
        backend.send_event();
        let frame = body.frame().await.expect("it goes on").expect("it is fine");
        assert_eq!(frame.into_data().expect("it is data"), event);
    }
    drop(body);
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_missing_is_said_in_the_condition_until_all_is_there() {
    let (server, backend, mut client) = servers().await;
    backend.answer_with(403);
    register(&mut client, &backend).await;
    let condition = reason(&mut client, "ServiceNotFound").await;
    assert_eq!(condition["status"], "False");
    assert_eq!(
        condition["message"],
        "service/zoo in \"default\" is not present"
    );
    // Nothing is forwarded, and what is local is not asked in its place.
    let answer = client.get(ROOT).await;
    assert_eq!(
        (answer.code, text(&answer)),
        (503, "service unavailable\n".to_owned())
    );
    make_service(&mut client).await;
    let condition = reason(&mut client, "FailedDiscoveryCheck").await;
    let url = "https://10.0.0.9:8443/apis/zoo.example.com/v1";
    let expected = format!("failing or missing response from {url}: bad status from {url}: 403");
    assert_eq!(condition["message"], expected);
    backend.answer_with(200);
    let condition = reason(&mut client, "Passed").await;
    assert_eq!(condition["status"], "True");
    assert_eq!(condition["message"], "all checks passed");

    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/zoo";
    let patch = json!({"ports": [{"name": "other", "port": 8443}]}).to_string();
    let kind = "application/merge-patch+json";
    assert_eq!(client.ask("PATCH", path, kind, patch).await.code, 200);
    let condition = reason(&mut client, "MissingEndpoints").await;
    let expected = "endpointslices for service/zoo in \"default\" have no addresses with port \
                    name \"https\"";
    assert_eq!(condition["message"], expected);
    assert_eq!(client.delete(path).await.code, 200);
    reason(&mut client, "EndpointsNotFound").await;
    let path = "/api/v1/namespaces/default/services/zoo";
    let patch = json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 80}]);
    let kind = "application/json-patch+json";
    assert_eq!(
        client
            .ask("PATCH", path, kind, patch.to_string())
            .await
            .code,
        200
    );
    let condition = reason(&mut client, "ServicePortError").await;
    assert_eq!(
        condition["message"],
        "service/zoo in \"default\" is not listening on port 443"
    );
    server.shutdown().await;
}

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

#[tokio::test]
async fn discovery_has_the_group_at_its_priority_with_all_resources() {
    let (server, _backend, mut client) = available().await;
    let document = is_current(&server).await;
    let names: Vec<&str> = document["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["metadata"]["name"].as_str().unwrap())
        .collect();
    let at = names
        .iter()
        .position(|it| *it == "zoo.example.com")
        .unwrap();
    assert_eq!(names[at - 1], "networking.k8s.io", "{names:?}");
    assert_eq!(names[at + 1], "policy", "{names:?}");
    let resource = &document["items"][at]["versions"][0]["resources"][0];
    assert_eq!(resource["resource"], "lions");
    assert_eq!(resource["responseKind"]["kind"], "Lion");
    let legacy = client.get("/apis").await.json();
    let groups = legacy["groups"].as_array().unwrap();
    let found = groups.iter().find(|it| it["name"] == "zoo.example.com");
    let version = json!({"groupVersion": "zoo.example.com/v1", "version": "v1"});
    let expected = json!({
        "name": "zoo.example.com", "preferredVersion": version, "versions": [version],
    });
    assert_eq!(found, Some(&expected));
    let group = client.get("/apis/zoo.example.com").await.json();
    assert_eq!(
        (&group["kind"], &group["versions"][0]),
        (&json!("APIGroup"), &version)
    );
    let index = client.get("/openapi/v3").await.json();
    let url = &index["paths"]["apis/zoo.example.com/v1"]["serverRelativeURL"];
    assert_eq!(url, "/openapi/v3/apis/zoo.example.com/v1?hash=7");
    let document = client.get(url.as_str().unwrap()).await.json();
    assert_eq!(document["target"], *url);

    assert_eq!(client.delete(NAME).await.code, 200);
    for _ in 0..1_000 {
        if client.get("/apis/zoo.example.com").await.code == 404 {
            assert_eq!(client.get(ROOT).await.code, 404);
            server.shutdown().await;
            return;
        }
        sleep(Duration::from_millis(1)).await;
    }
    panic!("it is still served");
}

#[tokio::test]
async fn a_server_that_is_gone_is_stale_and_unavailable() {
    let (server, backend, mut client) = available().await;
    is_current(&server).await;
    backend.be_gone();
    // The first request that fails has it checked before its time.
    assert_eq!(client.get(ROOT).await.code, 503);
    reason(&mut client, "FailedDiscoveryCheck").await;
    let mut other = Client::in_memory(&server, Version::HTTP_2).await;
    other = other.header("accept", AGGREGATED);
    for _ in 0..1_000 {
        let document = other.get("/apis").await.json();
        let groups = document["items"].as_array().unwrap();
        let found = groups
            .iter()
            .find(|it| it["metadata"]["name"] == "zoo.example.com");
        let version = &found.unwrap()["versions"][0];
        // What it said last is still known.
        assert_eq!(version["resources"][0]["resource"], "lions");
        if version["freshness"] == "Stale" {
            assert_eq!(client.get(ROOT).await.code, 503);
            server.shutdown().await;
            return;
        }
        sleep(Duration::from_millis(1)).await;
    }
    panic!("it is never stale");
}

#[tokio::test]
async fn the_api_by_which_all_is_undone_stays_here_and_any_other_can_be_taken() {
    let (server, backend, mut client) = available().await;
    for (group, version) in [("apiregistration.k8s.io", "v1"), ("apps", "v1")] {
        let mut object = api_service(&backend);
        object["metadata"]["name"] = json!(format!("{version}.{group}"));
        object["spec"]["group"] = json!(group);
        object["spec"]["version"] = json!(version);
        let path = "/apis/apiregistration.k8s.io/v1/apiservices";
        assert_eq!(client.post(path, &object).await.code, 201);
    }
    let path = "/apis/apps/v1/namespaces/default/deployments";
    for _ in 0..1_000 {
        if client.get(path).await.json()["target"] == path {
            let path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps";
            assert_eq!(client.delete(path).await.code, 200);
            server.shutdown().await;
            return;
        }
        sleep(Duration::from_millis(2)).await;
    }
    panic!("it is still served here");
}

#[tokio::test]
async fn a_server_that_says_nonsense_costs_the_others_nothing() {
    let (server, backend, mut client) = available().await;
    is_current(&server).await;
    for (version, nonsense) in [
        ("v2", json!(["x"])),
        ("v3", json!([{"resource": 5}])),
        ("v4", json!([{"resource": "x", "subresources": ["y"]}])),
    ] {
        backend.say(version, &nonsense);
        let mut object = api_service(&backend);
        object["metadata"]["name"] = json!(format!("{version}.zoo.example.com"));
        object["spec"]["version"] = json!(version);
        let path = "/apis/apiregistration.k8s.io/v1/apiservices";
        assert_eq!(client.post(path, &object).await.code, 201);
        let path = format!("{path}/{version}.zoo.example.com");
        for _ in 0..2_000 {
            let object = client.get(&path).await.json();
            if object["status"]["conditions"][0]["reason"] == "Passed" {
                break;
            }
            sleep(Duration::from_millis(2)).await;
        }
    }
    backend.say("v1", &json!([{"resource": "bears", "verbs": ["get"]}]));
    // All of them are asked on and on: one more is found.
    let mut object = api_service(&backend);
    object["metadata"]["name"] = json!("v1.later.example.com");
    object["spec"]["group"] = json!("later.example.com");
    let path = "/apis/apiregistration.k8s.io/v1/apiservices";
    assert_eq!(client.post(path, &object).await.code, 201);
    let document = is_current(&server).await;
    let groups = document["items"].as_array().unwrap();
    let zoo = groups
        .iter()
        .find(|it| it["metadata"]["name"] == "zoo.example.com");
    let versions = zoo.unwrap()["versions"].as_array().unwrap();
    for version in versions {
        let is_sound = version["version"] == "v1";
        assert_eq!(version["resources"].is_array(), is_sound, "{version}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn redirects_of_the_other_server_are_refused() {
    let (server, _backend, mut client) = available().await;
    let answer = client.get(&format!("{ROOT}/redirect")).await;
    let expected = "the backend attempted to redirect this request, which is not permitted\n";
    assert_eq!((answer.code, text(&answer)), (502, expected.to_owned()));
    server.shutdown().await;
}

#[tokio::test]
async fn an_authority_that_is_none_is_said_to_whoever_asks() {
    let (server, backend, mut client) = servers().await;
    make_service(&mut client).await;
    let mut object = api_service(&backend);
    object["spec"]["caBundle"] = json!("bm8gY2VydGlmaWNhdGU=");
    let path = "/apis/apiregistration.k8s.io/v1/apiservices";
    assert_eq!(client.post(path, &object).await.code, 201);
    let condition = reason(&mut client, "FailedDiscoveryCheck").await;
    let message = condition["message"].as_str().unwrap();
    assert!(
        message.contains("unable to load root certificates"),
        "{message}"
    );
    server.shutdown().await;
}
