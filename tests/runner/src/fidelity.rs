//! `cargo xtask fidelity`: sends the same random requests to a kube-apiserver and to Kubist's
//! server.
//!
//! It starts a kube-apiserver with its own etcd and a `kubist serve` in memory, on loopback, and
//! runs the program in `tests/fidelity` against both. Features that would cause other differences
//! than in answers are off:
//!
//! - controllers, on both sides: there is no scheduler, kubelet or garbage collector, whose writes
//!   would interleave with the steps of a sequence;
//! - the plugins `ServiceAccount` and `TaintNodesByCondition`: without controllers no namespace has
//!   a service account, and no node loses its taint;
//! - `ResourceQuota`: it rejects requests when no controller has computed usage;
//! - admission webhooks and policies: sequences create such objects, which would affect all later
//!   requests;
//! - priority and fairness: sequences write its objects;
//! - authorization: the token is the administrator's, and access reviews have the same answer on
//!   both sides.
//!
//! Both use the same service address range. `curl` and `openssl` must be installed.

#![expect(
    clippy::disallowed_methods,
    reason = "it waits for programs by the clock of the machine"
)]

use crate::interop::server::{self, Server};
use clap::Args;
use kubist_test_support::process::{self, Outcome, root};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Seeds of a long interop run.
const SEEDS_LONG: &str = "0..200";
/// The name of the administrator on Kubist's server.
const ADMIN: &str = "kubernetes-admin";
/// The administrator's token on both servers.
const TOKEN: &str = "fidelity";
/// The time limit for a program to become ready.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(100);
/// Disabled admission plugins of the kube-apiserver.
const DISABLED: &str = "ServiceAccount,TaintNodesByCondition,ResourceQuota,\
    MutatingAdmissionWebhook,ValidatingAdmissionWebhook,\
    MutatingAdmissionPolicy,ValidatingAdmissionPolicy";

/// Options of `cargo xtask fidelity`.
#[derive(Args)]
pub(crate) struct Options {
    /// A kube-apiserver v1.36
    #[arg(long, value_name = "PATH", required_unless_present = "list")]
    kube_apiserver: Option<PathBuf>,
    /// Seeds to run, as in `0..10000`
    #[arg(long, value_name = "FROM..TO", default_value = SEEDS_LONG)]
    seeds: String,
    /// Use this binary instead of building one
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// Use this etcd instead of the one on PATH; with one before 3.5.13 a kube-apiserver rejects
    /// watches that send initial events
    #[arg(long, value_name = "PATH", default_value = "etcd")]
    etcd: PathBuf,
    /// Only these areas, as in `patches,watches`
    #[arg(long, value_name = "AREA,...")]
    areas: Option<String>,
    /// Stop after this many causes that are not on the list
    #[arg(long, value_name = "N")]
    causes: Option<u64>,
    /// Shrink this many differences; of further ones only the first is shown [default: 40]
    #[arg(long, value_name = "N")]
    shrink: Option<u64>,
    /// Sequences that run at the same time [default: 8]
    #[arg(long, value_name = "N")]
    jobs: Option<u16>,
    /// Print the sequences as scripts, without starting a server
    #[arg(long)]
    list: bool,
}

impl Options {
    /// Options for a long interop run.
    pub(crate) fn long(kube_apiserver: &Path, etcd: &Path) -> Self {
        Self {
            kube_apiserver: Some(kube_apiserver.to_path_buf()),
            seeds: SEEDS_LONG.to_owned(),
            kubist: None,
            etcd: etcd.to_path_buf(),
            areas: None,
            causes: None,
            shrink: None,
            jobs: None,
            list: false,
        }
    }
}

/// A child process, killed on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts both servers and runs the program.
pub(crate) fn run(options: &Options) -> Outcome {
    let Some(kube_apiserver) = options.kube_apiserver.as_deref().filter(|_| !options.list) else {
        return process::run_with(&mut program(options));
    };
    let kube_apiserver = std::fs::canonicalize(kube_apiserver)
        .map_err(|error| format!("{}: {error}", kube_apiserver.display()))?;
    let scratch = root().join("target/fidelity");
    // Removes the files of an earlier run.
    let _gone = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch)?;
    let binary = server::binary(options.kubist.as_deref())?;
    let kubeconfig = scratch.join("kubeconfig");
    let arguments = [
        "--controllers",
        "none",
        "--token",
        TOKEN,
        // The kube-apiserver authorizes everybody, and so has no anonymous user either.
        "--anonymous-auth=false",
    ];
    let ours = Server::start(&binary, &kubeconfig, &arguments)?;
    let (_etcd, etcd_url) = start_etcd(&options.etcd, &scratch)?;
    let (_theirs, theirs_url) = start_apiserver(&kube_apiserver, &scratch, &etcd_url)?;
    let mut program = program(options);
    program
        .args(["--theirs", &theirs_url, "--ours", &ours.url])
        .args(["--token", TOKEN]);
    process::run_with(&mut program)?;
    ours.stop()
}

