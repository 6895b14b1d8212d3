//! Copies, against a kubelet that runs the requested `tar` on this machine.

use crate::pod_streams::{Kubelet, Socket, next, send};
use kubist_client::{CopyError, CopyOptions};
use percent_encoding::percent_decode_str;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

/// Returns the command in the query of a request.
fn command_of(head: &str) -> Vec<String> {
    let line = head.lines().next().expect("a line");
    let target = line.split(' ').nth(1).expect("a target");
    let query = target.split_once('?').expect("a query").1;
    let arguments = query
        .split('&')
        .filter_map(|it| it.strip_prefix("command="));
    let decoded = arguments.map(|it| percent_decode_str(it).decode_utf8_lossy().into_owned());
    decoded.collect()
}

/// Runs a command in a folder, with its streams on the socket.
async fn run(mut socket: Socket, command: Vec<String>) {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("tar runs");
    let mut stdin = child.stdin.take();
    let mut stdout = child.stdout.take().expect("out");
    let mut stderr = child.stderr.take().expect("err");
    if command[1].starts_with('x') {
        while let Some((channel, bytes)) = next(&mut socket).await {
            if channel == 255 {
                break;
            }
            let written = stdin.as_mut().expect("in").write_all(&bytes).await;
            if written.is_err() {
                break;
            }
        }
    }
    drop(stdin.take());
    let mut buffer = vec![0; 10_000];
    loop {
        let count = stdout.read(&mut buffer).await.expect("output");
        if count == 0 {
            break;
        }
        send(&mut socket, 1, &buffer[..count]).await;
    }
    let mut messages = Vec::new();
    stderr.read_to_end(&mut messages).await.expect("messages");
    send(&mut socket, 2, &messages).await;
    let code = child.wait().await.expect("it ends").code().unwrap_or(-1);
    let status = match code {
        0 => r#"{"status":"Success"}"#.to_owned(),
        code => format!(
            r#"{{"status":"Failure","reason":"NonZeroExitCode","details":{{"causes":[{{"reason":"ExitCode","message":"{code}"}}]}}}}"#
        ),
    };
    send(&mut socket, 3, status.as_bytes()).await;
}

fn kubelet() -> Kubelet {
    Kubelet::with_head("v5.channel.k8s.io", |socket, head| {
        run(socket, command_of(&head))
    })
}

#[tokio::test]
async fn folders_and_files_are_copied_out_and_in() {
    let kubelet = kubelet();
    let (there, here) = (
        tempfile::tempdir().expect("one"),
        tempfile::tempdir().expect("one"),
    );
    let app = there.path().join("app");
    fs::create_dir_all(app.join("x/empty")).expect("a folder");
    let large: Vec<u8> = (0..3_000_000u32).map(|it| (it % 253) as u8).collect();
    fs::write(app.join("x/large"), &large).expect("a file");
    fs::write(app.join("-rf"), "text").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc", app.join("link")).expect("a link");
    let options = CopyOptions::default();
    let path = app.to_str().expect("text");

    let local = here.path().join("copy");
    let copied = kubelet
        .pods
        .copy_from("web", path, &local, &options)
        .await
        .expect("copied");
    assert_eq!((copied.files, copied.bytes), (2, 3_000_004));
    #[cfg(unix)]
    assert_eq!(copied.skipped, ["./app/link"]);
    assert!(fs::read(local.join("x/large")).expect("a file") == large);
    assert!(local.join("x/empty").is_dir());
    let one = here.path().join("one");
    let file = format!("{path}/-rf");
    kubelet
        .pods
        .copy_from("web", &file, &one, &options)
        .await
        .expect("copied");
    assert_eq!(fs::read(&one).expect("a file"), b"text");

    let back = format!("{}/back", there.path().display());
    let copied = kubelet
        .pods
        .copy_to("web", &local, &back, &options)
        .await
        .expect("copied");
    assert_eq!(copied.files, 2);
    assert!(fs::read(Path::new(&back).join("x/large")).expect("a file") == large);
}

#[tokio::test]
async fn what_fails_is_told_as_tar_tells_it() {
    let kubelet = kubelet();
    let here = tempfile::tempdir().expect("one");
    let options = CopyOptions::default();
    let copied = kubelet
        .pods
        .copy_from("web", "/no/such/file", here.path(), &options);
    let error = copied.await.expect_err("there is none");
    assert!(matches!(error, CopyError::Tar { .. }), "{error:?}");
    assert!(error.to_string().contains("No such file"), "{error}");

    fs::write(here.path().join("large"), vec![0; 100_000]).expect("a file");
    let few = CopyOptions {
        bytes_max: 1_000,
        ..CopyOptions::default()
    };
    let from = here.path().join("large");
    let to = format!("{}/copy", here.path().display());
    let error = kubelet
        .pods
        .copy_to("web", &from, &to, &few)
        .await
        .expect_err("too much");
    assert!(matches!(error, CopyError::TooMuch { .. }), "{error}");
    let local = here.path().join("other");
    let from = from.to_str().expect("text");
    let error = kubelet
        .pods
        .copy_from("web", from, &local, &few)
        .await
        .expect_err("too much");
    assert!(matches!(error, CopyError::TooMuch { .. }), "{error}");
    let error = kubelet
        .pods
        .copy_to("web", &local.join("x"), &to, &options)
        .await;
    assert!(matches!(error, Err(CopyError::Io { .. })), "{error:?}");
}

#[tokio::test]
async fn a_container_that_sends_without_end_does_not_hold_a_copy_beyond_its_limit() {
    let kubelet = Kubelet::with_head("v5.channel.k8s.io", |mut socket: Socket, _| async move {
        let mut header = [0u8; 512];
        header[..3].copy_from_slice(b"./a");
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(b"77777777777\0");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|it| u32::from(*it)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        send(&mut socket, 1, &header).await;
        loop {
            send(&mut socket, 1, &[0; 16 << 10]).await;
        }
    });
    let here = tempfile::tempdir().expect("one");
    let few = CopyOptions {
        bytes_max: 1_000,
        ..CopyOptions::default()
    };
    let to = here.path().join("a");
    let copying = kubelet.pods.copy_from("web", "/a", &to, &few);
    let copied = tokio::time::timeout(std::time::Duration::from_secs(5), copying).await;
    let error = copied.expect("it ends").expect_err("too much");
    assert!(matches!(error, CopyError::TooMuch { .. }), "{error}");
}
