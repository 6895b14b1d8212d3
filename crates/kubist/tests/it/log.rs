//! The log of `kubist serve`.

use crate::command::Served;
use serde_json::Value;
use std::time::Duration;

/// Lists namespaces as the administrator.
async fn ask(served: &Served) {
    let options = kubist::kubeconfig::Options {
        file: Some(served.kubeconfig.clone()),
        ..Default::default()
    };
    let client = kubist::infer_with(&options).expect("the file was written");
    let namespaces: kubist::client::Api<kubist::api::core::v1::Namespace> =
        kubist::client::Api::all(client);
    let listed = namespaces
        .list(&kubist::apimachinery::ListOptions::default())
        .await;
    assert!(listed.expect("it answers").items.len() >= 4);
}

#[tokio::test]
async fn requests_are_logged_as_json_on_request_and_tokens_are_not() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let arguments = [
        "--controllers",
        "none",
        "-v",
        "--logging-format=json",
        "--token",
        "s3cret",
    ];
    let served = Served::start(folder.path(), &arguments);
    ask(&served).await;
    let (status, errors) = served.running.terminate();
    assert_eq!(status.code(), Some(0));
    let lines: Vec<Value> = errors
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    let listed = lines
        .iter()
        .find(|line| line["verb"] == "LIST")
        .expect(&errors);
    assert_eq!(listed["message"], "request");
    assert_eq!(
        (&listed["resource"], &listed["code"]),
        (&"namespaces".into(), &200.into())
    );
    assert_eq!(listed["user"], "kubernetes-admin");
    assert_eq!(listed["audit_id"].as_str().map(str::len), Some(36));
    assert!(!errors.contains("s3cret"), "{errors}");
}

#[tokio::test]
async fn text_says_what_its_level_says() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let arguments = ["--controllers", "none", "--log-level", "info"];
    let served = Served::start(folder.path(), &arguments);
    ask(&served).await;
    let (_, errors) = served.running.terminate();
    let is_request = |line: &str| {
        line.contains(" INFO kubist_apiserver::request: request audit_id=")
            && line.contains("verb=\"LIST\"")
    };
    assert!(errors.lines().any(is_request), "{errors}");

    let arguments = [
        "--controllers",
        "none",
        "--shutdown-delay-duration=1s",
        "--goaway-chance=0.01",
    ];
    let served = Served::start(folder.path(), &arguments);
    ask(&served).await;
    let begun = tokio::time::Instant::now();
    let (status, errors) = served.running.terminate();
    assert_eq!(
        (status.code(), errors.as_str()),
        (Some(0), ""),
        "warnings only"
    );
    assert!(
        begun.elapsed() >= Duration::from_millis(950),
        "it served on for a second"
    );
}
