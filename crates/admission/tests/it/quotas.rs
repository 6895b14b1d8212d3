//! `ResourceQuota`: usage is charged before an object is stored.

use crate::fixture::{Fixture, MAPS, Of, PODS, QUOTAS, config_map, pod};
use futures_util::future::join_all;
use kubist_apimachinery::PostOptions;
use serde_json::{Value, json};

const SERVICES: Of = ("", "v1", "services");

/// A registry with a quota whose usage has been counted.
async fn fixture(hard: Value, more: Value) -> Fixture {
    let fixture = Fixture::new().await;
    let mut spec = more;
    spec["hard"] = hard.clone();
    let mut quota = json!({"metadata": {"name": "q"}, "spec": spec});
    let created = fixture.create(QUOTAS, quota.clone()).await;
    created.expect("it is valid");
    let names = hard.as_object().expect("it has members").keys();
    let used: Value = names.map(|it| (it.clone(), json!("0"))).collect();
    quota["status"] = json!({"hard": hard, "used": used});
    let counted = fixture.put(QUOTAS, "status", quota).await;
    counted.expect("it is valid");
    fixture
}

async fn used(fixture: &Fixture) -> Value {
    let quota = fixture.get(QUOTAS, "q").await.expect("it exists");
    quota["status"]["used"].clone()
}

#[tokio::test]
async fn one_object_too_many_is_refused_in_upstreams_words() {
    let fixture = fixture(
        json!({"count/configmaps": "2", "configmaps": "5"}),
        json!({}),
    )
    .await;
    for name in ["a", "b"] {
        let created = fixture.create(MAPS, config_map(name)).await;
        created.expect("there is room");
    }
    let expected = json!({"count/configmaps": "2", "configmaps": "2"});
    assert_eq!(used(&fixture).await, expected);
    let status = fixture.create(MAPS, config_map("c")).await;
    let status = status.expect_err("it is full");
    assert_eq!(status.code, 403);
    assert_eq!(
        status.message,
        "configmaps \"c\" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: \
         count/configmaps=2, limited: count/configmaps=2"
    );
    assert_eq!(used(&fixture).await, expected);
}

#[tokio::test]
async fn concurrent_creates_never_exceed_a_quota() {
    let fixture = fixture(json!({"configmaps": "7"}), json!({})).await;
    let creates = (0..30).map(|index| fixture.create(MAPS, config_map(&format!("m{index}"))));
    let created = join_all(creates).await;
    assert_eq!(created.iter().filter(|it| it.is_ok()).count(), 7);
    assert_eq!(used(&fixture).await, json!({"configmaps": "7"}));
}

#[tokio::test]
async fn a_write_that_fails_gives_its_usage_back() {
    let fixture = fixture(json!({"configmaps": "7"}), json!({})).await;
    let first = fixture.create(MAPS, config_map("m")).await;
    first.expect("there is room");
    let second = fixture.create(MAPS, config_map("m")).await;
    assert_eq!(second.expect_err("it exists").code, 409);
    assert_eq!(used(&fixture).await, json!({"configmaps": "1"}));
}

#[tokio::test]
async fn a_dry_run_is_judged_and_charges_nothing() {
    let fixture = fixture(json!({"configmaps": "1"}), json!({})).await;
    let options = PostOptions {
        dry_run: true,
        ..PostOptions::default()
    };
    let cx = fixture.cx();
    let dry = || fixture.create_with(&cx, MAPS, config_map("m"), &options);
    dry().await.expect("there is room");
    assert_eq!(used(&fixture).await, json!({"configmaps": "0"}));
    let created = fixture.create(MAPS, config_map("n")).await;
    created.expect("there is room");
    assert_eq!(dry().await.expect_err("it is full").code, 403);
}

