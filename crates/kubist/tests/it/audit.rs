//! Audit events that go to a webhook, and the options of audit.

use crate::command::{Served, fail, run};
use kubist::api::core::v1::{ConfigMap, Container, Namespace, Pod, ServiceAccount};
use kubist::apiserver::Authorization;
use kubist::apiserver::audit::{Audit, AuditSink, Policy};
use kubist::client::Api;
use kubist::{AuditWebhook, Controller, Server, ServerConfig};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(60);
const POLICY: &str = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n";

/// A request to the webhook.
struct Posted {
    line: String,
    list: Value,
}

/// Answers with these codes, and then with 200.
fn webhook(codes: &'static [u16]) -> (String, Receiver<Posted>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/audit", listener.local_addr().unwrap());
    let (posted, receiver) = channel();
    std::thread::spawn(move || {
        let mut codes = codes.iter().copied();
        for stream in listener.incoming().map_while(Result::ok) {
            answer_all(&stream, &posted, &mut codes);
        }
    });
    (url, receiver)
}

/// Answers the requests of one connection, until it ends.
fn answer_all(
    stream: &TcpStream,
    posted: &Sender<Posted>,
    codes: &mut impl Iterator<Item = u16>,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|it| *it > 0)?;
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let header = header.trim().to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if header.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let list = serde_json::from_slice(&body).ok()?;
        posted.send(Posted { line, list }).ok()?;
        let code = codes.next().unwrap_or(200);
        let answer = format!("HTTP/1.1 {code} X\r\ncontent-length: 4\r\n\r\nwhy?");
        let mut writer = stream;
        writer.write_all(answer.as_bytes()).ok()?;
    }
}

fn kubeconfig(folder: &Path, url: &str) -> PathBuf {
    let path = folder.join("webhook.kubeconfig");
    let text = format!(
        "clusters: [{{name: c, cluster: {{server: '{url}'}}}}]\nusers: [{{name: u, user: {{}}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n"
    );
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn events_are_posted_until_the_webhook_takes_them() {
    let folder = tempfile::tempdir().unwrap();
    let (url, posted) = webhook(&[500, 503]);
    let config = kubeconfig(folder.path(), &url);
    let mut sink = AuditWebhook::open(&config, Duration::from_millis(1)).unwrap();
    sink.write(&[r#"{"auditID":"a"}"#.into(), r#"{"auditID":"b"}"#.into()])
        .unwrap();
    let all: Vec<Posted> = posted.try_iter().collect();
    assert_eq!(all.len(), 3);
    for each in &all {
        assert_eq!(each.line, "POST /audit?timeout=30s HTTP/1.1\r\n");
        assert_eq!(each.list["kind"], "EventList");
        assert_eq!(each.list["apiVersion"], "audit.k8s.io/v1");
        assert_eq!(each.list["items"][1]["auditID"], "b");
    }
}

#[test]
fn events_are_lost_after_five_tries_and_the_last_answer_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let (url, posted) = webhook(&[500, 500, 500, 500, 418, 200]);
    let config = kubeconfig(folder.path(), &url);
    let mut sink = AuditWebhook::open(&config, Duration::from_millis(1)).unwrap();
    let error = sink.write(&["{}".into()]).unwrap_err();
    assert_eq!(error.to_string(), "the webhook answered 418: why?");
    assert_eq!(posted.try_iter().count(), 5);
}

#[test]
fn a_webhook_that_does_not_answer_does_not_hold_up_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (url, posted) = webhook(&[500]);
    let config = kubeconfig(folder.path(), &url);
    let mut sink = AuditWebhook::open(&config, Duration::from_secs(3_600)).unwrap();
    let ending = sink.ending().unwrap();
    let writing = std::thread::spawn(move || sink.write(&["{}".into()]));
    posted.recv_timeout(DEADLINE).unwrap();
    ending.cancel();
    writing.join().unwrap().unwrap();
    assert_eq!(posted.try_iter().count(), 1, "one more try");
}

#[test]
fn a_server_posts_what_its_policy_says_and_the_rest_when_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.yaml"), POLICY).unwrap();
    let (url, posted) = webhook(&[]);
    let config = kubeconfig(folder.path(), &url);
    let served = Served::start(
        folder.path(),
        &[
            "--controllers=none",
            "--token=t",
            "--audit-policy-file=policy.yaml",
            "--audit-webhook-config-file",
            config.to_str().unwrap(),
            "--audit-log-path=audit.log",
            "--audit-log-format=legacy",
        ],
    );
    assert_eq!(served.asked_with("t"), 200);
    let (status, errors) = served.running.terminate();
    assert_eq!((status.code(), errors.as_str()), (Some(0), ""));
    // It was in the buffer, and would have waited for half a minute.
    let lists: Vec<Posted> = posted.try_iter().collect();
    let events: Vec<&Value> = lists
        .iter()
        .flat_map(|it| it.list["items"].as_array().unwrap())
        .filter(|it| it["requestURI"] == "/api/v1/namespaces")
        .collect();
    let stages: Vec<&Value> = events.iter().map(|it| &it["stage"]).collect();
    assert_eq!(stages, ["RequestReceived", "ResponseComplete"]);
    let log = std::fs::read_to_string(folder.path().join("audit.log")).unwrap();
    let mut lines = log
        .lines()
        .filter(|it| it.contains("uri=\"/api/v1/namespaces\""));
    assert!(
        lines
            .next()
            .is_some_and(|it| it.ends_with("response=\"<deferred>\""))
    );
    assert!(
        lines
            .next()
            .is_some_and(|it| it.ends_with("response=\"200\""))
    );
}

