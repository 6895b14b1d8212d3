//! `kubist completions`, `kubist man` and `kubist logs`.

use crate::command::{Served, fail, succeed};

#[test]
fn shells_and_man_know_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = succeed(folder.path(), &["completions", shell], b"");
        let text = String::from_utf8(text).expect("text");
        for word in ["serve", "convert", "logs", "new", "all-containers"] {
            assert!(text.contains(word), "{shell}: no {word}");
        }
    }
    let page = succeed(folder.path(), &["man"], b"");
    assert!(String::from_utf8_lossy(&page).contains(".TH kubist 1"));
    let pages = folder.path().to_str().expect("text");
    succeed(folder.path(), &["man", "--folder", pages], b"");
    for page in ["kubist.1", "kubist-logs.1", "kubist-storage-backup.1"] {
        assert!(folder.path().join(page).is_file(), "{page}");
    }
    let error = fail(folder.path(), &["man", "--folder", "/no/such"], b"");
    assert!(error.contains("cannot write into /no/such"), "{error}");
}

#[test]
fn logs_of_what_is_not_there_are_an_error_of_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), &["--controllers", "none"]);
    let file = served.kubeconfig.to_str().expect("text");
    let error = fail(folder.path(), &["logs", "web", "--kubeconfig", file], b"");
    assert!(error.starts_with("kubist: "), "{error}");
    let arguments = ["logs", "web", "--all-containers", "--kubeconfig", file];
    let error = fail(folder.path(), &arguments, b"");
    assert!(error.contains("pods \"web\" not found"), "{error}");
}
