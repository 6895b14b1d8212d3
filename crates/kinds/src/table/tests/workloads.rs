//! Rows of workloads.

use super::{check, row};
use serde_json::{Value, json};

/// Returns a template with two containers.
fn template() -> Value {
    json!({"metadata": {"labels": {"t": "u"}}, "spec": {"containers": [
        {"name": "a", "image": "one"}, {"name": "b", "image": "two"}], "nodeSelector": {"d": "e"}}})
}

#[test]
fn rows_of_workloads() {
    let selector = json!({"matchLabels": {"k": "v"}});
    check(
        ("apps", "v1", "deployments"),
        json!({"spec": {"replicas": 3, "selector": selector, "template": template()},
            "status": {"readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 2}}),
        json!(["x", "2/3", 1, 2, "5m", "a,b", "one,two", "k=v"]),
    );
    check(
        ("apps", "v1", "replicasets"),
        json!({"spec": {"replicas": 3, "template": template()},
            "status": {"replicas": 2, "readyReplicas": 1}}),
        json!(["x", 3, 2, 1, "5m", "a,b", "one,two", "<none>"]),
    );
    check(
        ("", "v1", "replicationcontrollers"),
        json!({"spec": {"replicas": 3, "selector": {"k": "v"}, "template": template()}}),
        json!(["x", 3, 0, 0, "5m", "a,b", "one,two", "k=v"]),
    );
    check(
        ("apps", "v1", "statefulsets"),
        json!({"spec": {"replicas": 3, "template": template()}, "status": {"readyReplicas": 1}}),
        json!(["x", "1/3", "5m", "a,b", "one,two"]),
    );
    check(
        ("apps", "v1", "daemonsets"),
        json!({"spec": {"selector": selector, "template": template()},
            "status": {"desiredNumberScheduled": 5, "currentNumberScheduled": 4,
                "numberReady": 3, "updatedNumberScheduled": 2, "numberAvailable": 1}}),
        json!(["x", 5, 4, 3, 2, 1, "d=e", "5m", "a,b", "one,two", "k=v"]),
    );
    check(
        ("", "v1", "podtemplates"),
        json!({"template": template()}),
        json!(["x", "a,b", "one,two", "t=u"]),
    );
    let owner = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u",
        "controller": true}]);
    check(
        ("apps", "v1", "controllerrevisions"),
        json!({"metadata": {"ownerReferences": owner}, "revision": 7}),
        json!(["x", "daemonset.apps/d", 7, "5m"]),
    );
}

#[test]
fn rows_of_jobs_show_their_progress() {
    let job = |spec: Value, status: Value| {
        let mut spec = spec;
        spec["template"] = template();
        let job = json!({"metadata": {}, "spec": spec, "status": status});
        let row = row("batch", "v1", "jobs", job);
        [row[1].clone(), row[2].clone(), row[3].clone()]
    };
    let start = "2023-11-14T22:12:20Z";
    assert_eq!(
        job(
            json!({"completions": 2}),
            json!({"succeeded": 1, "startTime": start})
        ),
        ["Running", "1/2", "60s"],
    );
    let done = json!([{"type": "Complete", "status": "True"}]);
    let end = "2023-11-14T22:12:30Z";
    let status = json!({"succeeded": 1, "startTime": start, "completionTime": end,
        "conditions": done});
    assert_eq!(
        job(json!({"parallelism": 3}), status),
        ["Complete", "1/1 of 3", "10s"]
    );
    let suspended = json!({"conditions": [{"type": "Suspended", "status": "True"}]});
    assert_eq!(
        job(json!({"parallelism": 1}), suspended),
        ["Suspended", "0/1", ""]
    );
    check(
        ("batch", "v1", "cronjobs"),
        json!({"spec": {"schedule": "* * * * *", "suspend": false, "jobTemplate":
            {"spec": {"template": template()}}},
            "status": {"active": [{}], "lastScheduleTime": "2023-11-14T22:13:00Z"}}),
        json!([
            "x",
            "* * * * *",
            "<none>",
            "False",
            1,
            "20s",
            "5m",
            "a,b",
            "one,two",
            "<none>"
        ]),
    );
    check(
        ("batch", "v1", "cronjobs"),
        json!({"spec": {"schedule": "@daily", "timeZone": "Etc/UTC"}}),
        json!([
            "x", "@daily", "Etc/UTC", "<unset>", 0, "<none>", "5m", "", "", "<none>"
        ]),
    );
}
