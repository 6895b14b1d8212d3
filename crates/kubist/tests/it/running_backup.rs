//! `kubist storage backup` of a running server under load, and `kubist storage restore`.

use crate::command::{fail, run, succeed};
use crate::durable::{Answers, map, maps, number_of, serve, write};
use kubist::apimachinery::ListOptions;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

const WRITERS: u64 = 3;
/// Minimum acknowledged writes before the backup, and again during and after it.
const ANSWERS_EACH: usize = 60;

async fn until_answered(answers: &Answers, count: usize) {
    while answers.lock().expect("nobody panics with it").len() < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_of_a_written_server_restores_what_was_answered_before() {
    let folder = tempfile::tempdir().unwrap();
    let served = serve(folder.path(), "data");
    let answers = Answers::default();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(maps(&served), 0, writer, Arc::clone(&answers)));
    }
    until_answered(&answers, ANSWERS_EACH).await;
    let before = answers.lock().unwrap().clone();
    let kubeconfig = served.kubeconfig.to_str().unwrap().to_owned();
    let path = folder.path().to_path_buf();
    let backup = tokio::task::spawn_blocking(move || {
        let arguments = [
            "storage",
            "backup",
            "--kubeconfig",
            &kubeconfig,
            "out.backup",
        ];
        String::from_utf8(succeed(&path, &arguments, b"")).unwrap()
    });
    let said = backup.await.unwrap();
    assert!(said.starts_with("out.backup: revision "), "{said}");
    let made = answers.lock().unwrap().len();
    until_answered(&answers, made + ANSWERS_EACH).await;
    drop(served);
    while let Some(done) = writers.join_next().await {
        done.unwrap();
    }
    let after = answers.lock().unwrap().clone();
    let newest = after.values().map(|(_, version)| *version).max().unwrap();

    let arguments = ["storage", "restore", "out.backup", "new"];
    let said = String::from_utf8(succeed(folder.path(), &arguments, b"")).unwrap();
    assert!(
        said.starts_with("new: ") && said.contains(", continuing at 1000"),
        "{said}"
    );
    let served = serve(folder.path(), "new");
    let listed = maps(&served).list(&ListOptions::default()).await.unwrap();
    let revision = number_of(&listed.metadata.resource_version);
    assert!(revision > newest, "{revision} is not after {newest}");
    let found: BTreeMap<&str, u64> = listed
        .items
        .iter()
        .map(|it| (&*it.metadata.name, it.data["value"].parse().unwrap()))
        .collect();
    for (name, (value, _)) in &before {
        assert!(
            found[name.as_str()] >= *value,
            "{name}: {}",
            found[name.as_str()]
        );
    }
    // The restored store accepts writes, at newer versions.
    let created = maps(&served).create(&map("new", 1)).await.unwrap();
    assert!(number_of(&created.metadata.resource_version) > revision);
    let (status, _) = served.running.terminate();
    assert_eq!(status.code(), Some(0));
    let checked = succeed(folder.path(), &["storage", "check", "new"], b"");
    assert!(checked.starts_with(b"new is intact"));
}

#[tokio::test]
async fn backups_that_are_not_whole_and_folders_that_are_not_empty_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let served = serve(folder.path(), "data");
    maps(&served).create(&map("kept", 1)).await.unwrap();
    let file = served.kubeconfig.to_str().unwrap();
    let backup = ["storage", "backup", "--kubeconfig", file, "out.backup"];
    succeed(folder.path(), &backup, b"");
    let again = fail(folder.path(), &backup, b"");
    assert!(again.contains("out.backup exists already"), "{again}");
    let offline = fail(folder.path(), &["storage", "backup", "data", "copy"], b"");
    assert!(
        offline.contains("kubist storage backup --kubeconfig FILE TO"),
        "{offline}"
    );

    let whole = std::fs::read(folder.path().join("out.backup")).unwrap();
    let full = fail(
        folder.path(),
        &["storage", "restore", "out.backup", "data"],
        b"",
    );
    assert!(full.contains("data is not empty"), "{full}");
    std::fs::write(folder.path().join("cut"), &whole[..whole.len() - 50]).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    std::fs::write(folder.path().join("changed"), changed).unwrap();
    std::fs::write(folder.path().join("other"), "something else entirely").unwrap();
    for (file, part) in [
        ("cut", "is truncated"),
        ("changed", "is damaged"),
        ("other", "not a backup"),
        ("absent", "absent: "),
    ] {
        let error = fail(folder.path(), &["storage", "restore", file, "new"], b"");
        assert!(error.contains(part), "{error}");
        assert!(!folder.path().join("new").exists(), "{file} left something");
    }
    served.running.terminate();

    // A directory made by `backup` can be restored too, at a higher revision.
    succeed(folder.path(), &["storage", "backup", "data", "copy"], b"");
    let restore = [
        "storage",
        "restore",
        "copy",
        "new",
        "--bump-revision",
        "5000",
    ];
    let said = String::from_utf8(succeed(folder.path(), &restore, b"")).unwrap();
    assert!(said.contains(", continuing at 5"), "{said}");
    let served = serve(folder.path(), "new");
    assert!(maps(&served).get_opt("kept").await.unwrap().is_some());
    let usage = run(folder.path(), &["storage", "backup"], b"");
    assert_eq!(usage.status.code(), Some(2));
}
