//! Conflicts between managers, and force.

use super::*;
use serde_json::json;

const CONFIG: &str = "ConfigMap";

fn config_map(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": CONFIG, "data": data})
}

#[tokio::test]
async fn a_conflict_has_a_cause_for_each_field_of_each_manager() {
    let mut it = Cluster::new().await;
    it.apply(CONFIG_MAP, "m", &config_map(json!({"a": "1", "b": "1"})))
        .await;
    let refused = it
        .try_apply(CONFIG_MAP, "n", &config_map(json!({"a": "2"})))
        .await;
    let status = refused.json();
    assert_eq!((refused.code, &status["reason"]), (409, &json!("Conflict")));
    assert_eq!(
        status["message"],
        "Apply failed with 1 conflict: conflict with \"m\": .data.a"
    );
    let cause = json!({
        "reason": "FieldManagerConflict", "message": "conflict with \"m\"", "field": ".data.a",
    });
    assert_eq!(status["details"], json!({"causes": [cause]}));

    let refused = it
        .try_apply(CONFIG_MAP, "n", &config_map(json!({"a": "2", "b": "2"})))
        .await;
    assert_eq!(
        refused.json()["message"],
        "Apply failed with 2 conflicts: conflicts with \"m\":\n- .data.a\n- .data.b"
    );

    let path = format!("{CONFIG_MAP}?fieldManager=u");
    it.merge(&path, &json!({"data": {"b": "3", "c": "3"}}))
        .await;
    let config = config_map(json!({"a": "2", "b": "2", "c": "2"}));
    let refused = it.try_apply(CONFIG_MAP, "n", &config).await.json();
    assert_eq!(
        refused["message"],
        "Apply failed with 3 conflicts: conflicts with \"m\":\n- .data.a\nconflicts with \"u\" \
         using v1:\n- .data.b\n- .data.c"
    );
    let causes = refused["details"]["causes"].as_array().map(Vec::len);
    assert_eq!(causes, Some(3));
    assert_eq!(
        refused["details"]["causes"][1]["message"],
        "conflict with \"u\" using v1"
    );
    it.shut_down().await;
}

#[tokio::test]
async fn force_takes_the_fields_of_all_other_managers() {
    let mut it = Cluster::new().await;
    it.apply(CONFIG_MAP, "m", &config_map(json!({"a": "1", "b": "1"})))
        .await;
    let path = format!("{CONFIG_MAP}?fieldManager=u");
    it.merge(&path, &json!({"data": {"c": "3"}})).await;
    let config = config_map(json!({"a": "2", "b": "1", "c": "2"}));
    let forced = it.force(CONFIG_MAP, "n", &config).await;
    assert_eq!(forced["data"], config["data"]);
    assert_eq!(
        owners(&forced),
        ["m Apply v1: data{b}", "n Apply v1: data{a b c}"]
    );
    // What the first no longer owns it does not remove.
    let left = it.apply(CONFIG_MAP, "m", &config_map(json!({}))).await;
    assert_eq!(left["data"], config["data"]);
    it.shut_down().await;
}

#[tokio::test]
async fn managers_that_apply_the_same_value_share_it() {
    let mut it = Cluster::new().await;
    let config = config_map(json!({"a": "1"}));
    it.apply(CONFIG_MAP, "m", &config).await;
    it.apply(CONFIG_MAP, "n", &config).await;
    let changed = config_map(json!({"a": "2"}));
    let refused = it.try_apply(CONFIG_MAP, "m", &changed).await.json();
    assert_eq!(
        refused["message"],
        "Apply failed with 1 conflict: conflict with \"n\": .data.a"
    );
    it.apply(CONFIG_MAP, "n", &config_map(json!({}))).await;
    let applied = it.apply(CONFIG_MAP, "m", &changed).await;
    assert_eq!(applied["data"]["a"], "2");
    // An update that removes a field takes it from everybody, and there is no conflict.
    it.merge(CONFIG_MAP, &json!({"data": {"a": null}})).await;
    let applied = it.apply(CONFIG_MAP, "o", &changed).await;
    assert_eq!(owners(&applied), ["o Apply v1: data{a}"]);
    it.shut_down().await;
}

#[tokio::test]
async fn a_conflict_with_a_subresource_names_it() {
    let mut it = Cluster::new().await;
    let spec = json!({
        "replicas": 1,
        "selector": {"matchLabels": {"app": "d"}},
        "template": {
            "metadata": {"labels": {"app": "d"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    });
    let config = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec});
    it.apply(DEPLOYMENT, "m", &config).await;
    let scale = format!("{DEPLOYMENT}/scale?fieldManager=s");
    let scaled = it.merge(&scale, &json!({"spec": {"replicas": 5}})).await;
    assert_eq!(scaled["spec"]["replicas"], 5);
    let refused = it.try_apply(DEPLOYMENT, "m", &config).await.json();
    assert_eq!(
        refused["message"],
        "Apply failed with 1 conflict: conflict with \"s\" with subresource \"scale\" using \
         apps/v1: .spec.replicas"
    );
    it.shut_down().await;
}
