//! The rules of statuses, in upstream's words.

use serde_json::{Value, json};

use super::{Kinds, causes, pod};

/// What is wrong with an object whose status is this.
async fn refused(kinds: &Kinds, resource: &str, object: &Value, status: Value) -> Vec<String> {
    let mut object = object.clone();
    object["status"] = status;
    let put = kinds.try_put_part(resource, "status", &object).await;
    causes(&put.expect_err("it is not valid"))
}

#[tokio::test]
async fn the_status_of_a_pod_is_checked_in_upstreams_words() {
    let kinds = Kinds::new().await;
    let stored = kinds.create("/pods", pod(json!({}))).await;
    for (status, expected) in [
        (
            json!({"podIPs": [{"ip": "10.1.2.3"}, {"ip": "10.1.2.4"}]}),
            "status.podIPs: Invalid value: [{\"IP\":\"10.1.2.3\"},{\"IP\":\"10.1.2.4\"}]: may \
             specify no more than one IP for each IP family",
        ),
        (
            json!({"podIP": "x"}),
            "status.podIPs[0]: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 \
             or 2001:db8::ffff)",
        ),
        (
            json!({"qosClass": "Guaranteed"}),
            "status.qosClass: Invalid value: \"Guaranteed\": field is immutable",
        ),
        (
            json!({"observedGeneration": -1}),
            "status.observedGeneration: Invalid value: -1: must be a non-negative integer",
        ),
        (
            json!({"hostIPs": [{"ip": "1.2.3.4"}]}),
            "status.hostIPs[0].ip: Invalid value: \"1.2.3.4\": must be equal to `hostIP`",
        ),
        (
            json!({"resourceClaimStatuses": [{"name": "x"}]}),
            "status.resourceClaimStatuses[0].name: Invalid value: \"x\": must match the name of \
             an entry in `spec.resourceClaims`",
        ),
    ] {
        let found = refused(&kinds, "/pods", &stored, status).await;
        assert_eq!(found, [expected]);
    }
    let mut running = stored.clone();
    running["status"] = json!({"phase": "Running", "podIP": "10.1.2.3"});
    let running = kinds.try_put_part("/pods", "status", &running).await;
    let running = running.expect("it says nothing wrong");
    assert_eq!(running["status"]["qosClass"], "BestEffort");
}
