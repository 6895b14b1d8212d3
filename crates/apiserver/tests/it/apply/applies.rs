//! What an apply makes of an object: creation, merging, removal, and requests that are refused.

use super::*;
use serde_json::json;

fn config_map(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})
}

fn deployment(spec: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec})
}

#[tokio::test]
async fn an_apply_to_a_missing_object_creates_it() {
    let mut it = Cluster::new().await;
    let config = config_map(json!({"a": "1"}));
    let created = it.try_apply(CONFIG_MAP, "m", &config).await;
    assert_eq!(created.code, 201);
    assert_eq!(owners(&created.json()), ["m Apply v1: data{a}"]);
    let applied = it.try_apply(CONFIG_MAP, "m", &config).await;
    assert_eq!((applied.code, applied.json()), (200, created.json()));

    let status = format!("{DEPLOYMENT}/status");
    let config = json!({"apiVersion": "apps/v1", "kind": "Deployment", "status": {"replicas": 1}});
    assert_eq!(it.try_apply(&status, "m", &config).await.code, 404);
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 1}});
    let missing = it
        .try_apply(&format!("{DEPLOYMENT}/scale"), "m", &scale)
        .await;
    assert_eq!(missing.code, 404, "{}", missing.json());
    it.shut_down().await;
}

#[tokio::test]
async fn a_configuration_has_a_name_unless_the_object_exists() {
    let mut it = Cluster::new().await;
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}});
    let path = format!("{CONFIG_MAP}?fieldManager=m");
    let refused = it.ask("PATCH", &path, APPLY, &config).await;
    assert_eq!(
        (refused.code, &refused.json()["message"]),
        (
            400,
            &json!(
                "the name of the object (c based on URL) was undeterminable: name must be provided"
            )
        )
    );
    let first = it.apply(CONFIG_MAP, "m", &config).await;
    let second = it.succeeds("PATCH", &path, APPLY, &config).await;
    assert_eq!(second, first);
    it.shut_down().await;
}

#[tokio::test]
async fn fields_that_are_no_longer_applied_are_removed_unless_another_manager_owns_them() {
    let mut it = Cluster::new().await;
    it.apply(
        CONFIG_MAP,
        "m",
        &config_map(json!({"a": "1", "b": "2", "c": "3"})),
    )
    .await;
    it.apply(CONFIG_MAP, "n", &config_map(json!({"b": "2"})))
        .await;
    let path = format!("{CONFIG_MAP}?fieldManager=u");
    it.merge(&path, &json!({"data": {"c": "4", "d": "5"}}))
        .await;
    let applied = it.apply(CONFIG_MAP, "m", &config_map(json!({}))).await;
    assert_eq!(applied["data"], json!({"b": "2", "c": "4", "d": "5"}));
    let expected = [
        "n Apply v1: data{b}",
        "m Apply v1: data",
        "u Update v1: data{c d}",
    ];
    assert_eq!(owners(&applied), expected);
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let applied = it.apply(CONFIG_MAP, "n", &config).await;
    assert_eq!(applied["data"], json!({"c": "4", "d": "5"}));
    assert_eq!(
        owners(&applied),
        ["m Apply v1: data", "u Update v1: data{c d}"]
    );
    it.shut_down().await;
}

