//! `LimitRanger`.

use crate::fixture::{CLAIMS, Fixture, Of, PODS, pod};
use serde_json::{Value, json};

const RANGES: Of = ("", "v1", "limitranges");

async fn fixture(limit: Value) -> Fixture {
    let fixture = Fixture::new().await;
    let range = json!({"metadata": {"name": "r"}, "spec": {"limits": [limit]}});
    fixture.create(RANGES, range).await.expect("it is valid");
    fixture
}

#[tokio::test]
async fn containers_get_the_defaults_of_their_namespace() {
    let fixture = fixture(json!({
        "type": "Container",
        "default": {"cpu": "200m", "memory": "1Gi", "ephemeral-storage": "1Gi"},
        "defaultRequest": {"cpu": "100m"},
    }))
    .await;
    let created = fixture
        .create(
            PODS,
            pod("p", json!({"resources": {"limits": {"memory": "2Gi"}}})),
        )
        .await
        .expect("it is accepted");
    let resources = &created["spec"]["containers"][0]["resources"];
    // A limit range without a default request takes the default limit, and a container without a
    // request its own limit.
    let expected = json!({
        "limits": {"cpu": "200m", "ephemeral-storage": "1Gi", "memory": "2Gi"},
        "requests": {"cpu": "100m", "ephemeral-storage": "1Gi", "memory": "2Gi"},
    });
    assert_eq!(*resources, expected);
    assert_eq!(
        created["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: cpu, ephemeral-storage request for container c; cpu, \
         ephemeral-storage limit for container c"
    );
}

#[tokio::test]
async fn pods_beyond_a_limit_are_refused_in_upstreams_words() {
    let fixture = fixture(json!({"type": "Container", "max": {"memory": "1Gi"}})).await;
    let container = json!({"resources": {"limits": {"memory": "2Gi"}}});
    let status = fixture.create(PODS, pod("p", container)).await;
    let status = status.expect_err("it is too large");
    assert_eq!(status.code, 403);
    assert_eq!(
        status.message,
        "pods \"p\" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi"
    );
}

#[tokio::test]
async fn claims_beyond_a_limit_are_refused_in_upstreams_words() {
    let fixture = fixture(json!({
        "type": "PersistentVolumeClaim", "max": {"storage": "1Gi"},
    }))
    .await;
    let claim = json!({
        "metadata": {"name": "c"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "2Gi"}},
        },
    });
    let status = fixture.create(CLAIMS, claim).await;
    assert_eq!(
        status.expect_err("it is too large").message,
        "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per \
         PersistentVolumeClaim is 1Gi, but request is 2Gi"
    );
}
