//! The subjects: a `kubist serve` on one of its engines, or a kube-apiserver.

use super::etcd::{self, Etcd, free_port};
use super::load::Load;
use crate::bench::machine;
use crate::interop::server::Server;
use kubist_test_support::process::Outcome;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Controllers are not measured.
const NO_CONTROLLERS: [&str; 2] = ["--controllers", "none"];
/// The token of kube-apiserver's administrator.
const TOKEN: &str = "bench";
/// The time before the memory of a new server is measured.
const REST: Duration = Duration::from_secs(2);

/// The storage engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Memory,
    Redb,
    Etcd,
}

impl Engine {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Redb => "redb",
            Self::Etcd => "etcd",
        }
    }
}

/// A running server and its etcd. Dropping it kills both.
pub(in crate::bench) struct Subject {
    program: Program,
    etcd: Option<Etcd>,
    pub(in crate::bench) kubeconfig: PathBuf,
    /// From the start of its process to its first answer.
    pub(super) start: Duration,
    /// Resident memory of the idle server, in kB.
    pub(super) rss_kb: u64,
}

enum Program {
    Kubist(Server),
    Other(Process),
}

/// A kube-apiserver, or the floor.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts a kube-apiserver on an etcd with fsync, like ours; that is this one, or one that Go
/// builds.
pub(in crate::bench) fn apiserver(
    load: &Load,
    scratch: &Path,
    path: &Path,
    etcd: Option<&Path>,
) -> Outcome<Subject> {
    started(load, scratch, path, etcd, "AlwaysAllow")
}

/// The same with one that obeys roles.
pub(super) fn obeying(
    load: &Load,
    scratch: &Path,
    path: &Path,
    etcd: Option<&Path>,
) -> Outcome<Subject> {
    started(load, scratch, path, etcd, "RBAC")
}

fn started(
    load: &Load,
    scratch: &Path,
    path: &Path,
    etcd: Option<&Path>,
    mode: &str,
) -> Outcome<Subject> {
    let etcd = etcd::binary(etcd)?.ok_or("an etcd: see --etcd")?;
    let etcd = Etcd::start(&etcd, &scratch.join("etcd"), true)?;
    started_on(load, scratch, path, etcd, mode)
}

/// Starts a kube-apiserver that allows everything on this etcd.
pub(super) fn apiserver_on(
    load: &Load,
    scratch: &Path,
    path: &Path,
    etcd: Etcd,
) -> Outcome<Subject> {
    started_on(load, scratch, path, etcd, "AlwaysAllow")
}

fn started_on(
    load: &Load,
    scratch: &Path,
    path: &Path,
    etcd: Etcd,
    mode: &str,
) -> Outcome<Subject> {
    let key = scratch.join("key.pem");
    load.key(&key)?;
    let path = std::fs::canonicalize(path)?;
    let ready = |kubeconfig: &Path| load.ready(kubeconfig);
    Subject::apiserver(&path, scratch, etcd, &key, mode, ready)
}

impl Subject {
    /// Starts an empty `kubist serve`. `etcd` is for the engine of that name;
    /// `flags` are its further ones.
    pub(super) fn kubist(
        binary: &Path,
        scratch: &Path,
        engine: Engine,
        etcd: Option<Etcd>,
        flags: &[&str],
    ) -> Outcome<Self> {
        let data = scratch.join("data");
        let _gone = std::fs::remove_dir_all(&data);
        let data = data.display().to_string();
        let mut extra = [&NO_CONTROLLERS[..], flags].concat();
        match engine {
            Engine::Memory => {}
            Engine::Redb => extra.extend(["--data-dir", &data]),
            Engine::Etcd => {
                let etcd = etcd.as_ref().ok_or("an etcd to stand on")?;
                extra.extend(["--etcd-servers", &etcd.url]);
            }
        }
        let kubeconfig = scratch.join("kubeconfig");
        let begun = Instant::now();
        let server = Server::start(binary, &kubeconfig, &extra)?;
        Ok(Self::rested(
            Program::Kubist(server),
            etcd,
            kubeconfig,
            begun.elapsed(),
        ))
    }