/// Returns the command for the program of `tests/fidelity`, with the options for both modes.
fn program(options: &Options) -> Command {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "kubist-fidelity", "--"]);
    command.args(["--seeds", &options.seeds]);
    if let Some(areas) = &options.areas {
        command.args(["--areas", areas]);
    }
    if let Some(causes) = options.causes {
        command.args(["--causes", &causes.to_string()]);
    }
    if let Some(shrink) = options.shrink {
        command.args(["--shrink", &shrink.to_string()]);
    }
    if let Some(jobs) = options.jobs {
        command.args(["--jobs", &jobs.to_string()]);
    }
    if options.list {
        command.arg("--list");
    }
    command
}

fn start_etcd(binary: &Path, scratch: &Path) -> Outcome<(Running, String)> {
    let (client, peer) = (free_port()?, free_port()?);
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let mut command = Command::new(binary);
    command
        .args(["--name", "fidelity", "--log-level", "error"])
        .arg("--data-dir")
        .arg(scratch.join("etcd"))
        .args(["--listen-client-urls", &url(client)])
        .args(["--advertise-client-urls", &url(client)])
        .args(["--listen-peer-urls", &url(peer)])
        .args(["--initial-advertise-peer-urls", &url(peer)])
        .args(["--initial-cluster", &format!("fidelity={}", url(peer))])
        // Nothing is kept after the run.
        .arg("--unsafe-no-fsync");
    let running = start(command, &scratch.join("etcd.log"))?;
    await_port(client, &scratch.join("etcd.log"))?;
    Ok((running, url(client)))
}

fn start_apiserver(binary: &Path, scratch: &Path, etcd: &str) -> Outcome<(Running, String)> {
    let port = free_port()?;
    let key = scratch.join("key.pem");
    let file = key.display().to_string();
    process::output("openssl", &["genrsa", "-out", file.as_str(), "2048"])?;
    let tokens = scratch.join("tokens");
    std::fs::write(
        &tokens,
        format!("{TOKEN},{ADMIN},{ADMIN},\"system:masters\"\n"),
    )?;
    let mut command = Command::new(binary);
    command
        .args(["--bind-address", "127.0.0.1"])
        .args(["--secure-port", &port.to_string()])
        .args(["--etcd-servers", etcd])
        .arg("--cert-dir")
        .arg(scratch.join("certificates"))
        .arg("--token-auth-file")
        .arg(&tokens)
        .args(["--authorization-mode", "AlwaysAllow"])
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
        .args(["--disable-admission-plugins", DISABLED])
        // Kubist always has the deletion option of this feature.
        .args(["--feature-gates", "AllowUnsafeMalformedObjectDeletion=true"])
        .arg("--enable-priority-and-fairness=false");
    let log = scratch.join("kube-apiserver.log");
    let running = start(command, &log)?;
    await_port(port, &log)?;
    // It listens before it is ready.
    let url = format!("https://127.0.0.1:{port}");
    await_ready(&url, &log)?;
    Ok((running, url))
}

fn start(mut command: Command, log: &Path) -> Outcome<Running> {
    let log = std::fs::File::create(log)?;
    let program = command.get_program().to_string_lossy().into_owned();
    let child = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    Ok(Running(child))
}

fn await_port(port: u16, log: &Path) -> Outcome {
    let start = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if start.elapsed() > PATIENCE {
            return Err(format!("nothing listens on port {port}; see {}", log.display()).into());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Waits until the server reports that it is ready.
fn await_ready(url: &str, log: &Path) -> Outcome {
    let start = Instant::now();
    loop {
        let header = format!("Authorization: Bearer {TOKEN}");
        let ready = format!("{url}/readyz");
        let arguments = [
            "--insecure",
            "--silent",
            "--fail",
            "--header",
            header.as_str(),
            ready.as_str(),
        ];
        if process::output("curl", &arguments).is_ok() {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            return Err(format!("{url} is not ready; see {}", log.display()).into());
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns a port that is free at the moment.
fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_gets_the_options_that_are_its_own() {
        let mut options = Options::long(Path::new("a"), Path::new("b"));
        options.areas = Some("patches".to_owned());
        options.list = true;
        let command = program(&options);
        let arguments: Vec<&str> = command
            .get_args()
            .filter_map(|argument| argument.to_str())
            .collect();
        let own = arguments.split(|it| *it == "--").nth(1).unwrap_or_default();
        assert_eq!(own, ["--seeds", SEEDS_LONG, "--areas", "patches", "--list"]);
    }
}
