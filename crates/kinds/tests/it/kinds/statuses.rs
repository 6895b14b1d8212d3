//! Validation of statuses, with upstream's error texts.

use super::{Kinds, causes, pod, template};
use serde_json::{Value, json};

/// Returns the errors of an object with this status.
async fn refused(kinds: &Kinds, resource: &str, object: &Value, status: Value) -> Vec<String> {
    let mut object = object.clone();
    object["status"] = status;
    let put = kinds
        .try_update_subresource(resource, "status", &object)
        .await;
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
    let running = kinds
        .try_update_subresource("/pods", "status", &running)
        .await;
    let running = running.expect("it says nothing wrong");
    assert_eq!(running["status"]["qosClass"], "BestEffort");
}

#[tokio::test]
async fn the_status_of_a_job_is_checked_in_upstreams_words() {
    let kinds = Kinds::new().await;
    let mut template = template();
    template["metadata"] = json!({});
    template["spec"]["restartPolicy"] = json!("Never");
    let job = json!({"metadata": {"name": "j"}, "spec": {"completions": 2, "template": template}});
    let stored = kinds.create("batch/jobs", job).await;
    let time = "2020-01-02T03:04:05Z";
    let is = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": time});
    let found = refused(
        &kinds,
        "batch/jobs",
        &stored,
        json!({"conditions": [is("Complete")]}),
    );
    assert_eq!(
        found.await,
        [
            "status.completionTime: Required value: completionTime is required for Complete jobs",
            "status.conditions: Invalid value: cannot set Complete=True condition without the \
             SuccessCriteriaMet=true condition",
            "status.startTime: Required value: startTime is required for finished job",
        ]
    );
    let uncounted = json!({"succeeded": ["a", "a"], "failed": [""]});
    let status = json!({"uncountedTerminatedPods": uncounted});
    assert_eq!(
        refused(&kinds, "batch/jobs", &stored, status).await,
        [
            "status.uncountedTerminatedPods.succeeded[1]: Duplicate value: \"a\"",
            "status.uncountedTerminatedPods.failed[0]: Invalid value: \"\": must not be empty",
        ]
    );
    let mut done = stored.clone();
    done["status"] = json!({"succeeded": 2, "startTime": time, "completionTime": time,
        "conditions": [is("SuccessCriteriaMet"), is("Complete")]});
    let done = kinds
        .try_update_subresource("batch/jobs", "status", &done)
        .await;
    let mut done = done.expect("it is complete");
    done["status"]["conditions"] = json!([is("SuccessCriteriaMet")]);
    let refused = kinds
        .try_update_subresource("batch/jobs", "status", &done)
        .await;
    assert_eq!(
        causes(&refused.expect_err("it stays complete")),
        [
            format!(
                "status.completionTime: Invalid value: \"{time}\": cannot set completionTime when \
                 there is no Complete=True condition"
            ),
            "status.conditions: Invalid value: cannot disable the terminal Complete=True condition"
                .to_owned(),
        ]
    );
}
