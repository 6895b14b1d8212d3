//! Field sets and configurations that are rubbish, or made to be expensive.

use super::*;
use serde_json::json;

/// Returns a config map with an entry of these fields, as text.
fn with_fields(fields: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"c","managedFields":[{{"manager":"n","operation":"Apply",
        "apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{fields}}}]}},"data":{{"a":"1"}}}}"#
    )
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    let mut text = open.repeat(depth);
    text.push_str(inner);
    text.push_str(&close.repeat(depth));
    text
}

async fn with_object() -> (Cluster, Value) {
    let mut it = Cluster::new().await;
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}});
    let object = it.apply(CONFIG_MAP, "m", &config).await;
    (it, object)
}

#[tokio::test]
async fn deeply_nested_field_sets_change_nothing() {
    let (mut it, before) = with_object().await;
    for depth in [150, 1_000, 9_000, 100_000] {
        let fields = nested("{\"f:a\":", "{}", "}", depth);
        let body = with_fields(&fields);
        for (method, media) in [("PUT", JSON), ("PATCH", MERGE), ("PUT", "application/yaml")] {
            let answer = it.client.ask(method, CONFIG_MAP, media, body.clone()).await;
            assert!(
                answer.code == 200 || answer.code == 400,
                "{depth}: {}",
                answer.json()
            );
            assert_eq!(it.get(CONFIG_MAP).await, before, "{method} {depth}");
        }
    }
    let body = with_fields(&nested("{\"f:a\":", "{}", "}", 100));
    let answer = it.client.ask("PUT", CONFIG_MAP, JSON, body).await;
    assert_eq!(answer.code, 200, "{}", answer.json());
    assert_eq!(owners(&answer.json()).len(), 1);
    it.shut_down().await;
}

