//! Logs, exec, attach, port forwarding and copies through a kube-apiserver, and through this
//! server, to the kubelet's protocols, which kwok serves: it runs the commands on this machine.
//!
//! `KUBIST_KWOK` names kwok's binary; without it, and the first as of `etcd_upstream`, the tests
//! are skipped with a message.
#![expect(clippy::disallowed_methods, reason = "what a test spawns, it awaits")]

use crate::etcd::{Etcd, Release, free_addresses};
use crate::etcd_upstream::{KubeApiserver, binary};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use kubist::api::core::v1::{Container, Node, NodeAddress, Pod};
use kubist::client::{
    Api, Client, CopyOptions, ExecOptions, LogOptions, PodStreamError, TerminalSize,
};
use kubist::{Server, ServerConfig};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(60);
const NODE: &str = "node-1";

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn kwok() -> Option<OsString> {
    let kwok = std::env::var_os("KUBIST_KWOK");
    if kwok.is_none() {
        eprintln!("skipped: KUBIST_KWOK names no kwok");
    }
    kwok
}

struct Kwok {
    child: Child,
    folder: TempDir,
    port: u16,
}

impl Drop for Kwok {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Kwok {
    fn start(binary: &Path, kubeconfig: &Path, echo: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let port = free_addresses(1)[0].port();
        let log = file("container.log");
        std::fs::write(&log, lines()).unwrap();
        std::fs::write(file("kwok.yaml"), config(&log, echo)).unwrap();
        let certificate = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        std::fs::write(file("cert"), certificate.cert.pem()).unwrap();
        std::fs::write(file("key"), certificate.signing_key.serialize_pem()).unwrap();
        let child = Command::new(binary)
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(["--manage-all-nodes", "--node-ip", "127.0.0.1"])
            .args(["--node-port", &port.to_string()])
            .args(["--server-address", &format!("127.0.0.1:{port}")])
            .arg("--tls-cert-file")
            .arg(file("cert"))
            .arg("--tls-private-key-file")
            .arg(file("key"))
            .arg("--config")
            .arg(file("kwok.yaml"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(file("log")).unwrap())
            .spawn()
            .unwrap();
        Self {
            child,
            folder,
            port,
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

/// A container's log, as kubelets keep it.
fn lines() -> String {
    let mut text = String::new();
    for number in 0..100 {
        let second = number % 60;
        writeln!(
            text,
            "2026-01-02T03:04:{second:02}.123456789Z stdout F line {number}"
        )
        .unwrap();
    }
    text
}

fn config(log: &Path, echo: u16) -> String {
    let log = log.display();
    format!(
        "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterLogs\nmetadata: {{name: all}}\n\
         spec:\n  logs: [{{logsFile: {log}, follow: false}}]\n\
         ---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterExec\nmetadata: {{name: all}}\n\
         spec:\n  execs: [{{local: {{}}}}]\n\
         ---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterAttach\nmetadata: {{name: all}}\n\
         spec:\n  attaches: [{{logsFile: {log}}}]\n\
         ---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterPortForward\n\
         metadata: {{name: all}}\nspec:\n  forwards:\n  - ports: [8080]\n    target: \
         {{port: {echo}, address: 127.0.0.1}}\n\
         ---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {{name: nothing}}\n\
         spec:\n  resourceRef: {{apiGroup: v1, kind: Pod}}\n  \
         selector: {{matchLabels: {{never: \"true\"}}}}\n  next: {{}}\n"
    )
}

/// Sends back what it gets, to any number of clients.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reader, mut writer) = stream.split();
                drop(tokio::io::copy(&mut reader, &mut writer).await);
            });
        }
    });
    port
}

