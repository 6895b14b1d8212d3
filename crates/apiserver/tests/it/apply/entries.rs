//! Managed fields that clients write themselves.

use super::*;
use serde_json::json;

fn entry(manager: &str, fields: Value) -> Value {
    json!({
        "manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    })
}

async fn with_object() -> (Cluster, Value) {
    let mut it = Cluster::new().await;
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}});
    let object = it.apply(CONFIG_MAP, "m", &config).await;
    (it, object)
}

#[tokio::test]
async fn entries_of_a_client_replace_those_of_the_object() {
    let (mut it, mut object) = with_object().await;
    object["metadata"]["managedFields"] = json!([entry("n", json!({"f:data": {"f:a": {}}}))]);
    let put = it.put(CONFIG_MAP, &object).await;
    assert_eq!(owners(&put), ["n Apply v1: data{a}"]);
    object["metadata"]["managedFields"] = json!([entry("o", json!({"f:data": {"f:a": {}}}))]);
    object["metadata"]["resourceVersion"] = json!("");
    object["data"]["b"] = json!("2");
    let put = it
        .put(&format!("{CONFIG_MAP}?fieldManager=u"), &object)
        .await;
    assert_eq!(
        owners(&put),
        ["o Apply v1: data{a}", "u Update v1: data{b}"]
    );
    it.shut_down().await;
}

#[tokio::test]
async fn entries_that_cannot_be_read_leave_those_of_the_object() {
    let (mut it, mut object) = with_object().await;
    let good = entry("n", json!({"f:data": {"f:a": {}}}));
    let with = |name: &str, value: Value| {
        let mut entry = good.clone();
        entry[name] = value;
        entry
    };
    for bad in [
        with("operation", json!("Delete")),
        with("operation", json!("")),
        with("apiVersion", json!("")),
        with("fieldsType", json!("FieldsV2")),
        with("fieldsType", Value::Null),
        with("fieldsV1", json!({"f": {}})),
        with("fieldsV1", json!({"fdata": {}})),
        with("fieldsV1", json!({"f:data": {"k:{": {}}})),
        with("fieldsV1", json!({"f:data": {"v:": {}}})),
        with("fieldsV1", json!({"f:data": {"i:x": {}}})),
        with("fieldsV1", json!({"f:data": 1})),
        with("fieldsV1", json!({"f:data": []})),
        with("fieldsV1", json!("f:data")),
    ] {
        object["metadata"]["managedFields"] = json!([good, bad]);
        let answer = it.ask("PUT", CONFIG_MAP, JSON, &object).await;
        assert_eq!(answer.code, 200, "{bad}: {}", answer.json());
        assert_eq!(owners(&answer.json()), ["m Apply v1: data{a}"], "{bad}");
    }
    it.shut_down().await;
}

#[tokio::test]
async fn fields_that_the_object_or_the_schema_has_not_are_kept_or_dropped_as_upstream() {
    let (mut it, mut object) = with_object().await;
    let fields = json!({
        "f:data": {"f:a": {}, "f:gone": {}}, "f:wrong": {"f:deep": {}}, "f:metadata": {"f:uid": {}},
        "x:unknown": {},
    });
    object["metadata"]["managedFields"] = json!([entry("n", fields)]);
    let put = it.put(CONFIG_MAP, &object).await;
    assert_eq!(
        owners(&put),
        ["n Apply v1: data{a gone} metadata{uid} wrong{deep}"]
    );
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2"}});
    let applied = it.apply(CONFIG_MAP, "n", &config).await;
    assert_eq!(owners(&applied), ["n Apply v1: data{a}"]);
    it.shut_down().await;
}

#[tokio::test]
async fn a_manager_of_a_version_that_does_not_exist_loses_its_fields_with_the_next_write() {
    let (mut it, mut object) = with_object().await;
    let mut old = entry("n", json!({"f:data": {"f:a": {}}}));
    old["apiVersion"] = json!("v0");
    old["operation"] = json!("Update");
    object["metadata"]["managedFields"] = json!([old, entry("m", json!({"f:data": {"f:b": {}}}))]);
    let put = it.put(CONFIG_MAP, &object).await;
    assert_eq!(owners(&put), ["m Apply v1: data{b}"]);
    it.shut_down().await;
}

#[tokio::test]
async fn two_entries_of_one_manager_are_one() {
    let (mut it, mut object) = with_object().await;
    object["metadata"]["managedFields"] = json!([
        entry("n", json!({"f:data": {"f:a": {}}})),
        entry("n", json!({"f:data": {"f:b": {}}})),
    ]);
    let put = it.put(CONFIG_MAP, &object).await;
    assert_eq!(owners(&put), ["n Apply v1: data{b}"]);
    it.shut_down().await;
}

#[tokio::test]
async fn names_of_managers_that_are_too_long_or_cannot_be_printed_are_refused() {
    let (mut it, object) = with_object().await;
    let long = "x".repeat(129);
    let long_part = "x".repeat(257);
    for (name, value, expected) in [
        (
            "manager",
            long.as_str(),
            "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
        ),
        (
            "manager",
            "a\tb",
            "metadata.managedFields[0].manager: Invalid value: \"a\\tb\": invalid character U+0009 \
             (at position 1)",
        ),
        (
            "subresource",
            long_part.as_str(),
            "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes",
        ),
    ] {
        let mut bad = entry("n", json!({"f:data": {"f:a": {}}}));
        bad[name] = value.into();
        let patch = json!({"metadata": {"managedFields": [bad]}});
        let refused = it.ask("PATCH", CONFIG_MAP, MERGE, &patch).await;
        let refused = refused.json();
        assert_eq!(
            (&refused["code"], &refused["message"]),
            (
                &json!(422),
                &json!(format!("ConfigMap \"c\" is invalid: {expected}"))
            )
        );
    }
    assert_eq!(it.get(CONFIG_MAP).await, object);
    it.shut_down().await;
}
