//! Managers of several API versions of one object.

use super::*;
use serde_json::json;

const V1: &str = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/h";
const V2: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h";

fn autoscaler(version: &str, spec: &Value) -> Value {
    let mut spec = spec.clone();
    spec["scaleTargetRef"] = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    json!({
        "apiVersion": format!("autoscaling/{version}"), "kind": "HorizontalPodAutoscaler",
        "spec": spec,
    })
}

fn cpu(percent: u32) -> Value {
    let target = json!({"type": "Utilization", "averageUtilization": percent});
    json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}])
}

#[tokio::test]
async fn fields_are_owned_by_their_names_in_the_version_of_the_write() {
    let mut it = Cluster::new().await;
    let of_v1 = json!({"maxReplicas": 3, "targetCPUUtilizationPercentage": 50});
    let applied = it.apply(V1, "m", &autoscaler("v1", &of_v1)).await;
    let first = "m Apply autoscaling/v1: spec{maxReplicas scaleTargetRef \
                 targetCPUUtilizationPercentage}";
    assert_eq!(owners(&applied), [first]);
    let patch = json!({"spec": {"maxReplicas": 5}});
    let patched = it.merge(&format!("{V2}?fieldManager=u"), &patch).await;
    assert_eq!(patched["spec"]["metrics"], cpu(50));
    let expected = [
        "m Apply autoscaling/v1: spec{scaleTargetRef targetCPUUtilizationPercentage}",
        "u Update autoscaling/v2: spec{maxReplicas}",
    ];
    assert_eq!(owners(&patched), expected);

    // Metrics of version 2 are the target of version 1.
    let of_v2 = json!({"maxReplicas": 5, "metrics": cpu(60)});
    let refused = it.try_apply(V2, "n", &autoscaler("v2", &of_v2)).await;
    assert_eq!(
        refused.json()["message"],
        "Apply failed with 1 conflict: conflict with \"m\": .spec.targetCPUUtilizationPercentage"
    );
    let forced = it.force(V2, "n", &autoscaler("v2", &of_v2)).await;
    let expected = [
        "m Apply autoscaling/v1: spec{scaleTargetRef}",
        "n Apply autoscaling/v2: spec{maxReplicas metrics scaleTargetRef{apiVersion kind name}}",
        "u Update autoscaling/v2: spec{maxReplicas}",
    ];
    assert_eq!(owners(&forced), expected);
    let refused = it
        .try_apply(V1, "m", &autoscaler("v1", &of_v1))
        .await
        .json();
    assert_eq!(
        refused["message"],
        "Apply failed with 3 conflicts: conflicts with \"n\":\n- .spec.maxReplicas\n- \
         .spec.metrics\nconflicts with \"u\" using autoscaling/v2:\n- .spec.maxReplicas"
    );
    it.shut_down().await;
}

#[tokio::test]
async fn an_applier_that_changes_its_version_keeps_and_removes_its_fields() {
    let mut it = Cluster::new().await;
    let of_v1 = json!({"maxReplicas": 3, "minReplicas": 2, "targetCPUUtilizationPercentage": 50});
    it.apply(V1, "m", &autoscaler("v1", &of_v1)).await;
    let of_v2 = json!({"maxReplicas": 3, "metrics": cpu(50)});
    let applied = it.apply(V2, "m", &autoscaler("v2", &of_v2)).await;
    let expected =
        "m Apply autoscaling/v2: spec{maxReplicas metrics scaleTargetRef{apiVersion kind name}}";
    assert_eq!(owners(&applied), [expected]);
    assert_eq!(applied["spec"]["minReplicas"], 1, "the default");
    let less = it
        .apply(V1, "m", &autoscaler("v1", &json!({"maxReplicas": 3})))
        .await;
    assert_eq!(
        owners(&less),
        ["m Apply autoscaling/v1: spec{maxReplicas scaleTargetRef}"]
    );
    assert!(
        less["spec"]["targetCPUUtilizationPercentage"].as_i64() != Some(50),
        "{less}"
    );
    it.shut_down().await;
}
