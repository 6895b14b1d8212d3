//! `kubist serve`.

use crate::command::{Running, Served, fail, kubist, run, succeed};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[test]
fn one_line_says_that_it_answers_and_a_signal_ends_it_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &[]);
    let words: Vec<&str> = served.ready.split(' ').collect();
    let ["ready", url, file, authorization, "in", millis, "ms"] = words[..] else {
        panic!("{}", served.ready)
    };
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    assert_eq!(file, format!("kubeconfig={}", served.kubeconfig.display()));
    assert_eq!(authorization, "authorization=RBAC");
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
    // By then the garbage collector has listed every kind, including deprecated ones.
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
fn ctrl_c_ends_it_in_order_too_and_its_code_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &[]);
    let (status, errors) = served.running.interrupt();
    assert_eq!((status.code(), errors.as_str()), (Some(130), ""));
}

#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &["--shutdown-delay-duration", "1h"]);
    // The first one begins to wait for an hour.
    let (status, errors) = served.running.interrupt_until_it_ends();
    assert_eq!((status.code(), errors.as_str()), (Some(130), ""));
}

#[test]
fn a_token_that_no_header_carries_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for token in [" a", "a b", "a\u{e9}"] {
        let error = misuse(folder.path(), &["serve", "--token", token]);
        assert!(error.contains("can never be used"), "{token}: {error}");
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the other process has its own clock"
)]
fn without_namespaces_there_is_no_controller_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &["--runtime-config", "api/v1=false"]);
    // By then it would have listed them more than once.
    std::thread::sleep(Duration::from_millis(1_500));
    let (status, errors) = served.running.terminate();
    assert_eq!(status.code(), Some(0));
    assert_eq!(errors.matches("namespace").count(), 1, "{errors}");
    assert!(
        errors.contains("the namespace controller is disabled"),
        "{errors}"
    );
}

#[test]
fn a_pipe_where_a_file_is_expected_ends_in_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("mkfifo")
        .arg(folder.path().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    for option in [
        "--service-account-signing-key-file",
        "--service-account-key-file",
        "--client-ca-file",
        "--encryption-provider-config",
        "--token-file",
    ] {
        let error = fail(folder.path(), &["serve", option, "pipe"], b"");
        assert!(
            error.contains("cannot read pipe: it is not a regular file"),
            "{option}: {error}"
        );
    }
}

#[test]
fn tokens_come_from_a_file_and_from_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    for text in ["", "two tokens\n"] {
        std::fs::write(&file, text).unwrap();
        let error = fail(folder.path(), &["serve", "--token-file", "token"], b"");
        assert!(
            error.contains("token must contain exactly one token"),
            "{error}"
        );
    }
    std::fs::write(&file, "fr0m-a.file\n").unwrap();
    let mut command = kubist(folder.path(), &[]);
    command.env("KUBIST_TOKEN", "fr0m-the.environment");
    let served = Served::start_as(command, folder.path(), &["--token-file", "token"]);
    for (token, code) in [
        ("fr0m-a.file", 200),
        ("fr0m-the.environment", 200),
        ("fr0m-nowhere", 401),
    ] {
        assert_eq!(served.asked_with(token), code, "{token}");
    }
}

#[test]
fn an_unreachable_etcd_is_reported_within_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let mut running = Running::start(
        folder.path(),
        &["serve", "--listen", "127.0.0.1:0", "--etcd-servers", &url],
    );
    #[expect(
        clippy::disallowed_methods,
        reason = "the other process has its own clock"
    )]
    let begun = std::time::Instant::now();
    let line = running.error_line().expect("it says something");
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    let said = format!("etcd at {url} cannot be reached yet: Connection refused (os error 111)");
    assert!(line.contains(&said), "{line}");
    assert!(line.ends_with("; retrying for 15 s in total"), "{line}");
    let line = running.error_line().expect("it gives up");
    let cannot = format!("kubist: cannot use the etcd at {url}");
    let why = "the storage engine is not available: tcp connect error: Connection refused (os \
               error 111)";
    // What a machine says that stalls for the last tenth of a second.
    let cut = "the storage engine did not answer in time: no answer before the deadline; the \
               attempt before it failed";
    let lines = [
        format!("{cannot}: {why}"),
        format!("{cannot}: {cut}: {why}"),
    ];
    assert!(lines.contains(&line), "{line}");
}

#[test]
fn too_few_files_to_serve_anybody_are_reported_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let binary = env!("CARGO_BIN_EXE_kubist");
    let limited = |files: u32| {
        let script = format!("ulimit -n {files}; exec {binary} serve --listen 127.0.0.1:0");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(folder.path());
        command
    };
    let output = limited(70).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("the limit of 70 open files is too low, at least 72 are needed"),
        "{error}"
    );
}

#[test]
fn one_connection_is_a_clients_and_not_a_controllers() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("token"), "s3cret").unwrap();
    let served = Served::start(
        folder.path(),
        &[
            "--max-connections",
            "1",
            "--controllers",
            "gc,namespace",
            "--token-file",
            "token",
        ],
    );
    for _ in 0..3 {
        assert_eq!(served.asked_with("s3cret"), 200);
    }
}

#[test]
fn choices_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = misuse(folder.path(), &["serve", "--controllers", "none,gc"]);
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

/// Returns the single line of standard error of a refused run.
fn misuse(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments, b"");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("--help"), "{errors}");
    errors
}

#[test]
fn values_that_are_none_are_refused_with_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, part) in [
        (
            &["serve", "--listen", "example.com:7544"][..],
            "127.0.0.1:6443",
        ),
        (&["serve", "--listen", "7544"], "an IP address and a port"),
        (&["serve", "--storage-quota-bytes", "1GB"], "1G or 1Gi"),
        (&["serve", "--storage-quota-bytes", "-5"], "1G or 1Gi"),
        (&["serve", "--history", "-5"], "0 or more"),
        (&["serve", "--max-connections", "0"], "1 or more"),
        (&["serve", "--max-requests-inflight", "-1"], "0 or more"),
        (&["serve", "--goaway-chance", "-1"], "between 0 and 0.02"),
        (&["serve", "--shutdown-delay-duration", "5"], "such as 30s"),
        (
            &["serve", "--shutdown-delay-duration", "-5s"],
            "such as 30s",
        ),
        (&["demo", "--objects", "-1"], "0 or more"),
        (&["watch", "pods", "--seconds", "-1"], "0 or more"),
        (
            &["storage", "restore", "a", "b", "--bump-revision", "-1"],
            "0 or more",
        ),
        (&["serve", "--lisen", "x"], "found; tip: a similar"),
    ] {
        let error = misuse(folder.path(), arguments);
        assert!(error.contains(part), "{error}");
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
        (&["watch", "pods", "-o", "yaml"], "table, wide, json"),
        (&["watch", "pods", "-n", "a", "-A"], "--all-namespaces"),
        (&["serve", "--listen", "nowhere"], "nowhere"),
        (&["demo", "--objects", "many"], "many"),
        (&["convert"], "--output"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let errors = misuse(folder.path(), arguments);
        assert!(errors.contains(part), "{errors}");
    }
}
