//! What simulated kubelets answer: logs, exec, attach and port-forward, by the project's client.
//! kubectl's protocols are tested by the runs of `cargo xtask interop` and in `kubist-workloads`.

use kubist::Server;
use kubist::ServerConfig;
use kubist::api::core::v1::{Container, Pod};
use kubist::client::{Api, ExecOptions, LogOptions};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::{PATIENCE, until, until_gone};

async fn server() -> (Server, Api<Pod>) {
    let started = Server::start(ServerConfig::default()).await;
    let mut server = started.expect("it starts");
    let kubelet = kubist_workloads::kubelet::Options {
        listen: Some((Ipv4Addr::LOCALHOST, 0).into()),
        ..kubist_workloads::kubelet::Options::default()
    };
    let options = kubist_workloads::Options {
        kubelet: Some(kubelet),
        ..kubist_workloads::Options::default()
    };
    let run = |client, token| kubist_workloads::run(client, options, token);
    let added = server.run_controller("simulation", run);
    added.expect("it has a client");
    let pods = Api::namespaced(server.client(), "default");
    (server, pods)
}

/// Creates a Pod and waits until it runs.
async fn run(pods: &Api<Pod>, name: &str, annotations: &[(&str, &str)]) {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    let pairs = annotations.iter();
    pod.metadata.annotations = pairs
        .map(|(key, it)| ((*key).into(), (*it).into()))
        .collect();
    pod.spec.restart_policy = "Never".into();
    pod.spec.containers = vec![Container {
        name: "main".into(),
        image: "busybox".into(),
        command: vec!["sleep".into(), "1d".into()],
        ..Container::default()
    }];
    pods.create(&pod).await.expect("it is created");
    until("the Pod runs", async || {
        let pod = pods.get(name).await.expect("it exists");
        (pod.status.phase == "Running").then_some(())
    })
    .await;
}

async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.expect("in time")
}

#[tokio::test]
async fn a_log_is_followed_until_the_container_ends() {
    let (server, pods) = server().await;
    run(
        &pods,
        "short",
        &[
            ("kubist.dev/run-for", "600ms"),
            ("kubist.dev/exit-code", "4"),
        ],
    )
    .await;
    let follow = LogOptions {
        follow: true,
        ..LogOptions::default()
    };
    let log = pods.logs("short", &follow).await.expect("a log");
    let text = soon(log.text(10_000)).await.expect("it ends");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[0].starts_with("kubist: simulated container \"main\" of pod default/short on "));
    assert_eq!(
        lines[2..4],
        ["kubist: image: busybox", "kubist: command: sleep 1d"]
    );
    assert_eq!(lines[4], "kubist: ended with exit code 4");
    let pod = pods.get("short").await.expect("it exists");
    assert_eq!(pod.status.phase, "Failed");
    let last = LogOptions {
        tail_lines: Some(1),
        ..LogOptions::default()
    };
    let log = pods.logs("short", &last).await.expect("a log");
    assert_eq!(log.text(100).await.expect("it ends").lines().count(), 1);
    let refused = pods
        .logs("none", &last)
        .await
        .expect_err("there is no such Pod");
    assert!(refused.is_not_found(), "{refused}");
    server.shutdown().await;
}

#[tokio::test]
async fn commands_have_output_input_and_exit_codes() {
    let (server, pods) = server().await;
    run(&pods, "web", &[]).await;
    let output = ExecOptions::default();
    let process = pods.exec("web", ["echo", "a", "b"], &output).await;
    let mut process = process.expect("it starts");
    let mut text = String::new();
    let mut stdout = process.stdout().expect("it is connected");
    soon(stdout.read_to_string(&mut text))
        .await
        .expect("it ends");
    assert_eq!(text, "a b\n");
    assert!(soon(process.wait()).await.expect("it ends").success());

    let process = pods.exec("web", ["sh", "-c", "exit 3"], &output).await;
    let process = process.expect("it starts");
    assert_eq!(soon(process.wait()).await.expect("it ends").code, 3);

    let both = ExecOptions {
        stdin: true,
        ..ExecOptions::default()
    };
    let process = pods.exec("web", ["cat"], &both).await;
    let mut process = process.expect("it starts");
    let mut stdin = process.stdin().expect("it is connected");
    let mut stdout = process.stdout().expect("it is connected");
    stdin.write_all(b"hello").await.expect("it reads");
    let mut bytes = [0; 5];
    soon(stdout.read_exact(&mut bytes))
        .await
        .expect("it answers");
    assert_eq!(&bytes, b"hello");
    drop(stdin);
    assert!(soon(process.wait()).await.expect("it ends").success());
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_attached_ends_with_its_container() {
    let (server, pods) = server().await;
    run(&pods, "web", &[]).await;
    let attached = pods.attach("web", &ExecOptions::default()).await;
    let mut attached = attached.expect("it is attached");
    let mut first = [0; 6];
    let mut notes = attached.stderr().expect("it is connected");
    soon(notes.read_exact(&mut first))
        .await
        .expect("it answers");
    assert_eq!(&first, b"kubist");
    pods.delete("web").await.expect("it is deleted");
    until_gone(&pods, "web").await;
    assert!(soon(attached.wait()).await.expect("it ends").success());
    server.shutdown().await;
}

#[tokio::test]
async fn a_forwarded_port_echoes_and_kubelets_end_with_the_server() {
    let (server, pods) = server().await;
    run(&pods, "web", &[]).await;
    let mut port = pods.port_forward("web", 80).await.expect("a connection");
    let sent: Vec<u8> = (0..200_000_u32).map(|it| it.to_le_bytes()[0]).collect();
    let (mut reader, mut writer) = tokio::io::split(&mut port);
    let mut received = vec![0; sent.len()];
    let write = writer.write_all(&sent);
    let (written, read) = soon(futures_util::future::join(
        write,
        reader.read_exact(&mut received),
    ))
    .await;
    written.expect("it reads");
    read.expect("it answers");
    assert!(received == sent);
    let began = tokio::time::Instant::now();
    server.shutdown().await;
    assert!(began.elapsed() < Duration::from_secs(10));
    let rest = soon(port.read_to_end(&mut Vec::new())).await;
    assert!(rest.is_err() || rest.is_ok_and(|it| it == 0), "it is cut");
}
