//! `kubist watch`.

use crate::command::{Running, Served, fail, run};
use kubist::api::core::v1::ConfigMap;
use kubist::client::{Api, Client};
use kubist::kubeconfig::Options;
use serde_json::Value;
use std::collections::BTreeSet;

fn client(served: &Served) -> Client {
    let file = Some(served.kubeconfig.clone());
    kubist::infer_with(&Options {
        file,
        ..Options::default()
    })
    .expect("the file was written")
}

fn parse(line: &str) -> (String, String) {
    let event: Value = serde_json::from_str(line).expect("each line is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (
        text(&event["type"]),
        text(&event["object"]["metadata"]["name"]),
    )
}

#[test]
fn what_is_there_is_listed_and_summed_up() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &["--controllers", "none"]);
    let file = served.kubeconfig.to_str().unwrap();
    let watch = |word| {
        let arguments = ["watch", word, "--kubeconfig", file, "--exit-after-sync"];
        let output = run(folder.path(), &arguments, b"");
        assert!(output.status.success(), "{output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        let events: BTreeSet<_> = lines.lines().map(parse).collect();
        (events, String::from_utf8(output.stderr).unwrap())
    };
    let (events, summary) = watch("namespaces");
    assert!(
        events.contains(&("ADDED".to_owned(), "kube-system".to_owned())),
        "{events:?}"
    );
    for part in ["namespaces: ", "events: ", "wire: ", "memory: ", "lag: "] {
        assert!(summary.contains(part), "{summary}");
    }
    for word in ["ns", "Namespace"] {
        assert_eq!(watch(word).0, events, "{word}");
    }
    assert!(watch("deployments.apps").0.is_empty());
}

#[tokio::test]
async fn changes_come_as_lines_in_order_and_a_signal_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &["--controllers", "none"]);
    let file = served.kubeconfig.to_str().unwrap();
    let arguments = [
        "watch",
        "cm",
        "-n",
        "default",
        "-l",
        "app=web",
        "--kubeconfig",
        file,
    ];
    let watch = Running::start(folder.path(), &arguments);

    let maps: Api<ConfigMap> = Api::namespaced(client(&served), "default");
    let mut map = ConfigMap::default();
    map.metadata.name = "other".into();
    maps.create(&map).await.unwrap();
    map.metadata.name = "settings".into();
    map.metadata.labels.insert("app".into(), "web".into());
    let mut map = maps.create(&map).await.unwrap();
    let event = |word: &str| (word.to_owned(), "settings".to_owned());
    assert_eq!(parse(&watch.line().unwrap()), event("ADDED"));
    map.data.insert("key".into(), "value".into());
    maps.replace(&map).await.unwrap();
    assert_eq!(parse(&watch.line().unwrap()), event("MODIFIED"));
    maps.delete("settings").await.unwrap();
    assert_eq!(parse(&watch.line().unwrap()), event("DELETED"));

    let (status, summary) = watch.terminate();
    assert_eq!(status.code(), Some(0), "{summary}");
    assert!(summary.contains("from arrival to output"), "{summary}");
}

#[test]
fn what_cannot_be_watched_is_one_line_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let error = fail(folder.path(), &["watch", "pods"], b"");
    assert!(error.contains("--kubeconfig"), "no configuration: {error}");
    std::fs::write(folder.path().join("empty"), "").unwrap();
    let error = fail(
        folder.path(),
        &["watch", "pods", "--kubeconfig", "empty"],
        b"",
    );
    assert!(error.contains("no contexts"), "{error}");

    let served = Served::start(folder.path(), &["--controllers", "none"]);
    let file = served.kubeconfig.to_str().unwrap();
    let fails = |arguments: &[&str]| {
        let all = [&["watch", "--kubeconfig", file], arguments].concat();
        fail(folder.path(), &all, b"")
    };
    let error = fails(&["podz"]);
    assert!(
        error.contains("did you mean") && error.contains("pods"),
        "{error}"
    );
    let error = fails(&["pods", "--field-selector", "spec.nonsense=1"]);
    assert!(error.contains("spec.nonsense"), "{error}");
    let error = fails(&["tokenreviews"]);
    assert!(error.contains("cannot be watched"), "{error}");
    let error = fails(&["pods", "--context", "absent"]);
    assert!(error.contains("absent"), "{error}");
    let text = std::fs::read_to_string(file).unwrap();
    let anonymous: Vec<&str> = text.lines().filter(|it| !it.contains("client-")).collect();
    std::fs::write(folder.path().join("anonymous"), anonymous.join("\n")).unwrap();
    let error = fail(
        folder.path(),
        &["watch", "pods", "--kubeconfig", "anonymous"],
        b"",
    );
    // Roles allow the anonymous user little.
    assert!(
        error.contains("User \"system:anonymous\" cannot"),
        "{error}"
    );
    let _stopped = served.running.terminate();
    let error = fails(&["pods"]);
    assert!(error.contains("127.0.0.1"), "nobody answers: {error}");
}
