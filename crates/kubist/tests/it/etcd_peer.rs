//! Upstream's storage code (`tests/interop/etcd/peer`) and ours on one etcd: each reads, updates
//! and watches what the other wrote, and stored bytes are equal.
//!
//! The peer is a Go program: the test is skipped with a message unless `KUBIST_ETCD_PEER` names it,
//! and fails if `KUBIST_ETCD_REQUIRED` is set. `cargo xtask interop` builds it.

use crate::etcd::{Etcd, Release};
use futures_util::StreamExt as _;
use kubist::apimachinery::{ApiResource, ListOptions, Object as _, Unstructured};
use kubist::cache::WatchItem;
use kubist::client::{Api, Client, WatchOn};
use kubist::{EtcdServers, Server, ServerConfig};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(30);
/// Polling interval.
const PAUSE: Duration = Duration::from_millis(20);
/// An object of each kind, and its resource.
pub(crate) const KINDS: &str = include_str!("../../../../tests/testdata/stored-kinds.json");
/// The annotation that the program adds.
const MARK: &str = "/metadata/annotations/peer.kubist.dev~1wrote";

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn peer() -> Option<std::ffi::OsString> {
    let peer = std::env::var_os("KUBIST_ETCD_PEER");
    let required = std::env::var_os("KUBIST_ETCD_REQUIRED").is_some();
    assert!(peer.is_some() || !required, "KUBIST_ETCD_PEER is not set");
    if peer.is_none() {
        eprintln!("skipped: KUBIST_ETCD_PEER does not name the program");
    }
    peer
}

/// Runs the program on these resources, and returns its output lines.
fn run(peer: &Path, etcd: &Etcd, resources: &[Value], further: &[&str]) -> Vec<String> {
    let mut child = Command::new(peer)
        .args(["--etcd", &etcd.url()])
        .args(further)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = Value::from(resources).to_string();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

/// A server on this etcd without controllers.
pub(crate) async fn server(etcd: &Etcd) -> Server {
    Server::start(config(etcd)).await.unwrap()
}

/// The configuration of such a server.
pub(crate) fn config(etcd: &Etcd) -> ServerConfig {
    ServerConfig {
        controllers: [].into(),
        etcd: Some(EtcdServers {
            servers: vec![etcd.url()],
            ..EtcdServers::default()
        }),
        ..ServerConfig::default()
    }
}

/// Returns the objects of a kind.
pub(crate) fn api(client: Client, kind: &Value) -> Api<Unstructured> {
    let text = |pointer: &str| kind.pointer(pointer).unwrap().as_str().unwrap();
    let version = text("/object/apiVersion");
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let namespaced = kind["namespaced"].as_bool().unwrap();
    let resource = ApiResource {
        group: group.into(),
        version: version.into(),
        kind: text("/object/kind").into(),
        plural: text("/plural").into(),
        singular: "".into(),
        namespaced,
    };
    if namespaced {
        Api::dynamic_namespaced(client, &resource, "default")
    } else {
        Api::dynamic(client, &resource)
    }
}

/// A custom resource needs its definition to be established.
pub(crate) async fn create(api: &Api<Unstructured>, object: &Unstructured) -> Unstructured {
    let created = async {
        loop {
            match api.create(object).await {
                Ok(created) => return created,
                Err(error) if error.is_not_found() => sleep(PAUSE).await,
                Err(error) => panic!("{}: {error}", object.kind()),
            }
        }
    };
    timeout(PATIENCE, created).await.unwrap()
}

type Items = WatchOn<Unstructured>;

/// Returns the next event of an object of this name with the program's annotation.
async fn marked(items: &mut Items, name: &str) -> (&'static str, Unstructured) {
    loop {
        let item = timeout(PATIENCE, items.next()).await.unwrap().unwrap();
        let (event, object) = match item.unwrap() {
            WatchItem::Added(object) => ("added", object),
            WatchItem::Modified(object) => ("modified", object),
            other => panic!("unexpected: {other:?}"),
        };
        // The server writes the status of a definition, before or after the program.
        if object.name() == name && object.pointer(MARK) == Some(&json!("yes")) {
            return (event, object);
        }
    }
}

/// Returns the parts of an object that the server does not write itself.
pub(crate) fn written(mut object: Unstructured) -> Unstructured {
    if object.kind() == "CustomResourceDefinition" {
        object.object.remove("status");
        object.metadata_mut().remove("resourceVersion");
    }
    object
}

/// Both the update and the copy are reported, and equal a read; ours is written over theirs.
async fn told_of_what_the_program_wrote(
    api: &Api<Unstructured>,
    items: &mut Items,
    folder: &str,
    name: &str,
) {
    let (event, updated) = marked(items, name).await;
    assert_eq!(event, "modified", "{folder}");
    let is_definition = updated.kind() == "CustomResourceDefinition";
    assert_eq!(
        written(api.get(name).await.unwrap()),
        written(updated),
        "{folder}"
    );
    if is_definition {
        return; // It would define the same resource again.
    }
    let copy = format!("{name}-peer");
    let (event, mut made) = marked(items, &copy).await;
    assert_eq!(event, "added", "{folder}");
    let got = api.get(&copy).await.unwrap();
    assert_eq!(written(got), written(made.clone()), "{folder}");
    // Its selector is derived from fields that a copy lacks.
    if made.kind() == "Job" {
        return;
    }
    made.metadata_mut()
        .insert("labels".to_owned(), json!({"ours": "too"}));
    let replaced = api.replace(&made).await.unwrap();
    assert_eq!(
        replaced.pointer("/metadata/labels/ours"),
        Some(&json!("too"))
    );
}

#[tokio::test]
async fn upstreams_storage_and_ours_read_update_and_watch_what_the_other_wrote() {
    let (Some(peer), Some(etcd)) = (peer(), Etcd::start(Release::Current).await) else {
        return;
    };
    let peer = Path::new(&peer);
    let server = server(&etcd).await;
    let kinds: Vec<Value> = serde_json::from_str(KINDS).unwrap();
    let mut watches = BTreeMap::new();
    let mut resources = Vec::new();
    for kind in &kinds {
        let api = api(server.client(), kind);
        let object = Unstructured {
            object: kind["object"].as_object().unwrap().clone(),
        };
        let created = create(&api, &object).await;
        let name = created.name().to_owned();
        // As with any informer, a watch follows a list.
        let listed = api.list(&ListOptions::default()).await.unwrap();
        let options = ListOptions {
            resource_version: listed.metadata.resource_version.clone().into(),
            ..ListOptions::default()
        };
        let folder = kind["folder"].as_str().unwrap();
        watches.insert(folder, (name, api.watch_on(&options).unwrap(), api));
        resources.push(json!({
            "folder": folder,
            "apiVersion": kind["object"]["apiVersion"],
            "kind": kind["object"]["kind"],
        }));
    }

    let lines = run(peer, &etcd, &resources, &[]);
    let count = |word: &str| lines.iter().filter(|it| it.starts_with(word)).count();
    assert!(count("equal ") >= kinds.len() && count("wrote ") >= kinds.len());

    for (folder, (name, items, api)) in &mut watches {
        told_of_what_the_program_wrote(api, items, folder, name).await;
    }
    let lines = run(peer, &etcd, &resources, &["--read-only"]);
    assert!(
        lines.len() >= kinds.len() * 2 - 1,
        "what we updated is upstream's too"
    );
    server.shutdown().await;
}
