//! Requests that lead to kubelets, Pods and Services.

mod fake;
mod tunnels;

use crate::client::{Client, server};
use fake::Fake;
use http::Version;
use http_body_util::BodyExt;
use kubist_apiserver::{Authorization, Backends, Config, RunningServer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

const PODS: &str = "/api/v1/namespaces/default/pods";

/// A server with a node, a Pod on it and a Service of it, whose connections lead to a fake.
async fn cluster(change: impl FnOnce(&mut Backends)) -> (RunningServer, Arc<Fake>, Client) {
    let (fake, mut backends) = Fake::new();
    change(&mut backends);
    let config = Config {
        listen: None,
        backends,
        ..Config::default()
    };
    let server = server(config).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    populate(&mut client).await;
    (server, fake, client)
}

async fn populate(client: &mut Client) {
    let node = json!({
        "metadata": {"name": "n"},
        "status": {"addresses": [
            {"type": "InternalIP", "address": "10.0.0.1"},
            {"type": "Hostname", "address": "node-1"},
        ]},
    });
    assert_eq!(client.post("/api/v1/nodes", &node).await.code, 201);
    let ports = json!([{"containerPort": 8080}]);
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"nodeName": "n", "containers": [{"name": "a", "image": "i", "ports": ports}]},
    });
    assert_eq!(client.post(PODS, &pod).await.code, 201);
    let status = json!({"status": {"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}]}});
    patch_status(client, &status).await;
    let service = json!({
        "metadata": {"name": "web"},
        "spec": {"ports": [{"name": "http", "port": 80, "targetPort": 8080}]},
    });
    let path = "/api/v1/namespaces/default/services";
    assert_eq!(client.post(path, &service).await.code, 201);
    let target = json!({"kind": "Pod", "namespace": "default", "name": "p"});
    let addresses = json!([
        {"ip": "10.1.0.9"}, {"ip": "10.1.0.1", "targetRef": target},
    ]);
    let ports = json!([{"name": "http", "port": 8080}]);
    let endpoints = json!({
        "metadata": {"name": "web"}, "subsets": [{"addresses": addresses, "ports": ports}],
    });
    let path = "/api/v1/namespaces/default/endpoints";
    assert_eq!(client.post(path, &endpoints).await.code, 201);
}

async fn patch_status(client: &mut Client, status: &Value) {
    let path = format!("{PODS}/p/status");
    let kind = "application/merge-patch+json";
    let answer = client.ask("PATCH", &path, kind, status.to_string()).await;
    assert_eq!(answer.code, 200, "{:?}", answer.bytes);
}

/// Waits until nothing is connected any more.
async fn quiet(server: &RunningServer, fake: &Fake) {
    for _ in 0..1_000 {
        if (server.load().backend_connections, fake.open()) == (0, 0) {
            return;
        }
        sleep(Duration::from_millis(1)).await;
    }
    panic!(
        "{:?}, and the other side has {}",
        server.load(),
        fake.open()
    );
}

#[tokio::test]
async fn a_log_comes_from_the_kubelet_by_its_preferred_address() {
    let (server, fake, mut client) = cluster(|_| {}).await;
    let query = "tailLines=5&timestamps=true&container=a&limitBytes=100";
    let log = client.get(&format!("{PODS}/p/log?{query}")).await;
    assert_eq!((log.code, log.header("content-type")), (200, "text/plain"));
    assert_eq!(log.header("cache-control"), "no-cache, private");
    let asked = "/containerLogs/default/p/a?limitBytes=100&tailLines=5&timestamps=true";
    assert_eq!(log.json()["target"], asked);
    assert_eq!(log.json()["headers"]["host"], "node-1:10250");
    assert_eq!(*fake.dialed.lock(), ["node-1:10250"]);
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_log_that_is_followed_comes_line_by_line_and_ends_with_its_client() {
    let (server, fake, mut client) = cluster(|_| {}).await;
    let path = format!("{PODS}/p/log?follow=true");
    let response = client.send("GET", &path, "", "").await;
    let mut body = response.expect("it answers").into_body();
    for line in ["line 0\n", "line 1\n"] {
        let frame = body.frame().await.expect("it goes on").expect("it is fine");
        assert_eq!(frame.into_data().expect("it is data"), line);
        assert_eq!(server.load().backend_connections, 1);
        fake.write_line();
    }
    drop(body);
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_log_that_is_followed_has_no_deadline_and_does_not_delay_a_shutdown() {
    let (server, fake, mut client) = cluster(|_| {}).await;
    let path = format!("{PODS}/p/log?follow=true&timeout=1s");
    let response = client.send("GET", &path, "", "").await;
    let mut body = response.expect("it answers").into_body();
    body.frame().await.expect("it goes on").expect("it is fine");
    sleep(Duration::from_secs(3600)).await;
    fake.write_line();
    body.frame().await.expect("it goes on").expect("it is fine");
    let began = tokio::time::Instant::now();
    server.shutdown().await;
    assert!(began.elapsed() < Duration::from_secs(1));
    assert!(body.frame().await.is_none_or(|it| it.is_err()));
}

#[tokio::test]
async fn a_certificate_that_is_not_the_kubelets_counts_only_if_it_need_not_be_verified() {
    let (server, fake, mut client) = cluster(|backends| {
        backends.kubelet_address_types = vec!["InternalIP".to_owned()];
    })
    .await;
    let answer = client.get(&format!("{PODS}/p/log")).await;
    let message = answer.json()["message"].to_string();
    assert_eq!(answer.code, 500);
    let url = "Get \\\"https://10.0.0.1:10250/containerLogs/default/p/a\\\": tls: failed to verify";
    assert!(message.contains(url), "{message}");
    let path = format!("{PODS}/p/log?insecureSkipTLSVerifyBackend=true");
    assert_eq!(client.get(&path).await.code, 200);
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn without_an_address_of_a_configured_type_there_is_no_kubelet() {
    let (server, _fake, mut client) = cluster(|backends| {
        backends.kubelet_address_types = vec!["ExternalIP".to_owned()];
    })
    .await;
    let answer = client.get(&format!("{PODS}/p/log")).await;
    let known = "no preferred addresses found; known addresses: [{InternalIP 10.0.0.1} {Hostname \
                 node-1}]";
    assert_eq!(
        (answer.code, &answer.json()["message"]),
        (500, &json!(known))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_proxy_passes_requests_on_to_what_its_name_means() {
    let (server, fake, mut client) = cluster(|_| {}).await;
    let status = json!({"status": {"addresses": [{"type": "Hostname", "address": "10.0.0.1"}]}});
    for (path, dialed, target) in [
        (
            "pods/p/proxy/a//b/../c/?q=1%202",
            "10.1.0.1:8080",
            "/a/c/?q=1%202",
        ),
        ("pods/p:9090/proxy/", "10.1.0.1:9090", "/"),
        ("pods/http:p:9090/proxy/x", "10.1.0.1:9090", "/x"),
        ("services/web:80/proxy/s", "10.1.0.1:8080", "/s"),
        ("services/web:http/proxy/s", "10.1.0.1:8080", "/s"),
        ("services/http:web:http/proxy/s", "10.1.0.1:8080", "/s"),
    ] {
        fake.dialed.lock().clear();
        let path = format!("/api/v1/namespaces/default/{path}");
        let answer = client.get(&path).await;
        assert_eq!(answer.code, 200, "{path}: {:?}", answer.bytes);
        assert_eq!(*fake.dialed.lock(), [dialed], "{path}");
        assert_eq!(answer.json()["target"], target, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    let answer = client.get("/api/v1/nodes/n:9100/proxy/metrics").await;
    // A name that the test's resolver does not know.
    assert_eq!(answer.code, 400, "{:?}", answer.bytes);
    let path = "/api/v1/nodes/n/status";
    let kind = "application/merge-patch+json";
    let patched = client.ask("PATCH", path, kind, status.to_string()).await;
    assert_eq!(patched.code, 200);
    fake.dialed.lock().clear();
    let answer = client.get("/api/v1/nodes/n:9100/proxy/metrics").await;
    assert_eq!(
        (answer.code, &answer.json()["target"]),
        (200, &json!("/metrics"))
    );
    assert_eq!(*fake.dialed.lock(), ["10.0.0.1:9100"]);
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_proxy_passes_on_bodies_and_headers_but_not_who_asked() {
    let (server, fake, client) = cluster(|_| {}).await;
    let mut client = client
        .header("authorization", &format!("Bearer {}", crate::client::TOKEN))
        .header("x-mine", "1");
    let path = format!("{PODS}/p/proxy/in");
    let large = vec![b'x'; 5 << 20];
    let answer = client.ask("PUT", &path, "text/plain", large).await;
    assert_eq!(answer.code, 200, "{:?}", answer.bytes);
    let said = answer.json();
    assert_eq!(
        said["bytes"],
        5 << 20,
        "more than a body may have that is stored"
    );
    let headers = &said["headers"];
    assert_eq!(headers["content-type"], "text/plain");
    assert_eq!(headers["x-forwarded-uri"], path);
    assert_eq!(headers["host"], "localhost");
    assert_eq!(
        (&headers["x-mine"], &headers["authorization"]),
        (&json!("1"), &Value::Null)
    );
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn redirects_lead_through_the_proxy_again() {
    let (server, fake, mut client) = cluster(|_| {}).await;
    let proxy = format!("{PODS}/p/proxy");
    let answer = client.get(&format!("{proxy}/redirect")).await;
    let location = format!("{proxy}/there?a=b");
    assert_eq!((answer.code, answer.header("location")), (302, &*location));
    let answer = client.get(&format!("{proxy}?a=b")).await;
    let location = format!("{proxy}/?a=b");
    assert_eq!((answer.code, answer.header("location")), (301, &*location));
    assert_eq!(client.ask("POST", &proxy, "", "").await.code, 200);
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn what_cannot_be_reached_is_refused_in_upstreams_words() {
    let (server, _fake, mut client) = cluster(|_| {}).await;
    let refused = "dial tcp 10.1.0.1:1: connect: connection refused";
    for (path, code, message) in [
        (
            "pods/p:1/proxy/",
            503,
            format!("error trying to reach service: {refused}"),
        ),
        (
            "pods/ftp:p:1/proxy/",
            400,
            "invalid pod request \"ftp:p:1\"".to_owned(),
        ),
        (
            "services/web:81/proxy/",
            503,
            "no service port 81 found for service \"web\"".to_owned(),
        ),
        (
            "services/web/proxy/",
            503,
            "no endpoints available for service \"web\"".to_owned(),
        ),
        (
            "services/web:other/proxy/",
            503,
            "no endpoints available for service \"web:other\"".to_owned(),
        ),
        (
            "pods/p/exec?command=ls",
            400,
            "Upgrade request required".to_owned(),
        ),
        (
            "pods/p/portforward",
            400,
            "Upgrade request required".to_owned(),
        ),
    ] {
        let answer = client
            .get(&format!("/api/v1/namespaces/default/{path}"))
            .await;
        assert_eq!(
            (answer.code, &answer.json()["message"]),
            (code, &json!(message)),
            "{path}"
        );
    }
    let loopback = json!({"status": {"podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}});
    patch_status(&mut client, &loopback).await;
    let answer = client.get(&format!("{PODS}/p/proxy/")).await;
    assert_eq!(
        (answer.code, &answer.json()["message"]),
        (400, &json!("address not allowed"))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_service_without_endpoints_is_proxied_to_by_its_slices() {
    let (server, fake, mut client) = cluster(|_| {}).await;
    let endpoints = "/api/v1/namespaces/default/endpoints/web";
    assert_eq!(client.delete(endpoints).await.code, 200);
    let service = "/api/v1/namespaces/default/services/web:80/proxy/s";
    assert_eq!(client.get(service).await.code, 404);
    let target = json!({"kind": "Pod", "namespace": "default", "name": "p"});
    let slice = json!({
        "metadata": {"name": "web-1", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4", "ports": [{"name": "http", "port": 8080}],
        "endpoints": [{"addresses": ["10.1.0.1"], "targetRef": target}],
    });
    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    assert_eq!(client.post(path, &slice).await.code, 201);
    assert_eq!(client.get(service).await.code, 200);
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn requests_that_are_passed_on_hold_no_seat() {
    let (fake, backends) = Fake::new();
    let config = Config {
        listen: None,
        backends,
        requests_max: 1,
        mutating_requests_max: 1,
        ..Config::default()
    };
    let server = server(config).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    populate(&mut client).await;
    let mut followed = Vec::new();
    for _ in 0..5 {
        let path = format!("{PODS}/p/log?follow=true");
        let response = client.send("GET", &path, "", "").await;
        followed.push(response.expect("it answers"));
    }
    assert_eq!(server.load().backend_connections, 5);
    assert_eq!(client.get(&format!("{PODS}/p")).await.code, 200);
    drop(followed);
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_stops_its_backend() {
    let (server, fake, mut client) = cluster(|_| {}).await;
    let path = format!("{PODS}/p/proxy/endless");
    let response = client.send("GET", &path, "", "").await.expect("it answers");
    let mut before = 0;
    let mut stopped = 0;
    while stopped < 20 {
        sleep(Duration::from_millis(5)).await;
        let now = fake.sent();
        stopped = if now == before { stopped + 1 } else { 0 };
        before = now;
        // The client's own window has 2 MiB.
        assert!(now < 3 << 20, "{now} bytes that nobody reads");
    }
    drop(response);
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_ends_its_request() {
    let (server, fake, mut client) = cluster(|_| {}).await;
    let path = format!("{PODS}/p/proxy/silent");
    let answer = client.send("GET", &path, "", "");
    let answer = tokio::time::timeout(Duration::from_millis(100), answer).await;
    assert!(answer.is_err(), "nobody answers");
    quiet(&server, &fake).await;
    server.shutdown().await;
}

#[tokio::test]
async fn who_may_get_streams_but_not_create_them_is_refused() {
    let (_fake, backends) = Fake::new();
    let config = Config {
        listen: None,
        backends,
        authorization: Authorization::rbac(),
        ..Config::default()
    };
    let server = server(config).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    populate(&mut client).await;
    let group = "rbac.authorization.k8s.io";
    let path = format!("/apis/{group}/v1/clusterroles");
    let role = json!({"metadata": {"name": "r"}, "rules": [{
        "apiGroups": [""], "resources": ["pods/exec", "pods/log"], "verbs": ["get"],
    }]});
    assert_eq!(client.post(&path, &role).await.code, 201);
    let subject = json!({"apiGroup": group, "kind": "User", "name": "bob"});
    let binding = json!({
        "metadata": {"name": "b"}, "subjects": [subject],
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "r"},
    });
    let path = format!("/apis/{group}/v1/clusterrolebindings");
    assert_eq!(client.post(&path, &binding).await.code, 201);
    let mut bob = client.header("impersonate-user", "bob");
    let mut code = 0;
    for _ in 0..1_000 {
        // The binding counts within a moment.
        code = bob.get(&format!("{PODS}/p/log")).await.code;
        if code != 403 {
            break;
        }
        sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(code, 200);
    let answer = bob.get(&format!("{PODS}/p/exec?command=ls")).await;
    let message = answer.json()["message"].to_string();
    assert_eq!(answer.code, 403, "{message}");
    assert!(
        message.contains("pods \\\"p\\\" is forbidden: "),
        "{message}"
    );
    server.shutdown().await;
}