async fn pod_on_node(client: &Client, kubelet: u16) -> Api<Pod> {
    let nodes: Api<Node> = Api::all(client.clone());
    let mut node = Node::default();
    node.metadata.name = NODE.into();
    nodes.create(&node).await.unwrap();
    let addressed = nodes.edit_status(NODE, |node| {
        node.status.addresses = vec![NodeAddress {
            type_: "InternalIP".into(),
            address: "127.0.0.1".into(),
        }];
        node.status.daemon_endpoints.kubelet_endpoint.port = kubelet.into();
    });
    addressed.await.unwrap();
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let mut pod = Pod::default();
    pod.metadata.name = "web".into();
    pod.spec.node_name = NODE.into();
    pod.spec.containers = vec![Container {
        name: "web".into(),
        image: "web".into(),
        ..Container::default()
    }];
    pods.create(&pod).await.unwrap();
    pods.edit_status("web", |pod| pod.status.phase = "Running".into())
        .await
        .unwrap();
    pods
}

/// Runs a command and returns its output, what it wrote to standard error, and its code.
async fn run(
    pods: &Api<Pod>,
    command: &[&str],
    input: &[u8],
) -> Result<(String, String, i32), PodStreamError> {
    let options = ExecOptions {
        stdin: true,
        ..ExecOptions::default()
    };
    let mut process = pods.exec("web", command.iter().copied(), &options).await?;
    let (mut stdin, mut stdout) = (process.stdin().unwrap(), process.stdout().unwrap());
    let mut stderr = process.stderr().unwrap();
    let write = async {
        drop(stdin.write_all(input).await);
        drop(stdin.shutdown().await);
    };
    let (mut out, mut err) = (String::new(), String::new());
    let read_out = stdout.read_to_string(&mut out);
    let read_err = stderr.read_to_string(&mut err);
    let ((), read, read_too) = tokio::join!(write, read_out, read_err);
    read.and(read_too)?;
    Ok((out, err, process.wait().await?.code))
}

async fn executes(pods: &Api<Pod>) {
    // kwok does not pass on the end of the input (its copy never closes the pipe), and tells exit
    // codes as failures. The unit tests of the client have both.
    let large = "0123456789".repeat(100_000);
    let script = "head -c 1000000; echo oh >&2";
    let (out, err, code) = run(pods, &["sh", "-c", script], large.as_bytes())
        .await
        .unwrap();
    assert!(out == large, "{} bytes of {}", out.len(), large.len());
    assert_eq!((&*err, code), ("oh\n", 0));
    let (out, _, code) = run(pods, &["echo", "a b", "c"], b"").await.unwrap();
    assert_eq!((&*out, code), ("a b c\n", 0));
    let error = run(pods, &["/no/such/program"], b"").await.unwrap_err();
    assert!(matches!(error, PodStreamError::Failed(_)), "{error:?}");

    let mut process = pods
        .exec("web", ["stty", "size"], &ExecOptions::terminal())
        .await
        .unwrap();
    let size = TerminalSize {
        width: 100,
        height: 30,
    };
    process.resize(size).await.unwrap();
    let mut text = String::new();
    let mut stdout = process.stdout().unwrap();
    stdout.read_to_string(&mut text).await.unwrap();
    assert!(process.wait().await.unwrap().success(), "{text}");
    let error = pods
        .exec("missing", ["x"], &ExecOptions::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("not found"), "{error}");
}

async fn tells(pods: &Api<Pod>) {
    let options = LogOptions {
        tail_lines: Some(3),
        timestamps: true,
        ..LogOptions::default()
    };
    let lines = pods.log_lines("web", &options).await.unwrap();
    let lines: Vec<_> = lines.map(Result::unwrap).collect().await;
    let texts: Vec<&str> = lines.iter().map(|it| &*it.text).collect();
    assert_eq!(texts, ["line 97", "line 98", "line 99"]);
    assert!(lines[0].time.is_some());
    let all = pods.logs("web", &LogOptions::default()).await.unwrap();
    assert_eq!(all.text(1 << 20).await.unwrap().lines().count(), 100);
    let unknown = LogOptions {
        containers: vec!["nothing".into()],
        ..LogOptions::default()
    };
    assert!(
        pods.logs("web", &unknown)
            .await
            .unwrap_err()
            .is_bad_request()
    );
}

