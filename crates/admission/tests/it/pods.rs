//! The plugins of Pods and nodes.

use crate::fixture::{Fixture, Of, PODS, pod};
use serde_json::{Value, json};

const NODES: Of = ("", "v1", "nodes");
const PRIORITIES: Of = ("scheduling.k8s.io", "v1", "priorityclasses");
const RUNTIMES: Of = ("node.k8s.io", "v1", "runtimeclasses");

fn tolerations(pod: &Value) -> Vec<(String, String)> {
    let all = pod["spec"]["tolerations"].as_array();
    let all = all.into_iter().flatten();
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    all.map(|it| (text(it, "key"), text(it, "effect")))
        .collect()
}

#[tokio::test]
async fn pods_get_a_priority_and_tolerate_unavailable_nodes() {
    let fixture = Fixture::new().await;
    let created = fixture.create(PODS, pod("p", json!({}))).await;
    let created = created.expect("it is valid");
    assert_eq!(created["spec"]["priority"], 0);
    assert_eq!(created["spec"]["preemptionPolicy"], "PreemptLowerPriority");
    let expected = ["not-ready", "unreachable"]
        .map(|it| (format!("node.kubernetes.io/{it}"), "NoExecute".to_owned()));
    assert_eq!(tolerations(&created), expected);
}

#[tokio::test]
async fn there_is_one_default_priority() {
    let fixture = Fixture::new().await;
    let class = |name: &str| json!({"metadata": {"name": name}, "value": 7, "globalDefault": true});
    let created = fixture.create(PRIORITIES, class("one")).await;
    created.expect("it is the first");
    let status = fixture.create(PRIORITIES, class("two")).await;
    assert_eq!(
        status.expect_err("it is the second").message,
        "priorityclasses.scheduling.k8s.io \"two\" is forbidden: PriorityClass one is already \
         marked as default. Only one default can exist"
    );
    let created = fixture.create(PODS, pod("p", json!({}))).await;
    let created = created.expect("it is valid");
    assert_eq!(created["spec"]["priority"], 7);
    assert_eq!(created["spec"]["priorityClassName"], "one");
    let mut unknown = pod("q", json!({}));
    unknown["spec"]["priorityClassName"] = "none".into();
    let status = fixture.create(PODS, unknown).await;
    assert_eq!(
        status.expect_err("there is none").message,
        "pods \"q\" is forbidden: no PriorityClass with name none was found"
    );
}

#[tokio::test]
async fn a_runtime_class_says_overhead_and_placement() {
    let fixture = Fixture::new().await;
    let class = json!({
        "metadata": {"name": "vm"},
        "handler": "vm",
        "overhead": {"podFixed": {"cpu": "100m"}},
        "scheduling": {"nodeSelector": {"vm": "yes"}},
    });
    fixture.create(RUNTIMES, class).await.expect("it is valid");
    let mut in_vm = pod("p", json!({}));
    in_vm["spec"]["runtimeClassName"] = "vm".into();
    let created = fixture.create(PODS, in_vm.clone()).await;
    let created = created.expect("it is valid");
    assert_eq!(created["spec"]["overhead"], json!({"cpu": "100m"}));
    assert_eq!(created["spec"]["nodeSelector"], json!({"vm": "yes"}));
    in_vm["metadata"]["name"] = "q".into();
    in_vm["spec"]["nodeSelector"] = json!({"vm": "no"});
    let status = fixture.create(PODS, in_vm).await;
    assert_eq!(
        status.expect_err("it is elsewhere").message,
        "pods \"q\" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; \
         pod.spec.nodeSelector[vm] = no"
    );
    let mut plain = pod("r", json!({}));
    plain["spec"]["overhead"] = json!({"cpu": "1"});
    let status = fixture.create(PODS, plain).await;
    assert_eq!(
        status.expect_err("no class says it").message,
        "pods \"r\" is forbidden: pod rejected: Pod Overhead set without corresponding \
         RuntimeClass defined Overhead"
    );
}

