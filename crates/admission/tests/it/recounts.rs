//! The controller that counts the usage of quotas.

use crate::fixture::{Fixture, MAPS, QUOTAS, config_map};
use kubist_admission::run_quotas;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// Runs the controller beside a test.
async fn beside(fixture: &Fixture, test: impl Future<Output = ()>) {
    tokio::select! {
        () = run_quotas(&fixture.registry) => panic!("it never ends"),
        () = test => {}
    }
}

async fn status_becomes(fixture: &Fixture, expected: Value) {
    for _ in 0..1_000 {
        let quota = fixture.get(QUOTAS, "q").await.expect("it exists");
        if quota["status"] == expected {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    let quota = fixture.get(QUOTAS, "q").await.expect("it exists");
    assert_eq!(quota["status"], expected);
}

#[tokio::test(start_paused = true)]
async fn a_new_quota_is_counted_and_then_in_force() {
    let fixture = Fixture::new().await;
    let first = fixture.create(MAPS, config_map("before")).await;
    first.expect("nothing limits it");
    beside(&fixture, async {
        let quota = json!({
            "metadata": {"name": "q"},
            "spec": {"hard": {"configmaps": "2", "count/secrets": "1", "cpu": "1"}},
        });
        fixture.create(QUOTAS, quota).await.expect("it is valid");
        let hard = json!({"configmaps": "2", "count/secrets": "1", "cpu": "1"});
        let used = |maps: &str| json!({"configmaps": maps, "count/secrets": "0", "cpu": "0"});
        status_becomes(&fixture, json!({"hard": hard, "used": used("1")})).await;
        let second = fixture.create(MAPS, config_map("m")).await;
        second.expect("there is room");
        let third = fixture.create(MAPS, config_map("n")).await;
        assert_eq!(third.expect_err("it is full").code, 403);
        // A deletion makes room.
        fixture.delete(MAPS, "m").await.expect("it exists");
        status_becomes(&fixture, json!({"hard": hard, "used": used("1")})).await;
        let third = fixture.create(MAPS, config_map("n")).await;
        third.expect("there is room");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_changed_quota_is_counted_again() {
    let fixture = Fixture::new().await;
    beside(&fixture, async {
        let mut quota = json!({
            "metadata": {"name": "q"},
            "spec": {"hard": {"configmaps": "2"}},
        });
        let created = fixture.create(QUOTAS, quota.clone()).await;
        created.expect("it is valid");
        let zero = json!({"hard": {"configmaps": "2"}, "used": {"configmaps": "0"}});
        status_becomes(&fixture, zero).await;
        quota["spec"]["hard"] = json!({"secrets": "3"});
        let updated = fixture.put(QUOTAS, "", quota).await;
        updated.expect("it is valid");
        let zero = json!({"hard": {"secrets": "3"}, "used": {"secrets": "0"}});
        status_becomes(&fixture, zero).await;
    })
    .await;
}