#[test]
fn options_that_cannot_be_used_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.yaml"), POLICY).unwrap();
    let said = |options: &[&str]| {
        let mut arguments = vec!["serve", "--audit-log-path=-"];
        arguments.extend(options);
        let output = run(folder.path(), &arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let policy = "--audit-policy-file=policy.yaml";
    for (options, expected) in [
        (&[] as &[&str], "--audit-policy-file is missing"),
        (
            &[policy, "--audit-log-mode=slow"],
            "invalid audit log mode slow",
        ),
        (
            &[policy, "--audit-log-format=xml"],
            "invalid audit log format xml",
        ),
        (
            &[policy, "--audit-log-version=audit.k8s.io/v1beta1"],
            "invalid group version",
        ),
        (
            &[
                policy,
                "--audit-log-mode=batch",
                "--audit-log-batch-buffer-size=0",
            ],
            "invalid audit batch log buffer size 0, must be a positive number",
        ),
        (
            &[policy, "--audit-log-truncate-max-event-size=-5"],
            "invalid audit truncate log max event size -5, must be a positive number",
        ),
    ] {
        let error = said(options);
        assert!(error.contains(expected), "{options:?}: {error}");
    }
    let options = ["serve", policy, "--audit-webhook-config-file=none.yaml"];
    let error = fail(folder.path(), &options, b"");
    assert!(
        error.contains("initializing audit webhook") && error.contains("none.yaml"),
        "{error}"
    );
}

/// Sends each event on.
struct Sent(Sender<Value>);

impl AuditSink for Sent {
    fn write(&mut self, events: &[Arc<str>]) -> std::io::Result<()> {
        for event in events {
            let event = serde_json::from_str(event).expect("it is JSON");
            self.0.send(event).expect("the test receives it");
        }
        Ok(())
    }
}

#[tokio::test]
async fn what_admission_notes_is_in_the_event() {
    let (sent, events) = channel();
    let policy = Policy::parse(POLICY.as_bytes()).expect("it is a policy");
    let config = ServerConfig {
        audit: Some(Audit::new(policy, Sent(sent)).expect("there is room for a thread")),
        controllers: [].into(),
        ..Default::default()
    };
    let server = Server::start(config).await.unwrap();
    let mut namespace = Namespace::default();
    namespace.metadata.name = "team".into();
    let label = ("pod-security.kubernetes.io/audit", "restricted");
    namespace
        .metadata
        .labels
        .insert(label.0.into(), label.1.into());
    Api::all(server.client()).create(&namespace).await.unwrap();
    let mut pod = Pod::default();
    pod.metadata.name = "web".into();
    pod.spec.containers = vec![Container {
        name: "main".into(),
        image: "registry.example/web:1".into(),
        ..Container::default()
    }];
    let pods: Api<Pod> = Api::namespaced(server.client(), "team");
    pods.create(&pod).await.unwrap();
    server.shutdown().await;
    let noted = "pod-security.kubernetes.io/audit-violations";
    let notes: Vec<String> = events
        .try_iter()
        .filter(|it| it["stage"] == "ResponseComplete")
        .filter_map(|it| it["annotations"][noted].as_str().map(str::to_owned))
        .collect();
    let [note] = &notes[..] else {
        panic!("{notes:?}");
    };
    assert!(
        note.contains("would violate PodSecurity \"restricted"),
        "{note}"
    );
}

#[tokio::test]
async fn controllers_are_recorded_as_the_accounts_of_upstreams() {
    let (sent, events) = channel();
    let policy = Policy::parse(POLICY.as_bytes()).expect("it is a policy");
    let config = ServerConfig {
        audit: Some(Audit::new(policy, Sent(sent)).expect("there is room for a thread")),
        controllers: Controller::ALL.into(),
        authorization: Authorization::rbac(),
        listen: Some(([127, 0, 0, 1], 0).into()),
        ..Default::default()
    };
    let server = Server::start(config).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(server.client());
    let mut namespace = Namespace::default();
    namespace.metadata.name = "team".into();
    namespaces.create(&namespace).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "team");
    let accounts: Api<ServiceAccount> = Api::namespaced(server.client(), "team");
    let made = async {
        while maps.get_opt("kube-root-ca.crt").await.unwrap().is_none()
            || accounts.get_opt("default").await.unwrap().is_none()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        namespaces.delete("team").await.unwrap();
        while namespaces.get_opt("team").await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(DEADLINE, made).await.expect("in time");
    server.shutdown().await;
    let writes: Vec<(String, String)> = events
        .try_iter()
        .filter(|it| it["stage"] == "ResponseComplete")
        .filter(|it| !["get", "list", "watch"].contains(&it["verb"].as_str().unwrap()))
        .map(|it| {
            let user = it["user"]["username"].as_str().unwrap();
            let of = format!("{} {}", it["verb"], it["objectRef"]["resource"]);
            (user.to_owned(), of.replace('"', ""))
        })
        .collect();
    for (account, write) in [
        ("service-account-controller", "create serviceaccounts"),
        ("root-ca-cert-publisher", "create configmaps"),
        ("namespace-controller", "deletecollection configmaps"),
    ] {
        let user = format!("system:serviceaccount:kube-system:{account}");
        let expected = (user, write.to_owned());
        assert!(writes.contains(&expected), "{expected:?} in {writes:?}");
    }
    let by_admin = writes.iter().filter(|it| it.0 == "kubernetes-admin");
    let by_admin: Vec<_> = by_admin.map(|it| it.1.as_str()).collect();
    assert_eq!(by_admin, ["create namespaces", "delete namespaces"]);
}
