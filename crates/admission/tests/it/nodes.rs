//! `NodeRestriction`.

use crate::fixture::{Fixture, MAPS, Of, PODS, config_map, pod};
use kubist_registry::{RequestContext, User};
use serde_json::{Value, json};

const NODES: Of = ("", "v1", "nodes");

fn as_node(fixture: &Fixture, name: &str) -> RequestContext {
    fixture.registry.request(User {
        name: format!("system:node:{name}").into(),
        groups: vec!["system:nodes".into()],
        ..User::default()
    })
}

fn node(name: &str, labels: Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}})
}

#[tokio::test]
async fn a_node_changes_only_itself_and_not_its_restricted_labels() {
    let fixture = Fixture::enabled(&["NodeRestriction"]).await;
    let cx = as_node(&fixture, "a");
    let refused = |object: Value| async {
        let status = fixture.create_by(&cx, NODES, object).await;
        status.expect_err("it is refused").message.to_string()
    };
    assert_eq!(
        refused(node("b", json!({}))).await,
        "nodes \"b\" is forbidden: node \"a\" is not allowed to modify node \"b\""
    );
    let labels = json!({"node-role.kubernetes.io/x": "", "example.com/own": ""});
    assert_eq!(
        refused(node("a", labels)).await,
        "nodes \"a\" is forbidden: node \"a\" is not allowed to set the following labels: \
         node-role.kubernetes.io/x"
    );
    let created = fixture.create_by(&cx, NODES, node("a", json!({}))).await;
    let mut own = created.expect("it is its own");
    own["spec"]["taints"] = json!([]);
    let status = fixture.put_by(&cx, NODES, "", own).await;
    assert_eq!(
        status.expect_err("it is refused").message,
        "nodes \"a\" is forbidden: node \"a\" is not allowed to modify taints"
    );
}

#[tokio::test]
async fn a_node_reports_the_status_of_its_own_pods() {
    let fixture = Fixture::enabled(&["NodeRestriction"]).await;
    let mut placed = pod("p", json!({}));
    placed["spec"]["nodeName"] = "a".into();
    let created = fixture.create(PODS, placed).await;
    let mut pod = created.expect("everybody else may create Pods");
    pod["status"]["message"] = "m".into();
    let other = as_node(&fixture, "b");
    let status = fixture.put_by(&other, PODS, "status", pod.clone()).await;
    assert_eq!(
        status.expect_err("it is another's").message,
        "pods \"p\" is forbidden: node \"b\" can only update pod status for pods with \
         spec.nodeName set to itself"
    );
    let own = as_node(&fixture, "a");
    let updated = fixture.put_by(&own, PODS, "status", pod).await;
    assert_eq!(updated.expect("it is its own")["status"]["message"], "m");
}

#[tokio::test]
async fn a_node_creates_mirrors_only() {
    let fixture = Fixture::enabled(&["NodeRestriction"]).await;
    let cx = as_node(&fixture, "a");
    let status = fixture.create_by(&cx, PODS, pod("p", json!({}))).await;
    assert_eq!(
        status.expect_err("it is no mirror").message,
        "pods \"p\" is forbidden: pod does not have \"kubernetes.io/config.mirror\" annotation, \
         node \"a\" can only create mirror pods"
    );
    let mut mirror = pod("q", json!({}));
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "m"});
    let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "u"});
    mirror["metadata"]["ownerReferences"] = json!([owner]);
    mirror["metadata"]["ownerReferences"][0]["controller"] = true.into();
    mirror["spec"]["nodeName"] = "a".into();
    let status = fixture.create_by(&cx, PODS, mirror).await;
    assert_eq!(
        status.expect_err("the node is not known").message,
        "node \"a\" not found"
    );
    // Whatever else it may do is not this plugin's business.
    let created = fixture.create_by(&cx, MAPS, config_map("m")).await;
    created.expect("roles decide");
}
