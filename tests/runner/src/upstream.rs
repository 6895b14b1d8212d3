//! A kube-apiserver with an etcd of its own, or with `kubist etcd` in its place, for comparison.
//!
//! Both listen on loopback and, unless asked to, store nothing durably. `curl` and `openssl`
//! must be installed.

use crate::running::{Running, free_port, repeat};
use kubist_test_support::process::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The name of the administrator, as on Kubist's server.
const ADMIN: &str = "kubernetes-admin";
/// The name in the certificate of the aggregator.
const PROXY: &str = "front-proxy-client";
/// The size limit of the store's file: above the default of 2 GB, for many objects.
const QUOTA_BYTES: &str = "8000000000";
/// The time limit for the server to become ready.
const READY_LIMIT: Duration = Duration::from_secs(60);

/// The two programs.
#[derive(Clone, Copy)]
pub(crate) struct Programs<'a> {
    pub(crate) kube_apiserver: &'a Path,
    pub(crate) store: Store<'a>,
    /// What it advertises; by default the address of the default route, which must exist.
    pub(crate) advertise_address: Option<&'a str>,
}

impl<'a> Programs<'a> {
    /// Returns the etcd; an error where `kubist etcd` is in its place.
    pub(crate) fn etcd(&self) -> Outcome<&'a Path> {
        match self.store {
            Store::Etcd(path) => Ok(path),
            Store::Kubist(_) => Err("it does not stand on an etcd".into()),
        }
    }
}

/// What a kube-apiserver stands on.
#[derive(Clone, Copy)]
pub(crate) enum Store<'a> {
    /// With one before 3.5.13 a kube-apiserver rejects watches that send initial events.
    Etcd(&'a Path),
    /// `kubist etcd`.
    Kubist(&'a Path),
}

/// What survives a failure of the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// Everything that was acknowledged: each write is synced to the disk.
    Synced,
    /// What the system has written by then.
    Unsynced,
}

/// A running kube-apiserver. Dropping it kills both programs.
pub(crate) struct Upstream {
    apiserver: Running,
    etcd: Running,
    /// What etcd stores, which is large and is removed at the end.
    data: PathBuf,
    /// `https://ADDR`.
    pub(crate) url: String,
    /// The certificates that verify its own.
    authority: PathBuf,
}

impl Upstream {
    /// Starts both in an existing folder; the administrator has this token.
    pub(crate) fn start(
        programs: Programs<'_>,
        folder: &Path,
        token: &str,
        arguments: &[&str],
    ) -> Outcome<Self> {
        Self::start_keeping(programs, Keeping::Unsynced, folder, token, arguments)
    }

    /// The same with a store that keeps this.
    pub(crate) fn start_keeping(
        programs: Programs<'_>,
        keeping: Keeping,
        folder: &Path,
        token: &str,
        arguments: &[&str],
    ) -> Outcome<Self> {
        let (etcd, etcd_url) = start_store(programs.store, keeping, folder)?;
        let port = free_port()?;
        let key = service_account_key(folder)?;
        let tokens = folder.join("tokens");
        std::fs::write(
            &tokens,
            format!("{token},{ADMIN},{ADMIN},\"system:masters\"\n"),
        )?;
        let certificates = folder.join("certificates");
        let (proxy, proxy_key) = (
            folder.join("front-proxy.crt"),
            folder.join("front-proxy.key"),
        );
        self_signed((&proxy, &proxy_key), &format!("/CN={PROXY}"), &[])?;
        let mut command = Command::new(programs.kube_apiserver);
        command
            .args(["--bind-address", "127.0.0.1"])
            .args(["--secure-port", &port.to_string()])
            .args(["--etcd-servers", &etcd_url])
            .arg("--cert-dir")
            .arg(&certificates)
            .arg("--token-auth-file")
            .arg(&tokens)
            // As clusters usually set it, and as Kubist does.
            .arg("--allow-privileged")
            .args(["--service-cluster-ip-range", "10.96.0.0/16"])
            .args([
                "--service-account-issuer",
                "https://kubernetes.default.svc.cluster.local",
            ])
            .arg("--service-account-key-file")
            .arg(&key)
            .arg("--service-account-signing-key-file")
            .arg(&key)
            // Aggregated servers believe it, as in a cluster of kubeadm.
            .arg("--proxy-client-cert-file")
            .arg(&proxy)
            .arg("--proxy-client-key-file")
            .arg(&proxy_key)
            .arg("--requestheader-client-ca-file")
            .arg(&proxy)
            .args(["--requestheader-allowed-names", PROXY])
            .args(["--requestheader-username-headers", "X-Remote-User"])
            .args(["--requestheader-group-headers", "X-Remote-Group"])
            .args(["--requestheader-extra-headers-prefix", "X-Remote-Extra-"])
            .args(arguments);
        if let Some(address) = programs.advertise_address {
            command.args(["--advertise-address", address]);
        }
        let mut apiserver = Running::start(command, &folder.join("kube-apiserver.log"))?;
        apiserver.await_port(port)?;
        let url = format!("https://127.0.0.1:{port}");
        // It listens before it is ready.
        await_ready(&url, token, &apiserver.log)?;
        Ok(Self {
            apiserver,
            etcd,
            data: folder.join("etcd"),
            url,
            authority: certificates.join("apiserver.crt"),
        })
    }

