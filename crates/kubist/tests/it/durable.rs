//! `kubist serve --data-dir`, killed during writes, and `kubist storage`.

use crate::command::{Served, fail, succeed};
use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::ListOptions;
use kubist::client::Api;
use kubist::kubeconfig::Options;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

const NAMESPACE: &str = "default";
/// Number of times the server is killed.
const KILLS: u64 = 4;
const WRITERS: u64 = 4;
/// Minimum acknowledged writes before each kill.
const ANSWERS_EACH: usize = 40;

pub(crate) fn serve(folder: &Path, data: &str) -> Served {
    Served::start(folder, &["--controllers", "none", "--data-dir", data])
}

pub(crate) fn maps(served: &Served) -> Api<ConfigMap> {
    let file = Some(served.kubeconfig.clone());
    let client = kubist::infer_with(&Options {
        file,
        ..Options::default()
    });
    Api::namespaced(client.expect("the file was written"), NAMESPACE)
}

pub(crate) fn map(name: &str, value: u64) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map.data.insert("value".into(), value.to_string().into());
    map
}

pub(crate) fn number_of(version: &str) -> u64 {
    version.parse().expect("ours are numbers")
}

/// Acknowledged writes: the value and the resource version of each object.
pub(crate) type Answers = Arc<Mutex<BTreeMap<String, (u64, u64)>>>;

/// Creates and updates objects until the server is gone.
pub(crate) async fn write(maps: Api<ConfigMap>, round: u64, writer: u64, answers: Answers) {
    for number in 0.. {
        let name = format!("map-{round}-{writer}-{}", number / 2);
        let object = map(&name, number);
        let written = if number % 2 == 0 {
            maps.create(&object).await
        } else {
            maps.replace(&object).await
        };
        let Ok(written) = written else { return };
        let version = number_of(&written.metadata.resource_version);
        let mut answers = answers.lock().expect("nobody panics with it");
        answers.insert(name, (number, version));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_server_has_kept_everything_that_it_answered() {
    let folder = tempfile::tempdir().unwrap();
    let answers = Answers::default();
    for round in 0..=KILLS {
        let served = serve(folder.path(), "data");
        let listed = maps(&served).list(&ListOptions::default()).await.unwrap();
        let newest = number_of(&listed.metadata.resource_version);
        let found: BTreeMap<_, _> = listed
            .items
            .iter()
            .map(|it| (&*it.metadata.name, it))
            .collect();
        for (name, (value, version)) in &*answers.lock().unwrap() {
            let found = found[name.as_str()];
            let now: u64 = found.data["value"].parse().unwrap();
            // The unacknowledged update may have happened.
            assert!(
                now == *value || now == value + 1,
                "{name}: {now}, not {value}"
            );
            let found = number_of(&found.metadata.resource_version);
            assert!(found >= *version && newest >= found, "{name}");
        }
        if round == KILLS {
            let (status, errors) = served.running.terminate();
            assert_eq!((status.code(), errors.as_str()), (Some(0), ""));
            break;
        }
        let before = answers.lock().unwrap().len();
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(write(maps(&served), round, writer, Arc::clone(&answers)));
        }
        while answers.lock().unwrap().len() < before + ANSWERS_EACH {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // By SIGKILL.
        drop(served);
        while let Some(done) = writers.join_next().await {
            done.unwrap();
        }
    }
    let out = succeed(folder.path(), &["storage", "check", "data"], b"");
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("data is intact\nrevision  "), "{out}");
}

#[tokio::test]
async fn storage_commands_check_compact_and_copy() {
    let folder = tempfile::tempdir().unwrap();
    let served = serve(folder.path(), "data");
    maps(&served).create(&map("kept", 1)).await.unwrap();

    let taken = fail(folder.path(), &["storage", "check", "data"], b"");
    assert!(
        taken.contains("data is in use by another process: stop the server first"),
        "{taken}"
    );
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", "data"];
    let taken = fail(folder.path(), &arguments, b"");
    assert!(
        taken.contains("data is in use by another process"),
        "{taken}"
    );
    served.running.terminate();

    let text =
        |arguments: &[&str]| String::from_utf8(succeed(folder.path(), arguments, b"")).unwrap();
    let checked = text(&["storage", "check", "data"]);
    let keys: Vec<&str> = checked
        .lines()
        .map(|it| it.split(' ').next().unwrap())
        .collect();
    let expected = [
        "data", "revision", "history", "objects", "leases", "stored", "format",
    ];
    assert_eq!(keys[..7], expected, "{checked}");
    let compacted = text(&["storage", "compact", "data"]);
    assert!(
        compacted.starts_with("data: ") && compacted.contains(" after"),
        "{compacted}"
    );
    let copied = text(&["storage", "backup", "data", "copy"]);
    assert!(copied.starts_with("copy: revision "), "{copied}");
    let again = fail(folder.path(), &["storage", "backup", "data", "copy"], b"");
    assert!(again.contains("exists already"), "{again}");

    let served = serve(folder.path(), "copy");
    assert!(maps(&served).get_opt("kept").await.unwrap().is_some());
}

#[test]
fn folder_that_is_no_store_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for action in ["check", "compact"] {
        let error = fail(folder.path(), &["storage", action, "absent"], b"");
        assert!(error.contains("there is no store in absent"), "{error}");
    }
    assert!(!folder.path().join("absent").exists());
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let file = folder.path().join("data/kubist.redb");
    std::fs::write(&file, "something else").unwrap();
    let error = fail(
        folder.path(),
        &["serve", "--listen", "127.0.0.1:0", "--data-dir", "data"],
        b"",
    );
    assert!(
        error.contains("data/kubist.redb is not a store of Kubist"),
        "{error}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"something else");
}