    /// Starts a kube-apiserver with this way to authorize, on an etcd of its own. `key` is a file
    /// with the key for service account tokens; `ready` waits until a server answers.
    pub(super) fn apiserver(
        binary: &Path,
        scratch: &Path,
        etcd: Etcd,
        key: &Path,
        mode: &str,
        ready: impl FnOnce(&Path) -> Outcome,
    ) -> Outcome<Self> {
        let folder = scratch.join("apiserver");
        let _gone = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let (port, tokens) = (free_port()?.to_string(), folder.join("tokens"));
        let groups = "\"system:masters\"";
        std::fs::write(&tokens, format!("{TOKEN},admin,admin,{groups}\n"))?;
        let kubeconfig = folder.join("kubeconfig");
        std::fs::write(&kubeconfig, kubeconfig_of(&port))?;
        let log = std::fs::File::create(folder.join("log"))?;
        let begun = Instant::now();
        let child = Command::new(binary)
            .args(["--bind-address", "127.0.0.1", "--secure-port", &port])
            .args(["--etcd-servers", &etcd.url])
            .arg("--cert-dir")
            .arg(folder.join("certificates"))
            .arg("--token-auth-file")
            .arg(&tokens)
            .args(["--authorization-mode", mode])
            .args(["--service-cluster-ip-range", "10.0.0.0/24"])
            .args(["--service-account-issuer", "https://bench.invalid"])
            .arg("--service-account-key-file")
            .arg(key)
            .arg("--service-account-signing-key-file")
            .arg(key)
            // The benchmark's Pods name service accounts that do not exist.
            .args(["--disable-admission-plugins", "ServiceAccount"])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let program = Program::Other(Process(child));
        if let Err(error) = ready(&kubeconfig) {
            let log = folder.join("log");
            return Err(format!("{error}; see {}", log.display()).into());
        }
        Ok(Self::rested(
            program,
            Some(etcd),
            kubeconfig,
            begun.elapsed(),
        ))
    }

    /// Starts the server that keeps nothing; `started` starts it and returns its port.
    pub(super) fn floor(
        scratch: &Path,
        started: impl FnOnce() -> Outcome<(Child, String)>,
    ) -> Outcome<Self> {
        let begun = Instant::now();
        let (child, port) = started()?;
        let program = Program::Other(Process(child));
        let kubeconfig = scratch.join("floor.kubeconfig");
        std::fs::write(&kubeconfig, kubeconfig_of(&port))?;
        Ok(Self::rested(program, None, kubeconfig, begun.elapsed()))
    }

    fn rested(program: Program, etcd: Option<Etcd>, kubeconfig: PathBuf, start: Duration) -> Self {
        std::thread::sleep(REST);
        let mut subject = Self {
            program,
            etcd,
            kubeconfig,
            start,
            rss_kb: 0,
        };
        subject.rss_kb = machine::usage(subject.id()).1;
        subject
    }

    /// Returns the server's process id.
    pub(in crate::bench) fn id(&self) -> u32 {
        match &self.program {
            Program::Kubist(server) => server.id(),
            Program::Other(Process(child)) => child.id(),
        }
    }

    /// Returns `https://ADDR`, from its kubeconfig.
    pub(in crate::bench) fn url(&self) -> Outcome<String> {
        let kubeconfig = std::fs::read_to_string(&self.kubeconfig)?;
        let url = kubeconfig.split_once("server: ").map(|(_, after)| after);
        let url = url.and_then(|after| after.split_whitespace().next());
        Ok(url.ok_or("a kubeconfig without a server")?.to_owned())
    }

    /// Returns its etcd's process id.
    pub(super) fn beside(&self) -> Option<u32> {
        self.etcd.as_ref().map(Etcd::id)
    }

    /// Stops it; `kubist serve` has to exit successfully.
    pub(super) fn stop(self) -> Outcome {
        match self.program {
            Program::Kubist(server) => server.stop(),
            Program::Other(_) => Ok(()),
        }
    }
}

/// The server's certificate is self-signed.
fn kubeconfig_of(port: &str) -> String {
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         current-context: bench\n\
         clusters:\n\
         - name: bench\n\
        \x20 cluster:\n\
        \x20   server: https://127.0.0.1:{port}\n\
        \x20   insecure-skip-tls-verify: true\n\
         users:\n\
         - name: admin\n\
        \x20 user:\n\
        \x20   token: {TOKEN}\n\
         contexts:\n\
         - name: bench\n\
        \x20 context:\n\
        \x20   cluster: bench\n\
        \x20   user: admin\n"
    )
}

#[cfg(test)]
mod tests {
    use super::kubeconfig_of;

    #[test]
    fn the_kubeconfig_is_yaml_with_its_fields_in_place() {
        let read: serde_json::Value = serde_saphyr::from_str(&kubeconfig_of("6443")).unwrap();
        let cluster = &read["clusters"][0]["cluster"];
        assert_eq!(cluster["server"], "https://127.0.0.1:6443");
        assert_eq!(cluster["insecure-skip-tls-verify"], true);
        assert_eq!(read["users"][0]["user"]["token"], "bench");
        assert_eq!(read["contexts"][0]["context"]["user"], "admin");
    }
}
