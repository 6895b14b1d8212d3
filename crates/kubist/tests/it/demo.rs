//! `kubist demo`.

use crate::command::succeed;
use serde_json::Value;

#[test]
fn every_step_is_verified_and_the_last_line_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "demo",
        "--output",
        "json",
        "--objects",
        "60",
        "--pod-start",
        "20",
    ];
    let output = String::from_utf8(succeed(folder.path(), &arguments, b"")).unwrap();
    let report: Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
    assert_eq!(report["ok"], true, "{report:#}");
    let steps = report["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["ok"] == true), "{report:#}");
    let names: Vec<_> = steps
        .iter()
        .map(|step| step["name"].as_str().unwrap())
        .collect();
    let expected = [
        "server",
        "filling",
        "controllers",
        "apply",
        "bring up",
        "kill a Pod",
        "scale",
        "rolling update",
        "delete",
        "final check",
    ];
    assert_eq!(names, expected);
    for count in ["events", "reconciles"] {
        assert!(report[count].as_u64().unwrap() > 100, "{report:#}");
    }
    assert!(
        report["caches"]["objects"].as_u64().unwrap() > 60,
        "{report:#}"
    );
    let latency = &report["eventToReconcileMs"];
    assert!(
        latency["p50"].as_f64() > Some(0.0) && latency["p99"].as_f64() >= latency["p50"].as_f64()
    );
}
