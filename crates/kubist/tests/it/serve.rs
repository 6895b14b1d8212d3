//! `kubist serve`.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::command::{Served, fail, run, succeed};

#[test]
fn one_line_says_that_it_answers_and_a_signal_ends_it_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &[]);
    let words: Vec<&str> = served.ready.split(' ').collect();
    let ["ready", url, file, "in", millis, "ms"] = words[..] else {
        panic!("{}", served.ready)
    };
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    assert_eq!(file, format!("kubeconfig={}", served.kubeconfig.display()));
    assert!(millis.parse::<u32>().is_ok(), "{millis}");
    let mode = std::fs::metadata(&served.kubeconfig)
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600, "it holds a key");

    let (status, errors) = served.running.terminate();
    assert_eq!((status.code(), errors.as_str()), (Some(0), ""));
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the other process has its own clock"
)]
fn its_own_controllers_are_not_warned_of_what_they_watch() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &["--controllers", "gc,namespace"]);
    // By then the garbage collector has listed every kind, deprecated ones too.
    std::thread::sleep(Duration::from_millis(1_500));
    let (status, errors) = served.running.terminate();
    assert_eq!((status.code(), errors.as_str()), (Some(0), ""));
}

#[test]
fn an_address_in_use_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let error = fail(folder.path(), &["serve", "--listen", &address], b"");
    assert!(
        error.contains(&address) && error.contains("--listen"),
        "{error}"
    );
}

#[test]
fn choices_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = fail(folder.path(), &["serve", "--controllers", "none,gc"], b"");
    assert!(error.contains("--controllers"), "{error}");
}

#[test]
fn help_has_examples() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["serve", "storage", "watch", "demo", "convert"] {
        let help = succeed(folder.path(), &[command, "--help"], b"");
        let help = String::from_utf8(help).unwrap();
        assert!(help.contains(&format!("kubist {command} ")), "{help}");
        assert!(help.contains("Examples:"), "{help}");
    }
}

#[test]
fn wrong_usage_is_one_line_too() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, part) in [
        (&["watch"][..], "<RESOURCE>"),
        (&["watch", "pods", "-l", "a in (b"], "--selector"),
        (
            &["watch", "pods", "--field-selector", "nonsense"],
            "nonsense",
        ),
        (&["watch", "pods", "-o", "yaml"], "table, json"),
        (&["watch", "pods", "-n", "a", "-A"], "--all-namespaces"),
        (&["serve", "--listen", "nowhere"], "nowhere"),
        (&["demo", "--objects", "many"], "many"),
        (&["convert"], "--output"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let output = run(folder.path(), arguments, b"");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(
            errors.contains(part) && errors.contains("--help"),
            "{errors}"
        );
    }
}
