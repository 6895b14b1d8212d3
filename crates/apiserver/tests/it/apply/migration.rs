//! From client-side apply to server-side apply, and back.

use super::*;
use serde_json::json;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn config_map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})
}

/// Creates an object as `kubectl apply` does; the annotation may differ.
async fn client_side(it: &mut Cluster, data: &Value, annotation: &str) -> Value {
    let mut object = config_map(data);
    object["metadata"]["annotations"] = json!({ANNOTATION: annotation});
    let path = format!("{CONFIG_MAPS}?fieldManager=kubectl-client-side-apply");
    it.create(&path, &object).await
}

fn annotation(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][ANNOTATION].as_str()
}

#[tokio::test]
async fn kubectl_takes_over_what_it_applied_before_and_renews_the_annotation() {
    let mut it = Cluster::new().await;
    let data = json!({"a": "1", "b": "1"});
    client_side(&mut it, &data, &config_map(&data).to_string()).await;
    let config = config_map(&json!({"a": "2<", "b": "1"}));
    let refused = it.try_apply(CONFIG_MAP, "other", &config).await;
    assert_eq!(refused.code, 409);
    let applied = it.apply(CONFIG_MAP, "kubectl", &config).await;
    assert_eq!(applied["data"], config["data"]);
    assert_eq!(
        owners(&applied),
        [
            "kubectl Apply v1: data{a b}".to_owned(),
            format!(
                "kubectl-client-side-apply Update v1: data{{. b}} metadata{{annotations{{. \
                 {ANNOTATION}}}}}"
            ),
        ]
    );
    let expected = "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"2\\u003c\",\"b\":\"1\"},\"kind\":\
                    \"ConfigMap\",\"metadata\":{\"name\":\"c\"}}\n";
    assert_eq!(annotation(&applied), Some(expected));
    assert_eq!(it.apply(CONFIG_MAP, "kubectl", &config).await, applied);
    // Without the first manager, which kubectl removes, its fields have one owner.
    let managers = json!([applied["metadata"]["managedFields"][0]]);
    let patch = json!({"metadata": {"managedFields": managers}});
    let migrated = it.merge(CONFIG_MAP, &patch).await;
    assert_eq!(owners(&migrated), ["kubectl Apply v1: data{a b}"]);
    let applied = it
        .apply(CONFIG_MAP, "kubectl", &config_map(&json!({"a": "2<"})))
        .await;
    assert_eq!(applied["data"], json!({"a": "2<"}));
    it.shut_down().await;
}

#[tokio::test]
async fn kubectl_has_conflicts_over_what_others_changed_since() {
    let mut it = Cluster::new().await;
    let data = json!({"a": "1", "b": "1"});
    client_side(&mut it, &data, &config_map(&data).to_string()).await;
    it.merge(
        &format!("{CONFIG_MAP}?fieldManager=u"),
        &json!({"data": {"b": "5", "c": "5"}}),
    )
    .await;
    let config = config_map(&json!({"a": "2", "b": "2", "c": "2"}));
    let refused = it.try_apply(CONFIG_MAP, "kubectl", &config).await;
    assert_eq!(
        refused.json()["message"],
        "Apply failed with 2 conflicts: conflicts with \"u\" using v1:\n- .data.b\n- .data.c"
    );
    let forced = it.force(CONFIG_MAP, "kubectl", &config).await;
    assert_eq!(owners(&forced)[0], "kubectl Apply v1: data{a b c}");
    it.shut_down().await;
}

#[tokio::test]
async fn an_annotation_that_cannot_be_used_leaves_the_conflicts() {
    for text in [
        "",
        "not JSON",
        "{\"",
        "[]",
        "null",
        r#"{"data": {"a": "1"}}"#,
        r#"{"apiVersion": "v2", "kind": "ConfigMap", "data": {"a": "1"}}"#,
        r#"{"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": 1}}"#,
        r#"{"apiVersion": "v1", "kind": "ConfigMap", "data": {"other": "1"}}"#,
    ] {
        let mut it = Cluster::new().await;
        client_side(&mut it, &json!({"a": "1"}), text).await;
        let config = config_map(&json!({"a": "2"}));
        let refused = it.try_apply(CONFIG_MAP, "kubectl", &config).await;
        assert_eq!(refused.code, 409, "{text}: {}", refused.json());
        assert_eq!(
            refused.json()["message"],
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: \
             .data.a",
            "{text}"
        );
        it.shut_down().await;
    }
}

#[tokio::test]
async fn an_annotation_that_became_too_long_is_removed() {
    let mut it = Cluster::new().await;
    let data = json!({"a": "1"});
    client_side(&mut it, &data, &config_map(&data).to_string()).await;
    let config = config_map(&json!({"a": "x".repeat(256 << 10)}));
    let applied = it.apply(CONFIG_MAP, "kubectl", &config).await;
    assert_eq!(annotation(&applied), None);
    assert_eq!(owners(&applied)[0], "kubectl Apply v1: data{a}");
    it.shut_down().await;
}

#[tokio::test]
async fn an_object_without_the_annotation_does_not_get_it() {
    let mut it = Cluster::new().await;
    let applied = it
        .apply(CONFIG_MAP, "kubectl", &config_map(&json!({"a": "1"})))
        .await;
    assert!(applied["metadata"]["annotations"].is_null(), "{applied}");
    it.shut_down().await;
}
