//! Requests that reset the managed fields of an object.

use super::*;
use serde_json::json;

async fn with_object() -> Cluster {
    let mut it = Cluster::new().await;
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}});
    it.apply(CONFIG_MAP, "m", &config).await;
    it
}

#[tokio::test]
async fn an_empty_list_or_one_empty_entry_resets_the_managers() {
    let mut it = with_object().await;
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}});
    for none in [json!([]), json!([{}])] {
        let at = "/metadata/managedFields";
        let patches = [
            (MERGE, json!({"metadata": {"managedFields": none}})),
            (
                JSON_PATCH,
                json!([{"op": "replace", "path": at, "value": none}]),
            ),
        ];
        for (media, patch) in patches {
            let before = it.apply(CONFIG_MAP, "m", &config).await;
            assert!(!owners(&before).is_empty(), "{before}");
            let reset = it.succeeds("PATCH", CONFIG_MAP, media, &patch).await;
            assert!(
                reset["metadata"]["managedFields"].is_null(),
                "{patch}: {reset}"
            );
            assert_ne!(version(&reset), version(&before), "{patch}");
        }
        for yaml in [false, true] {
            let mut object = it.apply(CONFIG_MAP, "m", &config).await;
            object["metadata"]["managedFields"] = none.clone();
            object["data"]["b"] = json!("2");
            let media = if yaml { "application/yaml" } else { JSON };
            let reset = it.succeeds("PUT", CONFIG_MAP, media, &object).await;
            assert!(owners(&reset).is_empty(), "{reset}");
            assert_eq!(reset["data"]["b"], "2");
        }
    }
    it.shut_down().await;
}

#[tokio::test]
async fn the_yaml_of_a_reset_may_be_written_in_blocks() {
    let mut it = with_object().await;
    let text = "metadata:\n  name: c\n  managedFields: []\ndata:\n  a: '1'\n";
    let reset = it
        .client
        .ask("PUT", CONFIG_MAP, "application/yaml", text)
        .await;
    assert!(owners(&reset.json()).is_empty(), "{}", reset.json());
    it.shut_down().await;
}

#[tokio::test]
async fn an_update_without_managed_fields_keeps_the_managers() {
    let mut it = with_object().await;
    let mut object = it.get(CONFIG_MAP).await;
    for none in [json!(null), json!([{"manager": "x"}])] {
        object["metadata"]["managedFields"] = none;
        let kept = it.put(CONFIG_MAP, &object).await;
        assert_eq!(owners(&kept), ["m Apply v1: data{a}"]);
    }
    let remove = json!([{"op": "remove", "path": "/metadata/managedFields"}]);
    let kept = it.succeeds("PATCH", CONFIG_MAP, JSON_PATCH, &remove).await;
    assert_eq!(owners(&kept), ["m Apply v1: data{a}"]);
    let patch = json!({"metadata": {"managedFields": null}});
    let kept = it.merge(CONFIG_MAP, &patch).await;
    assert_eq!(owners(&kept), ["m Apply v1: data{a}"]);
    it.shut_down().await;
}

#[tokio::test]
async fn a_new_object_cannot_have_its_managers_reset() {
    let mut it = Cluster::new().await;
    let object = json!({"metadata": {"name": "c", "managedFields": [{}]}, "data": {"a": "1"}});
    let created = it
        .create(&format!("{CONFIG_MAPS}?fieldManager=m"), &object)
        .await;
    assert_eq!(owners(&created), ["m Update v1: data{. a}"]);
    it.shut_down().await;
}