#[tokio::test]
async fn a_field_set_cannot_hide_depth_in_its_keys() {
    let (mut it, before) = with_object().await;
    for kind in ["v:", "k:"] {
        let value = nested("[", "", "]", 100_000);
        let value = if kind == "v:" {
            value
        } else {
            format!("{{\\\"a\\\":{value}}}")
        };
        let fields = format!(r#"{{"f:data":{{"{kind}{value}":{{}}}}}}"#);
        let answer = it
            .client
            .ask("PUT", CONFIG_MAP, JSON, with_fields(&fields))
            .await;
        assert_eq!(answer.code, 200, "{}", answer.json());
        assert_eq!(owners(&answer.json()), owners(&before));
    }
    it.shut_down().await;
}

#[tokio::test]
async fn field_sets_of_a_megabyte_are_kept() {
    let (mut it, _) = with_object().await;
    let wide: Vec<String> = (0..100_000)
        .rev()
        .map(|it| format!(r#""f:{it}":{{}}"#))
        .collect();
    let long = "x".repeat(1 << 20);
    let repeated = r#""f:a":{"f:b":{}},"#.repeat(60_000) + r#""f:a":{}"#;
    for (fields, count) in [
        (wide.join(","), 100_000),
        (format!(r#""f:{long}":{{}}"#), 1),
        (format!(r#""v:\"{long}\"":{{}}"#), 1),
        (format!(r#""k:{{\"name\":\"{long}\"}}":{{}}"#), 1),
        (repeated, 1),
    ] {
        let started = tokio::time::Instant::now();
        let body = with_fields(&format!(r#"{{"f:data":{{{fields}}}}}"#));
        let answer = it.client.ask("PUT", CONFIG_MAP, JSON, body).await;
        assert_eq!(answer.code, 200, "{}", answer.json());
        let object = answer.json();
        let entries = object["metadata"]["managedFields"].as_array().cloned();
        let fields = entries.expect("there is one")[0]["fieldsV1"]["f:data"].clone();
        assert_eq!(fields.as_object().map(serde_json::Map::len), Some(count));
        let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "2"}});
        let applied = it.try_apply(CONFIG_MAP, "o", &config).await;
        assert_eq!(applied.code, 200, "{}", applied.json());
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{:?}",
            started.elapsed()
        );
    }
    it.shut_down().await;
}

#[tokio::test]
async fn ten_thousand_managers_are_kept_if_they_apply_and_capped_if_they_update() {
    let (mut it, mut object) = with_object().await;
    let fields = json!({"f:data": {"f:a": {}}});
    let entries = |operation: &str| -> Vec<Value> {
        let entry = |index: usize| {
            json!({
                "manager": format!("m{index:05}"), "operation": operation, "apiVersion": "v1",
                "fieldsType": "FieldsV1", "fieldsV1": fields,
            })
        };
        (0..10_000).map(entry).collect()
    };
    object["metadata"]["managedFields"] = Value::from(entries("Apply"));
    let put = it.put(CONFIG_MAP, &object).await;
    assert_eq!(owners(&put).len(), 10_000);
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2"}});
    let refused = it.try_apply(CONFIG_MAP, "n", &config).await;
    assert_eq!(refused.code, 409);
    let causes = refused.json()["details"]["causes"].as_array().map(Vec::len);
    assert_eq!(causes, Some(10_000));
    let forced = it.force(CONFIG_MAP, "n", &config).await;
    assert_eq!(owners(&forced), ["n Apply v1: data{a}"]);

    let mut object = forced;
    object["metadata"]["managedFields"] = Value::from(entries("Update"));
    object["data"]["b"] = json!("2");
    let put = it
        .put(&format!("{CONFIG_MAP}?fieldManager=u"), &object)
        .await;
    assert_eq!(owners(&put).len(), 10);
    assert_eq!(owners(&put)[0], "ancient-changes Update v1: data{a}");
    it.shut_down().await;
}

#[tokio::test]
async fn deep_and_large_configurations_are_refused_within_the_deadline() {
    let (mut it, before) = with_object().await;
    let path = format!("{CONFIG_MAP}?fieldManager=n");
    let head = "apiVersion: v1\nkind: ConfigMap\n";
    let level = |level: usize| {
        let items = format!("*a{},", level - 1).repeat(10);
        format!("a{level}: &a{level} [{items}]\n")
    };
    let aliases: String = (1..40).map(level).collect();
    let aliases = format!("{head}a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n{aliases}");
    let bodies = [
        format!("{head}data: {}", nested("{a: ", "b", "}", 100_000)),
        format!("{head}data: {}", nested("[", "", "]", 1_000_000)),
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","data":{}}}"#,
            nested("{\"a\":", "1", "}", 100_000)
        ),
        (0..1_500).fold(head.to_owned() + "data:\n", |text, level| {
            text + &" ".repeat(level + 1) + "a:\n"
        }),
        aliases,
        format!("{head}data: &a {{b: *a}}\n"),
    ];
    for body in bodies {
        let answer = it.client.ask("PATCH", &path, APPLY, body.clone()).await;
        let start = &body[..body.len().min(100)];
        assert_eq!(answer.code, 400, "{start}: {}", answer.json());
    }
    let large = format!("{head}data:\n  a: {}\n", "x".repeat(4 << 20));
    let answer = it.client.ask("PATCH", &path, APPLY, large).await;
    assert_eq!(answer.code, 413);
    assert_eq!(it.get(CONFIG_MAP).await, before);
    it.shut_down().await;
}

#[tokio::test]
async fn a_configuration_of_three_megabytes_is_merged_in_time() {
    let mut it = Cluster::new().await;
    let members: serde_json::Map<String, Value> = (0..45_000)
        .map(|it| (format!("k{it:06}"), json!("v")))
        .collect();
    let mut config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": members});
    let started = tokio::time::Instant::now();
    let applied = it.apply(CONFIG_MAP, "m", &config).await;
    assert_eq!(
        applied["data"].as_object().map(serde_json::Map::len),
        Some(45_000)
    );
    config["data"]["k000000"] = json!("w");
    let applied = it.apply(CONFIG_MAP, "m", &config).await;
    assert_eq!(applied["data"]["k000000"], "w");
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "{:?}",
        started.elapsed()
    );
    it.shut_down().await;
}
