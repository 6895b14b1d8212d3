//! Rows of Pods with containers in all states.

use super::row;
use serde_json::{Value, json};

/// Returns readiness, status and restarts.
fn state(spec: Value, status: Value) -> [String; 3] {
    let row = row(
        "",
        "v1",
        "pods",
        json!({"metadata": {}, "spec": spec, "status": status}),
    );
    [1, 2, 3].map(|index| row[index].as_str().expect("it is a text").to_owned())
}

fn two() -> Value {
    json!({"containers": [{"name": "a"}, {"name": "b"}]})
}

fn with_init() -> Value {
    json!({
        "containers": [{"name": "a"}],
        "initContainers": [{"name": "i"}, {"name": "side", "restartPolicy": "Always"}],
    })
}

#[test]
fn a_running_pod_counts_containers_and_restarts() {
    let status = json!({"phase": "Running", "containerStatuses": [
        {"name": "a", "ready": true, "state": {"running": {}}, "restartCount": 2,
            "lastState": {"terminated": {"finishedAt": "2023-11-14T22:10:17Z"}}},
        {"name": "b", "ready": false, "state": {"running": {}}, "restartCount": 1},
    ]});
    assert_eq!(state(two(), status), ["1/2", "Running", "3 (3m3s ago)"]);
}

#[test]
fn the_first_container_that_is_in_trouble_names_the_status() {
    let trouble = |first: Value, second: Value| {
        let status = json!({"phase": "Running", "containerStatuses": [
            {"name": "a", "state": first}, {"name": "b", "state": second},
        ]});
        state(two(), status)[1].clone()
    };
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let killed = json!({"terminated": {"signal": 9, "exitCode": 137}});
    let failed = json!({"terminated": {"exitCode": 3}});
    let named = json!({"terminated": {"exitCode": 3, "reason": "OOMKilled"}});
    assert_eq!(trouble(waiting.clone(), named.clone()), "CrashLoopBackOff");
    assert_eq!(trouble(named, waiting), "OOMKilled");
    assert_eq!(trouble(json!({}), killed), "Signal:9");
    assert_eq!(trouble(json!({}), failed), "ExitCode:3");
}

#[test]
fn a_pod_of_which_part_is_completed_still_runs() {
    let part = |conditions: Value| {
        let status = json!({"phase": "Running", "conditions": conditions, "containerStatuses": [
            {"name": "a", "state": {"terminated": {"reason": "Completed"}}},
            {"name": "b", "ready": true, "state": {"running": {}}},
        ]});
        state(two(), status)
    };
    assert_eq!(part(json!([])), ["1/2", "NotReady", "0"]);
    assert_eq!(
        part(json!([{"type": "Ready", "status": "True"}])),
        ["1/2", "Running", "0"]
    );
}

#[test]
fn init_containers_are_counted_until_all_are_done() {
    let during = |first: Value| {
        let status = json!({"phase": "Pending", "initContainerStatuses": [
            {"name": "i", "restartCount": 4, "state": first},
            {"name": "side", "state": {"waiting": {"reason": "PodInitializing"}}},
        ]});
        state(with_init(), status)
    };
    assert_eq!(during(json!({"running": {}})), ["0/2", "Init:0/2", "4"]);
    let done = json!({"terminated": {"exitCode": 0}});
    assert_eq!(during(done), ["0/2", "Init:1/2", "4"]);
    let failed = json!({"terminated": {"exitCode": 1}});
    assert_eq!(during(failed)[1], "Init:ExitCode:1");
    let killed = json!({"terminated": {"exitCode": 137, "signal": 9}});
    assert_eq!(during(killed)[1], "Init:Signal:9");
    let reason = json!({"terminated": {"exitCode": 1, "reason": "Error"}});
    assert_eq!(during(reason)[1], "Init:Error");
    let image = json!({"waiting": {"reason": "ErrImagePull"}});
    assert_eq!(during(image)[1], "Init:ErrImagePull");
}

#[test]
fn sidecars_count_as_containers_and_only_their_restarts_remain() {
    let status = json!({"phase": "Running",
        "initContainerStatuses": [
            {"name": "i", "restartCount": 4, "state": {"terminated": {"exitCode": 0}}},
            {"name": "side", "started": true, "ready": true, "restartCount": 2,
                "state": {"running": {}}},
        ],
        "containerStatuses": [{"name": "a", "ready": true, "state": {"running": {}}}],
    });
    assert_eq!(state(with_init(), status), ["2/2", "Running", "2"]);
}

#[test]
fn deletion_gates_and_lost_nodes_have_words_of_their_own() {
    let deleted = |status: Value| {
        let meta = json!({"deletionTimestamp": "2023-11-14T22:13:00Z"});
        let pod = json!({"metadata": meta, "spec": two(), "status": status});
        row("", "v1", "pods", pod)[2].clone()
    };
    assert_eq!(deleted(json!({"phase": "Running"})), "Terminating");
    assert_eq!(deleted(json!({"phase": "Succeeded"})), "Succeeded");
    assert_eq!(
        deleted(json!({"phase": "Running", "reason": "NodeLost"})),
        "Unknown"
    );
    let gate = json!({"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"});
    let gated = json!({"phase": "Pending", "conditions": [gate]});
    assert_eq!(state(two(), gated)[1], "SchedulingGated");
    let evicted = json!({"phase": "Failed", "reason": "Evicted"});
    assert_eq!(state(two(), evicted)[1], "Evicted");
}

#[test]
fn the_wide_cells_say_where_a_pod_is() {
    let pod = json!({"metadata": {},
        "spec": {"nodeName": "n", "readinessGates": [
            {"conditionType": "g"}, {"conditionType": "h"}]},
        "status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}],
            "nominatedNodeName": "m", "conditions": [{"type": "g", "status": "True"}]},
    });
    let wide = json!([
        "x", "0/0", "Running", "0", "5m", "10.0.0.1", "n", "m", "1/2"
    ]);
    assert_eq!(row("", "v1", "pods", pod), wide);
}
