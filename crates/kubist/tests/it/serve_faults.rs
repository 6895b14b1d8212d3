//! `kubist serve` in bad conditions: a full disk, missing permissions, ten thousand clients.

use crate::command::{DEADLINE, Served};
use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::ListOptions;
use kubist::client::Api;
use kubist::kubeconfig::Options;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// How long a server may take to notice free space: its pauses begin with a second.
const RECOVERY: Duration = Duration::from_secs(30);
/// A user without permissions.
const NOBODY: u32 = 65_534;

fn maps(served: &Served) -> Api<ConfigMap> {
    let file = Some(served.kubeconfig.clone());
    let client = kubist::infer_with(&Options {
        file,
        ..Options::default()
    });
    Api::namespaced(client.expect("the file was written"), "default")
}

fn map(name: &str, bytes: usize) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map.data.insert("value".into(), "x".repeat(bytes).into());
    map
}

/// Limits the file size of a process, which then behaves as with a full disk.
#[cfg(target_os = "linux")]
fn limit_files(process: u32, bytes: Option<u64>) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let process = Pid::from_raw(i32::try_from(process).unwrap());
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(process, Resource::Fsize, limit).expect("it is ours");
}

/// Cost of a full disk: each write is refused at once, and the directory is reopened at most every
/// second and at least every minute.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_refuses_writes_serves_reads_and_continues_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--controllers", "none", "--data-dir", "data"];
    let served = Served::start(folder.path(), &arguments);
    let maps = maps(&served);
    let size = std::fs::metadata(folder.path().join("data/kubist.redb"))
        .unwrap()
        .len();
    limit_files(served.running.id(), Some(size + (1 << 20)));
    let (mut kept, mut refused) = (Vec::new(), None);
    for number in 0..100 {
        let name = format!("map-{number}");
        match maps.create(&map(&name, 500_000)).await {
            Ok(_) => kept.push(name),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let refused = refused.expect("fifty megabytes do not fit");
    let status = refused.status().expect("it is an answer");
    assert_eq!(
        (status.code, status.reason.as_str()),
        (500, "InternalError")
    );
    let out_of_space = "the storage engine is out of space: ";
    assert!(status.message.contains(out_of_space), "{status}");

    // Refused repeatedly, even what would fit; all acknowledged objects are readable.
    let begun = Instant::now();
    let again = maps.create(&map("small", 1)).await.expect_err("it is full");
    assert!(again.to_string().contains(out_of_space), "{again}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let listed = maps.list(&ListOptions::default()).await.unwrap();
    for name in &kept {
        assert!(
            listed
                .items
                .iter()
                .any(|it| it.metadata.name == *name.as_str())
        );
    }

    limit_files(served.running.id(), None);
    let begun = Instant::now();
    while let Err(error) = maps.create(&map("after", 500_000)).await {
        assert!(begun.elapsed() < RECOVERY, "{error}");
        sleep(Duration::from_millis(200)).await;
    }
    kept.push("after".to_owned());
    // The log is written at most once a second.
    sleep(Duration::from_secs(2)).await;
    let (status, errors) = served.running.terminate();
    assert_eq!(status.code(), Some(0));
    let lines: Vec<&str> = errors.lines().collect();
    let refused = "writes are refused, reads continue: the storage engine is out of space: ";
    assert!(lines.iter().any(|it| it.contains(refused)), "{errors}");
    let last = lines.last().unwrap_or(&"");
    assert!(last.contains("writes are accepted again"), "{errors}");

    let served = Served::start(folder.path(), &arguments);
    let maps = self::maps(&served);
    for name in &kept {
        assert!(maps.get_opt(name).await.unwrap().is_some(), "{name}");
    }
}

/// The command, run by a user without root permissions.
fn as_nobody(folder: &Path, data: &str) -> Command {
    let program = folder.join("kubist");
    if !program.exists() {
        let built = env!("CARGO_BIN_EXE_kubist");
        let linked = std::fs::hard_link(built, &program);
        linked
            .or_else(|_| std::fs::copy(built, &program).map(drop))
            .unwrap();
    }
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("KUBECONFIG");
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir", data]);
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_that_may_not_be_written_is_named_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    mode(folder.path(), 0o755);
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    mode(&data, 0o555);
    for (dir, named) in [
        // Existing but read-only; and missing in a read-only directory.
        ("data", "data/kubist.lock"),
        ("data/new", "data/new"),
    ] {
        let output = as_nobody(folder.path(), dir).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        let expected = format!("kubist: cannot use {named}: Permission denied");
        assert!(errors.starts_with(&expected), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(output.stdout.is_empty(), "it was never ready");
    }
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0);
    mode(&data, 0o755);
}

/// Cost: a file and some memory each, on both sides. Without TLS none gets far, and each is closed
/// after the header timeout.
#[tokio::test]
async fn ten_thousand_silent_connections_leave_others_their_service() {
    const WANTED: u64 = 10_000;
    const SPARE: u64 = 200;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let room = limit.current.unwrap_or(u64::MAX).saturating_sub(SPARE);
    let count = room.min(WANTED);
    if count < WANTED {
        println!("the limit of open files leaves room for {count} connections, not {WANTED}");
    }
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &["--controllers", "none"]);
    let maps = maps(&served);
    maps.create(&map("before", 1)).await.unwrap();
    let address = served.ready.split(' ').nth(1).unwrap();
    let address: std::net::SocketAddr = address.strip_prefix("https://").unwrap().parse().unwrap();
    let before = served.running.memory();
    let mut silent = Vec::new();
    for _ in 0..count {
        let connected = timeout(DEADLINE, TcpStream::connect(address)).await;
        silent.push(connected.expect("there is room").expect("it listens"));
    }
    let each = served.running.memory().saturating_sub(before) / count;
    println!("{count} silent connections, {each} bytes of the server's memory each");
    assert!(each < 64 << 10, "{each}");
    // A connection from before, and one from after.
    let begun = Instant::now();
    maps.create(&map("after", 1)).await.unwrap();
    assert_eq!(
        self::maps(&served)
            .list(&ListOptions::default())
            .await
            .unwrap()
            .items
            .len(),
        2
    );
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    drop(silent);
    let (status, errors) = served.running.terminate();
    assert_eq!((status.code(), errors.as_str()), (Some(0), ""));
}