    /// Returns the process ids of the server and of the store.
    pub(crate) fn ids(&self) -> [u32; 2] {
        [self.apiserver.id(), self.etcd.id()]
    }

    /// Returns the path of the certificates that verify its own.
    pub(crate) fn authority(&self) -> &Path {
        &self.authority
    }

    /// Writes the administrator's kubeconfig.
    pub(crate) fn write_kubeconfig(&self, token: &str, path: &Path) -> Outcome {
        let (url, authority) = (&self.url, self.authority.display());
        let text = format!(
            "apiVersion: v1
kind: Config
current-context: upstream
contexts: [{{name: upstream, context: {{cluster: upstream, user: {ADMIN}}}}}]
clusters: [{{name: upstream, cluster: {{server: '{url}', certificate-authority: '{authority}'}}}}]
users: [{{name: {ADMIN}, user: {{token: '{token}'}}}}]
"
        );
        Ok(std::fs::write(path, text)?)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.apiserver.kill();
        self.etcd.kill();
        let _gone = std::fs::remove_dir_all(&self.data);
    }
}

/// Starts a store in an existing folder, and returns its URL.
pub(crate) fn start_store(
    store: Store<'_>,
    keeping: Keeping,
    folder: &Path,
) -> Outcome<(Running, String)> {
    let (client, peer) = (free_port()?, free_port()?);
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let mut command = match store {
        Store::Etcd(binary) => Command::new(binary),
        Store::Kubist(binary) => {
            let mut command = Command::new(binary);
            command.arg("etcd");
            command
        }
    };
    command
        .args(["--name", "upstream", "--log-level", "error"])
        .arg("--data-dir")
        .arg(folder.join("etcd"))
        .args(["--listen-client-urls", &url(client)])
        .args(["--advertise-client-urls", &url(client)])
        .args(["--listen-peer-urls", &url(peer)])
        .args(["--initial-advertise-peer-urls", &url(peer)])
        .args(["--initial-cluster", &format!("upstream={}", url(peer))])
        .args(["--quota-backend-bytes", QUOTA_BYTES]);
    if keeping == Keeping::Unsynced {
        command.arg("--unsafe-no-fsync");
    }
    let mut running = Running::start(command, &folder.join("etcd.log"))?;
    running.await_port(client)?;
    Ok((running, url(client)))
}

/// Generates a key that signs service account tokens.
pub(crate) fn service_account_key(folder: &Path) -> Outcome<PathBuf> {
    let key = folder.join("key.pem");
    let file = key.display().to_string();
    process::output("openssl", &["genrsa", "-out", file.as_str(), "2048"])?;
    Ok(key)
}

/// Makes a certificate that signs itself, good for two days. `more` are further options of
/// `openssl req`.
pub(crate) fn self_signed(
    (certificate, key): (&Path, &Path),
    subject: &str,
    more: &[&str],
) -> Outcome {
    let [certificate, key] = [certificate, key].map(|it| it.display().to_string());
    let words = "req -x509 -newkey rsa:2048 -nodes -days 2";
    let mut arguments: Vec<&str> = words.split(' ').collect();
    arguments.extend(["-subj", subject, "-out", &certificate, "-keyout", &key]);
    arguments.extend(more);
    process::output("openssl", &arguments).map(drop)
}

/// Waits until the server reports that it is ready.
fn await_ready(url: &str, token: &str, log: &Path) -> Outcome {
    let header = format!("Authorization: Bearer {token}");
    let ready = format!("{url}/readyz");
    let arguments = [
        "--insecure",
        "--silent",
        "--fail",
        "--header",
        header.as_str(),
        ready.as_str(),
    ];
    repeat(READY_LIMIT, || {
        process::output("curl", &arguments)
            .map(drop)
            .map_err(|_| format!("{url} is not ready; see {}", log.display()).into())
    })
}
