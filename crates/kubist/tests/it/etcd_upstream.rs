//! A kube-apiserver and this server on one etcd, concurrently: each serves what the other wrote,
//! with all fields, and updates it.
//!
//! `KUBIST_KUBE_APISERVER` names the binary; without it the test is skipped with a message. `cargo
//! xtask interop --long` builds one (`tests/interop/kube-apiserver`), which takes minutes.

use crate::etcd::{Etcd, Release, free_addresses};
use crate::etcd_peer::{self, KINDS, api, create, server};
use kubist::apimachinery::{ListOptions, Object as _, Unstructured};
use kubist::client::{Api, Client, Patch};
use kubist::kubeconfig::Options;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// Time limit for a kube-apiserver to be ready, and for changes to appear.
const PATIENCE: Duration = Duration::from_secs(2 * 60);
const PAUSE: Duration = Duration::from_millis(50);
/// Its administrator.
const TOKEN: &str = "etcd-upstream";
/// Suffix of the names of its objects.
const THEIRS: &str = "-theirs";

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn binary() -> Option<OsString> {
    let binary = std::env::var_os("KUBIST_KUBE_APISERVER");
    if binary.is_none() {
        eprintln!("skipped: KUBIST_KUBE_APISERVER names no kube-apiserver");
    }
    binary
}

/// It allows everything to the holder of the token. Dropping it kills it.
pub(crate) struct KubeApiserver {
    child: Child,
    pub(crate) client: Client,
    folder: TempDir,
}

impl Drop for KubeApiserver {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl KubeApiserver {
    pub(crate) async fn start(binary: &Path, etcd: &Etcd) -> Self {
        Self::start_with(binary, etcd, &[]).await
    }

    /// The same with further flags.
    pub(crate) async fn start_with(binary: &Path, etcd: &Etcd, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let port = free_addresses(1)[0].port().to_string();
        std::fs::write(
            file("tokens"),
            format!("{TOKEN},admin,admin,\"system:masters\"\n"),
        )
        .unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        // It derives public keys only from private RSA keys.
        let key = key.serialize_pem() + &key.public_key_pem();
        std::fs::write(file("key"), key).unwrap();
        std::fs::write(file("kubeconfig"), kubeconfig(&port)).unwrap();
        let child = Command::new(binary)
            .args(["--bind-address", "127.0.0.1", "--secure-port", &port])
            .args(["--etcd-servers", &etcd.url()])
            .arg("--cert-dir")
            .arg(file("certificates"))
            .arg("--token-auth-file")
            .arg(file("tokens"))
            .args(["--authorization-mode", "AlwaysAllow"])
            .args(["--service-cluster-ip-range", "10.96.0.0/16"])
            .args(["--service-account-issuer", "https://upstream.invalid"])
            .arg("--service-account-key-file")
            .arg(file("key"))
            .arg("--service-account-signing-key-file")
            .arg(file("key"))
            // No controller creates service accounts for Pods.
            .args(["--disable-admission-plugins", "ServiceAccount"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(file("log")).unwrap())
            .spawn()
            .unwrap();
        let options = Options {
            file: Some(file("kubeconfig")),
            ..Options::default()
        };
        let client = kubist::infer_with(&options).unwrap();
        let mut it = Self {
            child,
            client,
            folder,
        };
        it.until_ready().await;
        it
    }

    /// Returns the file with its address and token.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    async fn until_ready(&mut self) {
        let namespaces: Api<Unstructured> = api(
            self.client.clone(),
            &json!({"plural": "namespaces",
                "namespaced": false, "object": {"apiVersion": "v1", "kind": "Namespace"}}),
        );
        let ready = async {
            while namespaces.get("default").await.is_err() {
                let ended = self.child.try_wait().unwrap();
                assert!(ended.is_none(), "it ended: {ended:?}");
                sleep(PAUSE).await;
            }
        };
        timeout(PATIENCE, ready).await.expect("it gets ready");
    }
}

fn kubeconfig(port: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {
            "server": format!("https://127.0.0.1:{port}"), "insecure-skip-tls-verify": true,
        }}],
        "users": [{"name": "it", "user": {"token": TOKEN}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    })
    .to_string()
}

/// Returns an object, once its kind is served.
pub(crate) async fn found(api: &Api<Unstructured>, name: &str) -> Unstructured {
    let found = async {
        loop {
            match api.get(name).await {
                Ok(found) => return found,
                Err(error) if error.is_not_found() => sleep(PAUSE).await,
                Err(error) => panic!("{name}: {error}"),
            }
        }
    };
    timeout(PATIENCE, found).await.unwrap()
}

async fn labelled(api: &Api<Unstructured>, name: &str, label: &str) -> Unstructured {
    let patch = Patch::Merge(json!({"metadata": {"labels": {label: "too"}}}));
    api.patch(name, &patch).await.unwrap()
}

/// Returns the parts of an object that servers do not write themselves.
fn written(object: Unstructured) -> Unstructured {
    let mut object = etcd_peer::written(object);
    if object.kind() == "CustomResourceDefinition" {
        object.metadata_mut().remove("managedFields");
    }
    object
}

/// Returns all objects of a kind that this test created.
async fn all(api: &Api<Unstructured>, name: &str) -> Vec<Unstructured> {
    let list = api.list(&ListOptions::default()).await.unwrap();
    let items = list.items.into_iter();
    items.filter(|it| it.name().starts_with(name)).collect()
}

/// One kind: written by each, read and updated by the other.
async fn agree_about(kind: &Value, ours: &Api<Unstructured>, theirs: &Api<Unstructured>) {
    let mut object = Unstructured {
        object: kind["object"].as_object().unwrap().clone(),
    };
    let name = object.name().to_owned();
    let created = create(ours, &object).await;
    let seen = found(theirs, &name).await;
    assert_eq!(written(seen), written(created), "{name} of ours");
    let changed = labelled(theirs, &name, "theirs").await;
    assert_eq!(
        written(ours.get(&name).await.unwrap()),
        written(changed),
        "{name} as they changed it"
    );
    if object.kind() == "CustomResourceDefinition" {
        return; // Another would define the same resource.
    }
    let copy = format!("{name}{THEIRS}");
    object.metadata_mut().insert("name".to_owned(), json!(copy));
    let created = create(theirs, &object).await;
    assert_eq!(ours.get(&copy).await.unwrap(), created, "{copy}");
    let changed = labelled(ours, &copy, "ours").await;
    assert_eq!(
        theirs.get(&copy).await.unwrap(),
        changed,
        "{copy} as we changed it"
    );
}

#[tokio::test]
async fn a_kube_apiserver_and_ours_on_one_etcd_show_the_same_objects() {
    let (Some(binary), Some(etcd)) = (binary(), Etcd::start(Release::Current).await) else {
        return;
    };
    let theirs = KubeApiserver::start(Path::new(&binary), &etcd).await;
    let ours = server(&etcd).await;
    let kinds: Vec<Value> = serde_json::from_str(KINDS).unwrap();
    for kind in &kinds {
        let (ours, theirs) = (api(ours.client(), kind), api(theirs.client.clone(), kind));
        agree_about(kind, &ours, &theirs).await;
    }
    for kind in &kinds {
        let name = kind["object"]["metadata"]["name"].as_str().unwrap();
        let shown = all(&api(ours.client(), kind), name).await;
        assert!(!shown.is_empty(), "{kind}");
        let as_theirs = all(&api(theirs.client.clone(), kind), name).await;
        assert_eq!(shown, as_theirs, "{}", kind["plural"]);
    }
    ours.shutdown().await;
}