/// The output of a running process is what kwok finds in the log from then on.
async fn attaches(pods: &Api<Pod>, log: &Path) {
    let mut process = pods.attach("web", &ExecOptions::default()).await.unwrap();
    let mut stdout = process.stdout().unwrap();
    let write = async {
        loop {
            sleep(Duration::from_millis(100)).await;
            let mut file = std::fs::OpenOptions::new().append(true).open(log).unwrap();
            let line = "2026-01-02T03:05:00.123456789Z stdout F attached\n";
            std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
        }
    };
    let read = async {
        let mut text = Vec::new();
        while !String::from_utf8_lossy(&text).contains("attached") {
            assert!(stdout.read_buf(&mut text).await.unwrap() > 0, "it ended");
        }
    };
    tokio::select! {
        () = write => {}
        () = read => {}
    }
}

async fn forwards(pods: &Api<Pod>) {
    let mut port = pods.port_forward("web", 8080).await.unwrap();
    let sent: Vec<u8> = (0..1_000_000u32).map(|it| (it % 251) as u8).collect();
    let mut found = vec![0; sent.len()];
    {
        let (mut reader, mut writer) = tokio::io::split(&mut port);
        let write = writer.write_all(&sent);
        let (written, read) = tokio::join!(write, reader.read_exact(&mut found));
        written.unwrap();
        read.unwrap();
    }
    assert!(found == sent);
    drop(port);
    let port = pods.port_forward("web", 9).await.unwrap();
    let error = timeout(PATIENCE, port.ended()).await.unwrap().unwrap_err();
    assert!(
        matches!(error, PodStreamError::Port { port: 9, .. }),
        "{error}"
    );
}

/// Only from the container: `tar` waits for the end of its input, which kwok does not pass on.
async fn copies(pods: &Api<Pod>) {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    std::fs::create_dir_all(there.join("a/b")).unwrap();
    std::fs::write(there.join("a/b/large"), vec![7; 3_000_000]).unwrap();
    let options = CopyOptions::default();
    let (remote, back) = (there.to_str().unwrap(), folder.path().join("back"));
    let copied = pods
        .copy_from("web", remote, &back, &options)
        .await
        .unwrap();
    assert_eq!((copied.files, copied.bytes), (1, 3_000_000));
    assert!(std::fs::read(back.join("a/b/large")).unwrap() == vec![7; 3_000_000]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_in_pods_passes_through_a_kube_apiserver() {
    let (Some(binary), Some(kwok)) = (binary(), kwok()) else {
        return;
    };
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let upstream = KubeApiserver::start(Path::new(&binary), &etcd).await;
    pass(&upstream.client, &upstream.kubeconfig(), &kwok).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_in_pods_passes_through_this_server() {
    let Some(kwok) = kwok() else { return };
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    server.write_kubeconfig(&kubeconfig).unwrap();
    pass(&server.client(), &kubeconfig, &kwok).await;
    server.shutdown().await;
}

/// Checks everything through a server, whose administrator has this kubeconfig.
async fn pass(client: &Client, kubeconfig: &Path, kwok: &OsStr) {
    let kwok = Kwok::start(Path::new(kwok), kubeconfig, echo().await);
    let pods = pod_on_node(client, kwok.port).await;
    let ready = async {
        while run(&pods, &["true"], b"").await.is_err() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    let ready = timeout(PATIENCE, ready).await;
    ready.unwrap_or_else(|_| panic!("kwok is not ready: {}", kwok.log()));
    let in_time = async |what: &str, stage: BoxFuture<'_, ()>| {
        let ended = timeout(PATIENCE, stage).await;
        ended.unwrap_or_else(|_| panic!("{what} takes too long: {}", kwok.log()));
    };
    in_time("exec", Box::pin(executes(&pods))).await;
    in_time("the log", Box::pin(tells(&pods))).await;
    let log = kwok.folder.path().join("container.log");
    in_time("attaching", Box::pin(attaches(&pods, &log))).await;
    in_time("forwarding", Box::pin(forwards(&pods))).await;
    in_time("copying", Box::pin(copies(&pods))).await;
}