#[tokio::test]
async fn usage_that_was_not_counted_yet_refuses() {
    let fixture = Fixture::new().await;
    let mut quota = json!({
        "metadata": {"name": "q"},
        "spec": {"hard": {"configmaps": "1"}},
    });
    let created = fixture.create(QUOTAS, quota.clone()).await;
    created.expect("it is valid");
    let first = fixture.create(MAPS, config_map("m")).await;
    first.expect("the quota is not in force yet");
    quota["status"] = json!({"hard": {"configmaps": "1"}});
    let counted = fixture.put(QUOTAS, "status", quota).await;
    counted.expect("it is valid");
    let status = fixture.create(MAPS, config_map("n")).await;
    assert_eq!(
        status.expect_err("nobody knows").message,
        "configmaps \"n\" is forbidden: status unknown for quota: q, resources: configmaps"
    );
}

#[tokio::test]
async fn containers_specify_what_a_quota_limits() {
    let fixture = fixture(json!({"limits.cpu": "2", "pods": "5"}), json!({})).await;
    let status = fixture.create(PODS, pod("p", json!({}))).await;
    assert_eq!(
        status.expect_err("it says nothing").message,
        "pods \"p\" is forbidden: failed quota: q: must specify limits.cpu for: c"
    );
    let container = json!({"resources": {"limits": {"cpu": "1500m"}}});
    let created = fixture.create(PODS, pod("p", container.clone())).await;
    created.expect("there is room");
    let expected = json!({"limits.cpu": "1500m", "pods": "1"});
    assert_eq!(used(&fixture).await, expected);
    let status = fixture.create(PODS, pod("q", container)).await;
    assert_eq!(
        status.expect_err("it is too much").message,
        "pods \"q\" is forbidden: exceeded quota: q, requested: limits.cpu=1500m, used: \
         limits.cpu=1500m, limited: limits.cpu=2"
    );
}

#[tokio::test]
async fn a_quota_counts_the_pods_in_its_scopes() {
    let scopes = json!({"scopes": ["BestEffort", "NotTerminating"]});
    let fixture = fixture(json!({"pods": "1"}), scopes).await;
    let container = json!({"resources": {"requests": {"cpu": "1"}}});
    let other = fixture.create(PODS, pod("other", container)).await;
    other.expect("it does not count");
    assert_eq!(used(&fixture).await, json!({"pods": "0"}));
    let first = fixture.create(PODS, pod("p", json!({}))).await;
    first.expect("there is room");
    let second = fixture.create(PODS, pod("q", json!({}))).await;
    assert_eq!(second.expect_err("it is full").code, 403);
}

#[tokio::test]
async fn an_update_is_charged_what_it_adds() {
    let hard = json!({"services": "5", "services.nodeports": "1"});
    let fixture = fixture(hard, json!({})).await;
    let service = |kind: &str, ports: &[i32]| {
        let ports = ports
            .iter()
            .map(|it| json!({"port": it, "name": format!("p{it}")}));
        json!({
            "metadata": {"name": "s"},
            "spec": {"type": kind, "ports": ports.collect::<Value>(), "selector": {"a": "b"}},
        })
    };
    let created = fixture.create(SERVICES, service("ClusterIP", &[80])).await;
    let created = created.expect("there is room");
    let expected = json!({"services": "1", "services.nodeports": "0"});
    assert_eq!(used(&fixture).await, expected);
    let version = created["metadata"]["resourceVersion"].clone();
    let put = |mut object: Value, version: Value| {
        object["metadata"]["resourceVersion"] = version;
        fixture.put(SERVICES, "", object)
    };
    let status = put(service("NodePort", &[80, 81]), version.clone()).await;
    assert_eq!(
        status.expect_err("it is too much").message,
        "services \"s\" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: \
         services.nodeports=0, limited: services.nodeports=1"
    );
    let updated = put(service("NodePort", &[80]), version.clone()).await;
    updated.expect("there is room");
    let expected = json!({"services": "1", "services.nodeports": "1"});
    assert_eq!(used(&fixture).await, expected);
    // A write that conflicts gives back what it was charged.
    let status = put(service("ClusterIP", &[80]), version).await;
    assert_eq!(status.expect_err("it is another version").code, 409);
    assert_eq!(used(&fixture).await, expected);
}