#[tokio::test]
async fn new_nodes_are_tainted_and_pods_get_their_topology() {
    let fixture = Fixture::new().await;
    let labels = json!({"topology.kubernetes.io/zone": "z", "other": "o"});
    let node = json!({"metadata": {"name": "n", "labels": labels}});
    let created = fixture.create(NODES, node).await.expect("it is valid");
    assert_eq!(
        created["spec"]["taints"],
        json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    );
    let zone = json!({"topology.kubernetes.io/zone": "z"});
    let mut placed = pod("placed", json!({}));
    placed["spec"]["nodeName"] = "n".into();
    let created = fixture.create(PODS, placed).await.expect("it is valid");
    assert_eq!(created["metadata"]["labels"], zone);
    let free = fixture.create(PODS, pod("p", json!({}))).await;
    free.expect("it is valid");
    let binding = json!({
        "metadata": {"name": "p"},
        "target": {"kind": "Node", "name": "n"},
    });
    let bound = fixture.act(PODS, ("p", "binding"), binding).await;
    bound.expect("it is free");
    let stored = fixture.get(PODS, "p").await.expect("it exists");
    assert_eq!(stored["metadata"]["labels"], zone);
}

#[tokio::test]
async fn images_are_always_pulled_where_that_is_enabled() {
    let fixture = Fixture::enabled(&["AlwaysPullImages"]).await;
    let container = json!({"imagePullPolicy": "Never"});
    let created = fixture.create(PODS, pod("p", container)).await;
    let created = created.expect("it is valid");
    let policy = &created["spec"]["containers"][0]["imagePullPolicy"];
    assert_eq!(policy, "Always");
}

#[tokio::test]
async fn pods_tolerate_the_devices_they_request_where_that_is_enabled() {
    let fixture = Fixture::enabled(&["ExtendedResourceToleration"]).await;
    let device = json!({"example.com/gpu": "1"});
    let container = json!({"resources": {"requests": device, "limits": device}});
    let created = fixture.create(PODS, pod("p", container)).await;
    let created = created.expect("it is valid");
    let wanted = ("example.com/gpu".to_owned(), "NoSchedule".to_owned());
    assert!(tolerations(&created).contains(&wanted));
}

#[tokio::test]
async fn pods_mount_a_token_of_their_account_where_that_is_enabled() {
    let fixture = Fixture::enabled(&["ServiceAccount"]).await;
    let mut named = pod("p", json!({}));
    named["spec"]["serviceAccountName"] = "robot".into();
    let status = fixture.create(PODS, named.clone()).await;
    assert_eq!(
        status.expect_err("there is no such account").message,
        "pods \"p\" is forbidden: error looking up service account default/robot: serviceaccount \
         \"robot\" not found"
    );
    let account = json!({
        "metadata": {"name": "robot"},
        "imagePullSecrets": [{"name": "pull"}],
    });
    let created = fixture.create(("", "v1", "serviceaccounts"), account).await;
    created.expect("it is valid");
    let created = fixture.create(PODS, named).await.expect("it is valid");
    let spec = &created["spec"];
    assert_eq!(spec["imagePullSecrets"], json!([{"name": "pull"}]));
    let mount = &spec["containers"][0]["volumeMounts"][0];
    let path = "/var/run/secrets/kubernetes.io/serviceaccount";
    assert_eq!(
        (&mount["mountPath"], &mount["readOnly"]),
        (&json!(path), &json!(true))
    );
    let volume = &spec["volumes"][0];
    assert_eq!(volume["name"], mount["name"]);
    let sources = volume["projected"]["sources"].as_array();
    assert_eq!(sources.map(Vec::len), Some(3));
}

#[tokio::test]
async fn what_plugins_leave_out_gets_its_defaults() {
    let fixture = Fixture::enabled(&["ServiceAccount"]).await;
    let account = json!({"metadata": {"name": "default"}});
    let created = fixture.create(("", "v1", "serviceaccounts"), account).await;
    created.expect("it is valid");
    let created = fixture.create(PODS, pod("p", json!({}))).await;
    let mut created = created.expect("it is valid");
    let spec = &mut created["spec"];
    assert_eq!(spec["serviceAccountName"], "default");
    assert_eq!(spec["serviceAccount"], "default");
    assert_eq!(spec["volumes"][0]["projected"]["defaultMode"], 420);
    spec["containers"][0]["image"] = "j".into();
    let updated = fixture.put(PODS, "", created).await;
    updated.expect("nothing else has changed");
}
