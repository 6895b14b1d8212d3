//! Every subresource in discovery is served, including those that connect to nodes.

use crate::client::{Client, silent_server};
use http::Version;
use kubist_api::GROUPS;
use serde_json::json;

const PODS: &str = "/api/v1/namespaces/default/pods";

#[tokio::test]
async fn each_subresource_that_discovery_lists_is_served() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let versions = GROUPS.iter().flat_map(|group| group.versions);
    let mut asked = 0;
    for facts in versions.flat_map(|version| version.resources) {
        for subresource in facts.subresources {
            let root = match facts.group {
                "" => "/api".to_owned(),
                group => format!("/apis/{group}"),
            };
            let namespace = if facts.namespaced {
                "/namespaces/default"
            } else {
                ""
            };
            let path = format!(
                "{root}/{}{namespace}/{}/nobody/{}",
                facts.version, facts.plural, subresource.name
            );
            let has = |verb| subresource.verbs.contains(&verb);
            let method = if has("get") {
                "GET"
            } else if has("create") {
                "POST"
            } else {
                "PUT"
            };
            let answer = client.ask(method, &path, "application/json", "{}").await;
            let message = answer.json()["message"].to_string();
            let is_missing = "the server could not find the requested resource";
            assert!(!message.contains(is_missing), "{method} {path}: {message}");
            assert_ne!(answer.code, 405, "{method} {path}");
            asked += 1;
        }
    }
    assert!(asked > 40, "{asked} subresources");
    server.shutdown().await;
}

#[tokio::test]
async fn an_eviction_of_the_old_version_is_one() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let containers = json!([{"name": "a", "image": "i"}]);
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": containers}});
    assert_eq!(client.post(PODS, &pod).await.code, 201);
    let eviction = json!({
        "apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "p"},
    });
    let evicted = client.post(&format!("{PODS}/p/eviction"), &eviction).await;
    assert_eq!(
        (evicted.code, &evicted.json()["status"]),
        (201, &json!("Success"))
    );
    assert_eq!(client.get(&format!("{PODS}/p")).await.code, 404);
    server.shutdown().await;
}

#[tokio::test]
async fn a_scale_has_a_table_of_its_own() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "main", "image": "a:1"}]},
            },
        },
    });
    let path = "/apis/apps/v1/namespaces/default/deployments";
    assert_eq!(client.post(path, &deployment).await.code, 201);
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut client = client.header("accept", accept);
    let table = client.get(&format!("{path}/d/scale")).await;
    assert_eq!(table.code, 200);
    let table = table.json();
    let columns = table["columnDefinitions"].as_array().expect("a list");
    let names: Vec<_> = columns.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["Name", "Desired", "Available", "Age"]);
    let cells = table["rows"][0]["cells"].as_array().expect("a list");
    assert_eq!(cells[..3], [json!("d"), json!(3), json!(0)]);
    server.shutdown().await;
}

#[tokio::test]
async fn what_needs_a_node_says_how_far_it_came() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let containers = json!([{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]);
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": containers}});
    assert_eq!(client.post(PODS, &pod).await.code, 201);
    let logs = client.get(&format!("{PODS}/p/log?container=a")).await;
    assert_eq!((logs.code, logs.bytes.len()), (204, 0));
    assert_eq!(logs.header("content-type"), "");
    let node = json!({"target": {"name": "n"}, "metadata": {"name": "p"}});
    for (path, code, message) in [
        (
            "/p/log",
            400,
            "a container name must be specified for pod p, choose one of: [a b]",
        ),
        (
            "/p/log?container=c",
            400,
            "container c is not valid for pod p",
        ),
        ("/q/log", 404, "pods \"q\" not found"),
        (
            "/p/exec?container=a",
            400,
            "pod p does not have a host assigned",
        ),
        ("/p/binding", 201, ""),
        ("/p/log?container=b", 404, "pods \"n\" not found"),
        ("/p/proxy", 400, "address not allowed"),
        (
            "/none/log?tailLines=x",
            400,
            "strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
    ] {
        let path = format!("{PODS}{path}");
        let answer = match message {
            "" => client.post(&path, &node).await,
            _ => client.get(&path).await,
        };
        assert_eq!(answer.code, code, "{path}");
        if !message.is_empty() {
            assert_eq!(answer.json()["message"], message);
        }
    }
    let node = json!({"metadata": {"name": "n"}});
    assert_eq!(client.post("/api/v1/nodes", &node).await.code, 201);
    for path in [
        "/p/log?container=b",
        "/p/exec?container=b",
        "/p/portforward",
    ] {
        let answer = client.get(&format!("{PODS}{path}")).await;
        assert_eq!(answer.code, 500, "{path}");
    }
    let service = "/api/v1/namespaces/default/services/https:kubernetes:443/proxy/healthz";
    assert_eq!(client.get(service).await.code, 404);
    server.shutdown().await;
}
