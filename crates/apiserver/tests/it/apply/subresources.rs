//! The managed fields of writes through subresources.

use super::*;
use serde_json::json;

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "d"}},
            "template": {
                "metadata": {"labels": {"app": "d"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    })
}

/// Returns the lines of the owners but for the first applier.
fn others(object: &Value) -> Vec<String> {
    owners(object)
        .into_iter()
        .filter(|it| !it.starts_with("m Apply"))
        .collect()
}

#[tokio::test]
async fn an_update_of_the_status_is_tracked_apart() {
    let mut it = Cluster::new().await;
    it.apply(DEPLOYMENT, "m", &deployment()).await;
    let status = format!("{DEPLOYMENT}/status?fieldManager=c");
    let patch = json!({
        "metadata": {"labels": {"ignored": "x"}, "annotations": {"a": "b"}},
        "spec": {"replicas": 7}, "status": {"replicas": 1, "observedGeneration": 1},
    });
    let patched = it.merge(&status, &patch).await;
    assert_eq!(patched["spec"]["replicas"], 1);
    let of_status = "c Update apps/v1/status: metadata{annotations{. a}} \
                     status{observedGeneration replicas}";
    assert_eq!(others(&patched), [of_status]);

    let mut put = patched.clone();
    put["status"]["replicas"] = json!(2);
    let put = it
        .put(&format!("{DEPLOYMENT}/status?fieldManager=d"), &put)
        .await;
    assert_eq!(others(&put).len(), 2);
    assert!(
        others(&put)[1].ends_with("d Update apps/v1/status: status{replicas}"),
        "{put}"
    );

    // The main resource changes and tracks no status.
    let path = format!("{DEPLOYMENT}?fieldManager=u");
    let patch = json!({"status": {"replicas": 9}, "spec": {"paused": true}});
    let patched = it.merge(&path, &patch).await;
    assert_eq!(patched["status"]["replicas"], 2);
    assert!(others(&patched).contains(&"u Update apps/v1: spec{paused}".to_owned()));
    it.shut_down().await;
}

#[tokio::test]
async fn an_apply_of_the_status_resets_the_spec_and_the_reverse() {
    let mut it = Cluster::new().await;
    let mut config = deployment();
    config["status"] = json!({"replicas": 3});
    let applied = it.apply(DEPLOYMENT, "m", &config).await;
    assert!(applied["status"]["replicas"].is_null(), "{applied}");
    let lines = owners(&applied);
    assert!(
        lines.len() == 1 && !lines[0].contains("status"),
        "{lines:?}"
    );

    config["spec"]["replicas"] = json!(5);
    let status = format!("{DEPLOYMENT}/status");
    let applied = it.apply(&status, "s", &config).await;
    assert_eq!(applied["status"]["replicas"], 3);
    assert_eq!(applied["spec"]["replicas"], 1);
    assert_eq!(
        others(&applied),
        ["s Apply apps/v1/status: status{replicas}"]
    );
    let less = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}});
    let applied = it.apply(&status, "s", &less).await;
    assert!(applied["status"]["replicas"].is_null(), "{applied}");
    assert!(others(&applied).is_empty(), "{applied}");
    it.shut_down().await;
}

#[tokio::test]
async fn the_replicas_belong_to_those_that_scale() {
    let mut it = Cluster::new().await;
    it.apply(DEPLOYMENT, "m", &deployment()).await;
    let scale = format!("{DEPLOYMENT}/scale");
    let patch = json!({"spec": {"replicas": 2}});
    it.merge(&format!("{scale}?fieldManager=s"), &patch).await;
    let by_update = it.get(DEPLOYMENT).await;
    assert_eq!(
        others(&by_update),
        ["s Update apps/v1/scale: spec{replicas}"]
    );
    assert!(!owners(&by_update)[0].contains("replicas"));

    let config = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"},
        "spec": {"replicas": 3},
    });
    let refused = it.try_apply(&scale, "t", &config).await;
    assert_eq!(refused.code, 409, "{}", refused.json());
    assert_eq!(
        refused.json()["message"],
        "Apply failed with 1 conflict: conflict with \"s\" with subresource \"scale\" using \
         autoscaling/v1: .spec.replicas"
    );
    let forced = it.force(&scale, "t", &config).await;
    assert_eq!(forced["spec"]["replicas"], 3);
    let by_apply = it.get(DEPLOYMENT).await;
    assert_eq!(by_apply["spec"]["replicas"], 3);
    assert_eq!(others(&by_apply), ["t Apply apps/v1/scale: spec{replicas}"]);
    let again = it.apply(&scale, "t", &config).await;
    assert_eq!(version(&again), version(&by_apply));

    // Who applies the workload without replicas leaves them to the scale.
    let mut less = deployment();
    less["spec"]
        .as_object_mut()
        .expect("it is one")
        .remove("replicas");
    let applied = it.apply(DEPLOYMENT, "m", &less).await;
    assert_eq!(applied["spec"]["replicas"], 3);
    it.shut_down().await;
}

#[tokio::test]
async fn finalizing_a_namespace_is_tracked_apart() {
    let mut it = Cluster::new().await;
    let path = "/api/v1/namespaces";
    let namespace = json!({"metadata": {"name": "n"}});
    let mut created = it
        .create(&format!("{path}?fieldManager=m"), &namespace)
        .await;
    let label = "m Update v1: metadata{labels{. kubernetes.io/metadata.name}}";
    assert_eq!(owners(&created), [label]);
    created["spec"]["finalizers"] = json!(["kubernetes", "example.com/f"]);
    let path = format!("{path}/n/finalize?fieldManager=f");
    let finalized = it.put(&path, &created).await;
    assert_eq!(
        owners(&finalized)[0],
        "f Update v1/finalize: spec{finalizers}"
    );
    it.shut_down().await;
}

#[tokio::test]
async fn managed_fields_in_the_body_of_a_subresource_are_ignored() {
    let mut it = Cluster::new().await;
    it.apply(DEPLOYMENT, "m", &deployment()).await;
    let patch = json!({"metadata": {"managedFields": [{}]}, "status": {"replicas": 1}});
    let patched = it
        .merge(&format!("{DEPLOYMENT}/status?fieldManager=c"), &patch)
        .await;
    assert_eq!(owners(&patched).len(), 2, "{patched}");
    it.shut_down().await;
}

#[tokio::test]
async fn a_token_of_a_service_account_leaves_its_owners_alone() {
    let mut it = Cluster::new().await;
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let config = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
    let account = format!("{accounts}/a");
    let before = it.apply(&account, "m", &config).await;
    it.client
        .post(&format!("{account}/token"), &json!({}))
        .await;
    assert_eq!(it.get(&account).await, before);
    let token = format!("{account}/token");
    let refused = it.try_apply(&token, "m", &config).await;
    assert_eq!(refused.code, 405, "{}", refused.json());
    it.shut_down().await;
}
