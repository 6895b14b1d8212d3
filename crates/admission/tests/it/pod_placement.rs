//! Where the Pods of a namespace may run, and which resizes their node can do.

use crate::fixture::{Fixture, NAMESPACES, Of, PODS, pod};
use serde_json::{Value, json};

const NODES: Of = ("", "v1", "nodes");

/// Creates the namespace `a` with an annotation.
async fn annotate(fixture: &Fixture, key: &str, value: &str) {
    let key = format!("scheduler.alpha.kubernetes.io/{key}");
    let namespace = json!({"metadata": {"name": "a", "annotations": {key: value}}});
    let created = fixture.create(NAMESPACES, namespace).await;
    created.expect("it is valid");
}

fn pod_in_a(name: &str, field: &str, value: Value) -> Value {
    let mut pod = pod(name, json!({}));
    pod["metadata"]["namespace"] = "a".into();
    pod["spec"][field] = value;
    pod
}

#[tokio::test]
async fn pods_run_on_the_nodes_of_their_namespace() {
    let fixture = Fixture::enabled(&["PodNodeSelector"]).await;
    annotate(&fixture, "node-selector", "room=red").await;
    let own = pod_in_a("p", "nodeSelector", json!({"disk": "fast"}));
    let created = fixture.create(PODS, own).await.expect("it is valid");
    assert_eq!(
        created["spec"]["nodeSelector"],
        json!({"disk": "fast", "room": "red"})
    );
    let other = pod_in_a("q", "nodeSelector", json!({"room": "blue"}));
    let status = fixture.create(PODS, other).await;
    assert_eq!(
        status.expect_err("it is another room").message,
        "pods \"q\" is forbidden: pod node label selector conflicts with its namespace node label \
         selector"
    );
}

#[tokio::test]
async fn pods_tolerate_what_their_namespace_does() {
    let fixture = Fixture::enabled(&["PodTolerationRestriction"]).await;
    let listed = r#"[{"key": "gpu", "operator": "Exists"}]"#;
    annotate(&fixture, "defaultTolerations", listed).await;
    let created = fixture.create(PODS, pod_in_a("p", "tolerations", json!([])));
    let created = created.await.expect("it is valid");
    let tolerations = created["spec"]["tolerations"].as_array();
    let last = tolerations.and_then(|it| it.last()).expect("it has some");
    assert_eq!(last, &json!({"key": "gpu", "operator": "Exists"}));
}

#[tokio::test]
async fn pods_tolerate_only_what_their_namespace_permits() {
    let fixture = Fixture::enabled(&["PodTolerationRestriction"]).await;
    let listed = r#"[{"operator": "Exists", "effect": "NoExecute"}]"#;
    annotate(&fixture, "tolerationsWhitelist", listed).await;
    let created = fixture.create(PODS, pod_in_a("p", "tolerations", json!([])));
    created.await.expect("the defaults are permitted");
    let gpu = json!([{"key": "gpu", "operator": "Exists"}]);
    let status = fixture.create(PODS, pod_in_a("q", "tolerations", gpu));
    let status = status.await.expect_err("it is not listed");
    assert_eq!(status.code, 500);
    assert_eq!(
        status.message,
        "pod tolerations (possibly merged with namespace default tolerations) conflict with its \
         namespace whitelist"
    );
}

#[tokio::test]
async fn a_pod_is_resized_as_a_whole_where_its_node_declares_it() {
    let fixture = Fixture::new().await;
    let feature = "InPlacePodLevelResourcesVerticalScaling";
    let node = |name: &str, features: Value| {
        json!({
            "metadata": {"name": name},
            "status": {"declaredFeatures": features, "allocatable": {"cpu": "8"}},
        })
    };
    for made in [node("old", json!([])), node("new", json!([feature]))] {
        fixture.create(NODES, made).await.expect("it is valid");
    }
    let sized = |name: &str, cpu: &str| {
        let mut pod = pod(name, json!({}));
        pod["spec"]["nodeName"] = name.into();
        pod["spec"]["resources"] = json!({"requests": {"cpu": cpu}});
        pod
    };
    for name in ["old", "new"] {
        let created = fixture.create(PODS, sized(name, "1")).await;
        created.expect("it is valid");
    }
    let resized = async |name: &str| {
        let mut pod = fixture.get(PODS, name).await.expect("it exists");
        pod["spec"]["resources"] = json!({"requests": {"cpu": "2"}});
        fixture.put(PODS, "resize", pod).await
    };
    resized("new").await.expect("its node can do it");
    assert_eq!(
        resized("old").await.expect_err("its node cannot").message,
        format!(
            "pods \"old\" is forbidden: pod update requires features {feature} which are not \
             available on node \"old\""
        )
    );
}