#[tokio::test]
async fn items_of_keyed_lists_have_owners_of_their_own() {
    let mut it = Cluster::new().await;
    let of = |containers: Value| {
        deployment(&json!({
            "selector": {"matchLabels": {"app": "d"}},
            "template": {
                "metadata": {"labels": {"app": "d"}},
                "spec": {"containers": containers},
            },
        }))
    };
    it.apply(DEPLOYMENT, "m", &of(json!([{"name": "a", "image": "i"}])))
        .await;
    let side = json!({"spec": {"containers": [{
        "name": "b", "image": "j", "env": [{"name": "E", "value": "1"}],
        "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
    }]}});
    let side = deployment(&json!({"template": side}));
    let applied = it.apply(DEPLOYMENT, "n", &side).await;
    let names = |object: &Value| -> Vec<String> {
        let containers = &object["spec"]["template"]["spec"]["containers"];
        let containers = containers.as_array().expect("it is a list");
        containers.iter().map(|it| it["name"].to_string()).collect()
    };
    assert_eq!(names(&applied), [r#""a""#, r#""b""#]);
    let ports = &applied["spec"]["template"]["spec"]["containers"][1]["ports"];
    assert_eq!(ports.as_array().map(Vec::len), Some(2));
    let owner = r#"n Apply apps/v1: spec{template{spec{containers{k:{"name":"b"}{. env{k:{"name":"E"}{. name value}} image name ports{k:{"containerPort":80,"protocol":"TCP"}{. containerPort} k:{"containerPort":80,"protocol":"UDP"}{. containerPort protocol}}}}}}}"#;
    assert_eq!(owners(&applied)[1], owner);
    let less = deployment(&json!({"template": {"spec": {"containers": []}}}));
    let applied = it.apply(DEPLOYMENT, "n", &less).await;
    assert_eq!(names(&applied), [r#""a""#]);
    it.shut_down().await;
}

#[tokio::test]
async fn items_of_sets_have_owners_of_their_own() {
    let mut it = Cluster::new().await;
    let of = |finalizers: Value| {
        let metadata = json!({"name": "c", "finalizers": finalizers});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    };
    it.apply(CONFIG_MAP, "m", &of(json!(["a.io/x", "a.io/y"])))
        .await;
    let applied = it
        .apply(CONFIG_MAP, "n", &of(json!(["a.io/z", "a.io/y"])))
        .await;
    let finalizers = &applied["metadata"]["finalizers"];
    assert_eq!(*finalizers, json!(["a.io/x", "a.io/z", "a.io/y"]));
    let applied = it.apply(CONFIG_MAP, "m", &of(json!([]))).await;
    assert_eq!(
        applied["metadata"]["finalizers"],
        json!(["a.io/z", "a.io/y"])
    );
    let twice = it
        .try_apply(CONFIG_MAP, "m", &of(json!(["a.io/x", "a.io/x"])))
        .await;
    assert_eq!(twice.code, 500, "{}", twice.json());
    let message = twice.json()["message"].to_string();
    assert!(message.contains("duplicate entries for key"), "{message}");
    it.shut_down().await;
}

/// Wrong configurations and queries, with the code and the text of the answer.
fn wrong_applies() -> Vec<(&'static str, Value, u16, &'static str)> {
    let good = config_map(json!({"a": "1"}));
    let with = |path: &str, value: Value| {
        let mut config = good.clone();
        *config.pointer_mut(path).expect("it is there") = value;
        config
    };
    let meta = |name: &str, value: Value| {
        let mut config = good.clone();
        config["metadata"][name] = value;
        config
    };
    let named = "fieldManager=m";
    vec![
        (
            "",
            good.clone(),
            422,
            "fieldManager: Required value: is required for apply patch",
        ),
        (
            named,
            with("/kind", json!("Pod")),
            400,
            "invalid object type: /v1, Kind=Pod",
        ),
        (named, with("/kind", Value::Null), 400, "Kind="),
        (
            named,
            with("/apiVersion", json!("v2")),
            400,
            "invalid object type: /v2, Kind=ConfigMap",
        ),
        (
            named,
            meta("name", json!("d")),
            400,
            "the name of the object (d) does not match the name on the URL (c)",
        ),
        (
            named,
            meta("namespace", json!("other")),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            named,
            meta("managedFields", json!([])),
            400,
            "metadata.managedFields must be nil",
        ),
        (
            named,
            meta("uid", json!("u")),
            409,
            "uid mismatch: the provided object specified uid u, and no existing object was found",
        ),
        (
            named,
            with("/data", json!("x")),
            500,
            ".data: expected map, got",
        ),
        (
            named,
            meta("wrong", json!(1)),
            500,
            ".metadata.wrong: field not declared in schema",
        ),
    ]
}

#[tokio::test]
async fn a_wrong_configuration_is_refused_with_upstreams_words() {
    let mut it = Cluster::new().await;
    let mut wrong = wrong_applies();
    let mut label = config_map(json!({"a": "1"}));
    label["metadata"]["labels"] = json!({"a": 1});
    let why = ".metadata.labels.a: expected string";
    wrong.push(("fieldManager=m", label, 500, why));
    for (query, config, code, text) in wrong {
        let answer = it
            .ask("PATCH", &format!("{CONFIG_MAP}?{query}"), APPLY, &config)
            .await;
        let status = answer.json();
        assert_eq!(answer.code, code, "{config}: {status}");
        let message = status["message"].as_str().unwrap_or_default();
        assert!(message.contains(text), "{config}: {message}");
    }
    it.shut_down().await;
}

#[tokio::test]
async fn other_patches_cannot_be_forced() {
    let mut it = Cluster::new().await;
    for media in [MERGE, STRATEGIC, JSON_PATCH] {
        let path = format!("{CONFIG_MAP}?fieldManager=m&force=true");
        let refused = it.ask("PATCH", &path, media, &json!({})).await;
        assert_eq!(refused.code, 422);
        let message = refused.json()["message"].to_string();
        let why = "force: Forbidden: may not be specified for non-apply patch";
        assert!(message.contains(why), "{message}");
    }
    it.shut_down().await;
}

#[tokio::test]
async fn an_existing_object_is_applied_at_its_version_and_uid_only() {
    let mut it = Cluster::new().await;
    let first = it
        .apply(CONFIG_MAP, "m", &config_map(json!({"a": "1"})))
        .await;
    let mut config = config_map(json!({"a": "2"}));
    config["metadata"]["resourceVersion"] = json!("1");
    let stale = it.try_apply(CONFIG_MAP, "m", &config).await;
    assert_eq!(stale.code, 409);
    assert_eq!(stale.json()["reason"], "Conflict");
    assert!(stale.json()["details"]["causes"].is_null());
    config["metadata"]["resourceVersion"] = first["metadata"]["resourceVersion"].clone();
    config["metadata"]["uid"] = json!("another");
    let other = it.try_apply(CONFIG_MAP, "m", &config).await;
    assert_eq!(other.code, 422, "{}", other.json());
    let message = other.json()["message"].to_string();
    assert!(message.contains("field is immutable"), "{message}");
    config["metadata"]["uid"] = first["metadata"]["uid"].clone();
    let applied = it.apply(CONFIG_MAP, "m", &config).await;
    assert_eq!(applied["data"]["a"], "2");
    assert_eq!(owners(&applied), ["m Apply v1: data{a}"]);
    it.shut_down().await;
}

#[tokio::test]
async fn an_object_without_managers_is_tracked_from_its_first_apply() {
    let mut it = Cluster::new().await;
    let object = json!({"metadata": {"name": "c"}, "data": {"a": "1", "b": "1"}});
    it.create(CONFIG_MAPS, &object).await;
    let reset = it
        .merge(CONFIG_MAP, &json!({"metadata": {"managedFields": []}}))
        .await;
    assert!(owners(&reset).is_empty(), "{reset}");
    let untracked = it.merge(CONFIG_MAP, &json!({"data": {"b": "2"}})).await;
    assert!(owners(&untracked).is_empty(), "{untracked}");
    it.advance(60);
    let conflict = it
        .try_apply(CONFIG_MAP, "m", &config_map(json!({"a": "2"})))
        .await;
    assert_eq!(conflict.code, 409);
    let message = conflict.json()["message"].to_string();
    assert!(
        message.contains("conflict with \\\"before-first-apply\\\" using v1: .data.a"),
        "{message}"
    );
    let applied = it
        .apply(CONFIG_MAP, "m", &config_map(json!({"c": "1"})))
        .await;
    assert_eq!(
        owners(&applied),
        [
            "m Apply v1: data{c}",
            "before-first-apply Update v1: data{. a b}"
        ]
    );
    it.shut_down().await;
}

#[tokio::test]
async fn string_data_of_secrets_is_applied_and_belongs_to_the_applier() {
    let mut it = Cluster::new().await;
    let path = "/api/v1/namespaces/default/secrets/s";
    let config = json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "b"}});
    let applied = it.apply(path, "m", &config).await;
    assert_eq!(applied["data"], json!({"a": "Yg=="}));
    assert_eq!(owners(&applied), ["m Apply v1: stringData{a}"]);
    let again = it.apply(path, "m", &config).await;
    assert_eq!(again["data"], applied["data"]);
    it.shut_down().await;
}

#[tokio::test]
async fn events_are_applied_through_both_groups() {
    let mut it = Cluster::new().await;
    let namespace = "namespaces/default/events/e";
    let regarding = json!({"kind": "Pod", "namespace": "default", "name": "p"});
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "reason": "R", "involvedObject": regarding,
    });
    let first = it.apply(&format!("/api/v1/{namespace}"), "m", &event).await;
    assert_eq!(owners(&first), ["m Apply v1: involvedObject reason"]);
    let event = json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "note": "n"});
    let path = format!("/apis/events.k8s.io/v1/{namespace}");
    let answer = it.try_apply(&path, "n", &event).await;
    let code = answer.code;
    assert!(code == 200 || code == 422, "{}", answer.json());
    it.shut_down().await;
}

#[tokio::test]
async fn a_headless_service_stays_so_if_its_address_is_not_applied_any_more() {
    let mut it = Cluster::new().await;
    let path = "/api/v1/namespaces/default/services/s";
    let config = |spec: Value| json!({"apiVersion": "v1", "kind": "Service", "spec": spec});
    let ports = json!([{"port": 80}]);
    let headless = json!({"clusterIP": "None", "ports": ports, "selector": {"a": "b"}});
    it.apply(path, "m", &config(headless)).await;
    let without = json!({"ports": ports, "selector": {"a": "b"}});
    let applied = it.apply(path, "m", &config(without)).await;
    assert_eq!(applied["spec"]["clusterIP"], "None");
    assert_eq!(applied["spec"]["clusterIPs"], json!(["None"]));
    it.shut_down().await;
}
